#include "store/monitors/uploads.h"
#include "base/json.h"
#include "config/limits_config.h"
#include "domain/text/limits.h"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "api/kit/answer.h"
#include "api/kit/body.h"
#include "api/kit/reply.h"
#include "api/tenant/authenticate.h"
#include "api/tenant/call.h"
#include "api/tenant/handlers.h"
#include "api/tenant/monitors/multipart.h"
#include "base/text.h"
#include "config/parts.h"
#include "domain/monitor/row_values.h"
#include "domain/text/csv.h"
#include "store/place.h"

// An upload is taken piece by piece as it arrives: each piece is validated and stored by a job of
// its own, and the next one asked for afterwards, so that neither a slow client nor a large file
// holds a thread or more than a few pieces of memory.
namespace vedette::api {
namespace {

// Parts hold whole records; an import adds one part a transaction. Short cells under long column
// names make much JSON of little text, so that the rows' bytes are bounded, too.
constexpr std::size_t kPartBytes = 512 * 1024;
constexpr std::size_t kPartJsonBytes = 8 * kPartBytes;
constexpr int kPartRowsMax = 10000;
constexpr std::size_t kColumnsMax = 1024;
// A file may come for minutes, and a lock or a revoked credential holds within seconds.
constexpr std::chrono::seconds kCheckEvery{2};

rest::Reply TooManyRows(std::int64_t max) {
  return rest::ErrorReply(413, "body_too_large",
                          fmt::format("the file has more than {} rows", max));
}

rest::Reply TooManyBytes() {
  return rest::ErrorReply(413, "body_too_large",
                          fmt::format("the file is over {} bytes", kUploadBytesMax));
}

rest::Reply TooMuchUnused(const config::LimitsConfig& limits) {
  return rest::ErrorReply(
      409, "too_many_unused_uploads",
      fmt::format(
          "your organisation may have {} files of {} bytes in all that no monitor and no run was "
          "made from, or that only schedules keep; use them, wait until they expire, or delete "
          "schedules",
          limits.uploads_unused_max, limits.uploads_unused_bytes_max));
}

rest::Reply TooManyOpen() {
  rest::Reply reply =
      rest::ErrorReply(429, "too_many_uploads",
                       "your organisation has its share of the uploads that may be under way; "
                       "finish one first");
  reply.headers.emplace_back("Retry-After", rest::kRetryAfterSeconds);
  return reply;
}

rest::Reply ProblemReply(const domain::CsvProblem& problem) {
  const std::string message = fmt::format("line {}: {}", problem.line, problem.message);
  if (!problem.too_long) return rest::ErrorReply(400, "malformed_csv", message);
  return rest::ValidationReply(base::Json::array({"body", "line", problem.line}), "too_long",
                               message);
}

// What is wrong with a file's header, or nothing.
std::optional<std::string> ValidateColumns(const std::vector<std::string>& columns) {
  if (columns.size() > kColumnsMax) return fmt::format("more than {} columns", kColumnsMax);
  // A file of one column may have any name but one that spreadsheets write for several.
  if (columns.size() == 1 && columns[0].find_first_of(";\t") != std::string::npos) {
    return fmt::format(
        "the header is one column, {}: fields are separated by commas, not by semicolons or tabs",
        rest::Quoted(columns[0]));
  }
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].empty()) return fmt::format("column {} has no name", i + 1);
    if (base::CountCharacters(columns[i]) > domain::kColumnCharsMax) {
      return fmt::format("the name of column {} is longer than {} characters", i + 1,
                         domain::kColumnCharsMax);
    }
    if (!seen.insert(columns[i]).second) {
      return fmt::format("the column {} is there twice", rest::Quoted(columns[i]));
    }
  }
  return std::nullopt;
}

// Validates the CSV text and stores it in parts. One job at a time uses it.
class FileReceiver {
 public:
  // `audit`: of the upload, once it is whole.
  FileReceiver(const Dependencies& parts, const base::Uuid& upload_id, store::AuditEntry audit)
      : limits_(parts.config.limits),
        clock_(parts.clock),
        upload_id_(upload_id),
        audit_(std::move(audit)),
        reader_(1, parts.config.limits.row_bytes_max) {}

  // Refuses what ends the upload.
  void Take(store::Session& session, std::string_view text) {
    bytes_ += text.size();
    if (bytes_ > kUploadBytesMax) throw rest::Refusal(TooManyBytes());
    text_.append(text);
    Check(reader_.Feed(text, Taker(session)));
  }

  // `filename`: what the client calls the file, where it says so.
  rest::Reply Finish(store::Session& session, const std::optional<std::string>& filename) {
    Check(reader_.Finish(Taker(session)));
    if (columns_.empty()) throw rest::Refusal(400, "malformed_csv", "the file is empty");
    if (rows_ == 0) {
      throw rest::Refusal(
          400, "malformed_csv",
          "the file has a header but no rows: its lines should end with LF or CRLF");
    }
    Flush(session);
    const auto expires_at =
        store::FinishUpload(session, upload_id_, columns_, rows_, parts_, clock_, audit_);
    if (!expires_at) {
      throw rest::Refusal(rest::Unavailable("the upload took too long and has expired"));
    }
    return {200, base::DumpJson({{"handle_id", upload_id_.ToString()},
                                 {"expires_at", base::FormatTimestamp(*expires_at)},
                                 {"filename", filename ? base::Json(*filename) : base::Json()},
                                 {"size_bytes", bytes_},
                                 {"row_count", rows_},
                                 {"columns", columns_}})};
  }

 private:
  void Check(const std::optional<domain::CsvProblem>& problem) const {
    if (rows_ > limits_.rows_per_monitor_max) {
      throw rest::Refusal(TooManyRows(limits_.rows_per_monitor_max));
    }
    if (unused_bytes_ > static_cast<std::int64_t>(limits_.uploads_unused_bytes_max)) {
      throw rest::Refusal(TooMuchUnused(limits_));
    }
    if (problem) throw rest::Refusal(ProblemReply(*problem));
  }

  domain::CsvReader::Take Taker(store::Session& session) {
    return [this, &session](domain::CsvRecord& record) { return TakeRecord(session, record); };
  }

  std::optional<domain::CsvProblem> TakeRecord(store::Session& session, domain::CsvRecord& record) {
    if (columns_.empty()) {
      for (const std::string& field : record.fields)
        columns_.emplace_back(base::Trim(field, base::kLineSpace));
      if (auto problem = ValidateColumns(columns_))
        return domain::CsvProblem{record.line, *problem};
      BeginPart(record.end);
      return std::nullopt;
    }
    if (record.fields.size() != columns_.size()) {
      return domain::CsvProblem{record.line, fmt::format("{} fields where the header has {}",
                                                         record.fields.size(), columns_.size())};
    }
    if (++rows_ > limits_.rows_per_monitor_max) return domain::CsvProblem{record.line, "too many"};
    const std::size_t bytes = RowBytes(record);
    if (bytes > limits_.row_bytes_max) {
      return domain::CsvProblem{
          record.line,
          fmt::format("the row has {} bytes with its columns' names, at most {} are allowed", bytes,
                      limits_.row_bytes_max),
          true};
    }
    ++part_rows_;
    part_json_bytes_ += bytes;
    part_end_ = record.end;
    if (part_end_ - part_begin_ >= kPartBytes || part_json_bytes_ >= kPartJsonBytes ||
        part_rows_ >= kPartRowsMax) {
      Flush(session);
    }
    if (unused_bytes_ > static_cast<std::int64_t>(limits_.uploads_unused_bytes_max)) {
      return domain::CsvProblem{record.line, "too many bytes"};
    }
    return std::nullopt;
  }

  // Measured as a row of a body is: blank cells are no values.
  std::size_t RowBytes(const domain::CsvRecord& record) const {
    std::size_t bytes = domain::kRowBytes;
    for (std::size_t i = 0; i < record.fields.size(); ++i) {
      if (domain::IsBlank(record.fields[i])) continue;
      bytes += domain::ColumnBytes(columns_[i], record.fields[i].size());
    }
    return bytes;
  }

  void BeginPart(std::uint64_t at) {
    text_.erase(0, at - part_begin_);
    part_begin_ = part_end_ = at;
    part_line_ = reader_.line();
    part_rows_ = 0;
    part_json_bytes_ = 0;
  }

  void Flush(store::Session& session) {
    if (part_rows_ == 0) return;
    unused_bytes_ = store::AddUploadPart(
        session, upload_id_,
        {parts_, part_line_, part_rows_, text_.substr(0, part_end_ - part_begin_)});
    ++parts_;
    BeginPart(part_end_);
  }

  const config::LimitsConfig& limits_;
  const base::Clock& clock_;
  const base::Uuid upload_id_;
  const store::AuditEntry audit_;
  domain::CsvReader reader_;
  std::vector<std::string> columns_;
  std::uint64_t bytes_ = 0;
  std::int64_t rows_ = 0;
  int parts_ = 0;
  std::int64_t unused_bytes_ = 0;  // of the organisation's unused files, this one included
  // The part being gathered: bytes [part_begin_, part_end_) of the file are whole records; text_
  // begins at part_begin_ and goes on behind part_end_.
  std::string text_;
  std::uint64_t part_begin_ = 0;
  std::uint64_t part_end_ = 0;
  std::int64_t part_line_ = 1;
  int part_rows_ = 0;
  std::size_t part_json_bytes_ = 0;
};

class UploadStream : public std::enable_shared_from_this<UploadStream> {
 public:
  // Takes over a slot of `org_id`.
  UploadStream(const Dependencies& parts, std::shared_ptr<rest::Answer> answer,
               const base::Uuid& org_id, const base::Uuid& upload_id,
               const std::optional<std::string>& boundary, store::AuditEntry audit,
               std::function<void(store::Session&)> check_again)
      : parts_(parts),
        answer_(std::move(answer)),
        org_id_(org_id),
        upload_id_(upload_id),
        check_again_(std::move(check_again)),
        checked_at_(parts.clock.SinceBoot()),
        receiver_(parts, upload_id, std::move(audit)) {
    if (boundary) multipart_.emplace(*boundary);
  }
  ~UploadStream() { parts_.upload_slots.GiveBack(org_id_); }

  // A body that was not streamed comes first, whole.
  void Start(store::Session& session) {
    OrGiveUp(session, [&] {
      const std::string& body = answer_->request().body;
      if (!body.empty()) Take(session, body);
      Next();
    });
  }

 private:
  void Next() {
    answer_->exchange().Read([self = shared_from_this()](net::BodyPiece piece) {
      const auto shared = std::make_shared<net::BodyPiece>(std::move(piece));
      const bool queued = self->parts_.pool.Post(
          self->org_id_,
          [self, shared](store::Session& session) { self->OnPiece(session, std::move(*shared)); });
      if (!queued) self->answer_->Send(rest::Unavailable("too many requests are waiting"));
    });
  }

  void OnPiece(store::Session& session, net::BodyPiece piece) {
    try {
      OrGiveUp(session, [&] { Serve(session, std::move(piece)); });
    } catch (...) {
      answer_->Send(rest::CurrentFailureReply(*answer_));
    }
  }

  // What is refused takes the upload with it, unless it is the move's.
  template <typename Work>
  void OrGiveUp(store::Session& session, const Work& work) {
    try {
      work();
    } catch (const rest::Refusal& refusal) {
      store::DeleteUpload(session, upload_id_);
      answer_->Send(refusal.reply());
    } catch (const store::OrganisationAway& away) {
      answer_->Send(AwayReply(away.place(), parts_.clock.Now()));
    }
  }

  void Serve(store::Session& session, net::BodyPiece piece) {
    using Kind = net::BodyPiece::Kind;
    CheckCaller(session);
    switch (piece.kind) {
      case Kind::kData:
        Take(session, piece.data);
        Next();
        return;
      case Kind::kEnd:
        Finish(session);
        return;
      case Kind::kTooLarge:
        throw rest::Refusal(TooManyBytes());
      case Kind::kBroken:
        store::DeleteUpload(session, upload_id_);
        return;
    }
  }

  void CheckCaller(store::Session& session) {
    const auto now = parts_.clock.SinceBoot();
    if (now - checked_at_ <= kCheckEvery) return;
    check_again_(session);
    checked_at_ = now;
  }

  void Take(store::Session& session, std::string_view bytes) {
    if (!multipart_) return receiver_.Take(session, bytes);
    CheckForm(
        multipart_->Feed(bytes, [&](std::string_view text) { receiver_.Take(session, text); }));
  }

  void Finish(store::Session& session) {
    if (multipart_) CheckForm(multipart_->Finish());
    answer_->Send(receiver_.Finish(session, multipart_ ? multipart_->filename() : std::nullopt));
  }

  static void CheckForm(const std::optional<std::string>& problem) {
    if (problem) throw rest::Refusal(400, "malformed_form", *problem);
  }

  const Dependencies& parts_;
  std::shared_ptr<rest::Answer> answer_;
  const base::Uuid org_id_;
  const base::Uuid upload_id_;
  const std::function<void(store::Session&)> check_again_;
  std::chrono::nanoseconds checked_at_;
  std::optional<MultipartReader> multipart_;
  FileReceiver receiver_;
};

// text/csv, and the types that clients send which know no better one.
bool IsCsvType(std::string_view content_type) {
  const std::string_view essence = content_type.substr(0, content_type.find(';'));
  const std::string trimmed = base::AsciiLower(base::Trim(essence, base::kLineSpace));
  for (const char* known : {"", "text/csv", "application/csv", "text/plain",
                            "application/octet-stream", "application/vnd.ms-excel"}) {
    if (trimmed == known) return true;
  }
  return false;
}

}  // namespace

rest::Handled UploadCsv(Call& call) {
  if (call.request().body_too_large) return TooManyBytes();
  rest::CheckCoding(call.request());
  const std::string_view type = call.request().Header("content-type");
  const auto boundary = MultipartReader::Boundary(type);
  if (!boundary && !IsCsvType(type)) {
    return rest::ErrorReply(415, "unsupported_media_type",
                            "Content-Type " + rest::Quoted(type) +
                                " is neither text/csv nor multipart/form-data with a boundary");
  }
  using Taken = OpenSlots::Taken;
  const Taken taken = call.parts.upload_slots.Take(call.caller.org_id);
  if (taken == Taken::kFull) return rest::Unavailable("too many uploads are under way");
  if (taken == Taken::kShare) return TooManyOpen();
  std::shared_ptr<UploadStream> stream;
  try {
    const config::LimitsConfig& limits = call.parts.config.limits;
    const bool has_room = call.held().TryTake(kUploadHeldBytes);
    const auto id = has_room ? store::BeginUpload(
                                   call.session(), call.parts.clock, call.caller.org_id,
                                   {call.parts.config.retention.uploads, limits.uploads_unused_max,
                                    static_cast<std::int64_t>(limits.uploads_unused_bytes_max)})
                             : std::nullopt;
    if (!id) {
      call.parts.upload_slots.GiveBack(call.caller.org_id);
      return has_room ? TooMuchUnused(limits) : rest::Unavailable("too much is being sent at once");
    }
    store::AuditEntry audit = AuditOf(call, "upload.create", id->ToString());
    audit.org_id = call.caller.org_id;
    stream = std::make_shared<UploadStream>(call.parts, call.answer, call.caller.org_id, *id,
                                            boundary, std::move(audit), call.check_again);
  } catch (...) {
    call.parts.upload_slots.GiveBack(call.caller.org_id);
    throw;
  }
  stream->Start(call.session());
  return rest::Parked{};
}

}  // namespace vedette::api
