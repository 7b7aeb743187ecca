#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "api/kit/query_reader.h"
#include "api/tenant/handlers.h"
#include "api/tenant/workflows/workflow_calls.h"
#include "base/json.h"
#include "config/jobs_config.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "domain/auth/cell.h"
#include "domain/workflow/result_file.h"
#include "domain/workflow/run_plan.h"
#include "store/jobs/read.h"
#include "store/jobs/runs.h"

// The result files of runs: links to them, and what the links give. No file is stored: it is
// written while it is read, part by part.
namespace vedette::api {
namespace {

using base::Json;
using domain::BlockStatus;
using domain::ResultFormat;

enum class Which { kResults, kAllBlocks };

// Bounds of one read of the database while a file is written, but for its last part.
constexpr std::size_t kReadBytesMax = std::size_t{512} << 10;
constexpr int kReadPartsMax = 16;
// What rest::kStreamBytes has room for beside a piece: parts that were read, and names of columns.
constexpr std::size_t kKeptBytes = std::size_t{512} << 10;
constexpr std::size_t kNamesBytes = std::size_t{256} << 10;
static_assert(rest::kPieceBytes + kKeptBytes + kNamesBytes <= rest::kStreamBytes);

// The blocks whose rows are offered, each once, in the order of their numbers.
std::set<int> OfferedBlocks(const store::RunView& run, const domain::RunGraph& graph,
                            const std::vector<store::JobBlockView>& blocks, Which which) {
  std::set<int> offered;
  const auto has_rows = [&](int block) {
    return blocks[static_cast<std::size_t>(block)].rows_out > 0;
  };
  if (run.status == domain::JobStatus::kCompleted && which == Which::kResults) {
    for (const int leaf : domain::LeavesOf(graph)) offered.insert(domain::RowsOf(graph, leaf));
    return offered;
  }
  // The rows of a cancelled run's source go soon after it.
  const bool cancelled = domain::RunStatus(run.status) == domain::JobStatus::kCancelled;
  for (int block = cancelled ? 1 : 0; block < static_cast<int>(blocks.size()); ++block) {
    if (domain::RowsOf(graph, block) != block) continue;
    const auto status = blocks[static_cast<std::size_t>(block)].status;
    // The source's rows are the client's own: they are no result.
    if (which == Which::kResults && block == 0) continue;
    const bool take = which == Which::kAllBlocks || run.finished_at
                          ? has_rows(block)
                          : status == BlockStatus::kCompleted;
    if (take) offered.insert(block);
  }
  return offered;
}

Json LinkJson(const Call& call, const store::RunView& run, const domain::RunGraph& graph,
              const store::JobBlockView& block, ResultFormat format) {
  const auto& shown = graph.blocks[static_cast<std::size_t>(block.block)];
  const domain::ResultFile file{run.id, block.block, format};
  const base::Timestamp expires = call.parts.clock.Now() + domain::kDownloadLifetime;
  const bool partial = run.finished_at && run.status != domain::JobStatus::kCompleted;
  const auto created = block.finished_at ? block.finished_at : run.finished_at;
  return {{"filename",
           domain::ResultFileName(run.workflow_name, shown.sequence_number, shown.name, file)},
          {"download_url",
           PublicAddress(call.parts.config, call.request()) +
               domain::DownloadPath(file, expires, call.parts.config.security.encryption_key) +
               domain::CellQuery(CellOf(call))},
          {"download_expires_in_seconds", domain::kDownloadLifetime.count()},
          {"content_type", domain::ResultContentType(format)},
          {"row_count", block.rows_out},
          {"block_number", shown.sequence_number},
          {"block_name", shown.name},
          {"created_at", created ? Json(base::FormatTimestamp(*created)) : Json(nullptr)},
          {"message", partial ? Json("partial") : Json(nullptr)},
          {"storage_bucket", "vedette"},
          {"file_size", nullptr},
          {"results", nullptr}};
}

// Writes one file. A PieceSource, shared by its copies. It keeps what it has read of the next
// pieces while a client reads the last one: up to kKeptBytes as they are, and more where the
// process's budget has room; else it reads that again.
class FileSource {
 public:
  // `rows`: those the block has; of one that goes on there may be more by the end. `slot`: given
  // back with the last copy.
  FileSource(std::shared_ptr<rest::Answer> answer, const domain::ResultFile& file,
             domain::ResultText text, std::int64_t rows, std::shared_ptr<void> slot)
      : state_(std::make_shared<State>(
            State{std::move(answer), file, std::move(text), rows, std::move(slot)})) {}

  bool operator()(store::Session& session, std::string* text) {
    State& s = *state_;
    if (s.next_part == 0 && s.parts.empty() && !s.resumes) s.text.AppendHead(text);
    while (text->size() < rest::kPieceBytes) {
      if (s.parts.empty() && !Read(session)) return true;
      if (!s.text.Append(rest::kPieceBytes, text)) break;
      s.parts.pop_front();
      if (!s.parts.empty()) s.text.Begin(s.parts.front().rows_json);
    }
    Keep();
    return false;
  }

 private:
  struct State {
    std::shared_ptr<rest::Answer> answer;
    domain::ResultFile file;
    domain::ResultText text;
    std::int64_t rows = 0;
    std::shared_ptr<void> slot;
    std::deque<store::RunPart> parts{};  // those read; the first one is being written
    int next_part = 0;                   // to be read
    bool resumes = false;                // that one was begun
    std::size_t taken = 0;               // of the budget, for parts beyond kKeptBytes
  };

  // False where there are no further parts.
  bool Read(store::Session& session) {
    State& s = *state_;
    auto read = store::ReadRunParts(session, s.file.run_id, s.file.block, s.next_part,
                                    kReadBytesMax, kReadPartsMax);
    const bool lacks = read.empty() ? s.resumes || s.text.rows_written() < s.rows
                                    : s.resumes && read.front().part != s.next_part;
    if (lacks) {
      throw std::runtime_error("rows of a run were dropped while they were read");
    }
    if (read.empty()) return false;
    s.next_part = read.back().part + 1;
    s.parts.assign(std::make_move_iterator(read.begin()), std::make_move_iterator(read.end()));
    const std::string& rows = s.parts.front().rows_json;
    if (std::exchange(s.resumes, false)) {
      s.text.Resume(rows);
    } else {
      s.text.Begin(rows);
    }
    return true;
  }

  void Keep() {
    State& s = *state_;
    base::ByteBudget::Holding& held = s.answer->exchange().held();
    std::size_t bytes = 0;
    for (const store::RunPart& part : s.parts) bytes += part.rows_json.size();
    std::size_t wanted = bytes > kKeptBytes ? bytes - kKeptBytes : 0;
    if (wanted > s.taken && !held.TryTake(wanted - s.taken)) {
      wanted = 0;
      s.next_part = s.parts.front().part;
      s.resumes = true;
      s.parts.clear();
    }
    if (wanted < s.taken) held.GiveBack(s.taken - wanted);
    s.taken = wanted;
  }

  std::shared_ptr<State> state_;
};

// A place among the downloads of the run's organisation, given back with the result; or a refusal.
std::shared_ptr<void> TakeSlot(const Call& call, const base::Uuid& org_id) {
  OpenSlots& slots = call.parts.download_slots;
  switch (slots.Take(org_id)) {
    case OpenSlots::Taken::kYes:
      return std::shared_ptr<void>(nullptr, [&slots, org_id](void*) { slots.GiveBack(org_id); });
    case OpenSlots::Taken::kShare: {
      rest::Reply reply = rest::ErrorReply(429, "too_many_downloads",
                                           "your organisation has its share of the files that may "
                                           "be read at once; finish one first");
      reply.headers.emplace_back("Retry-After", rest::kRetryAfterSeconds);
      throw rest::Refusal(std::move(reply));
    }
    case OpenSlots::Taken::kFull:
      break;
  }
  throw rest::Refusal(rest::Unavailable("too many files are being read at once"));
}

// What the names of the columns take beyond what an answer in pieces counts for.
std::size_t BytesOf(const domain::Columns& columns) {
  std::size_t bytes = 0;
  for (const std::string& name : columns) bytes += name.size();
  return bytes > kNamesBytes ? bytes - kNamesBytes : 0;
}

rest::Reply RefusedLink(const Call& call, domain::LinkRefused why) {
  call.parts.metrics.AddDownload(why == domain::LinkRefused::kExpired ? "expired" : "invalid");
  return why == domain::LinkRefused::kExpired
             ? rest::ErrorReply(403, "link_expired",
                                "the link has expired: ask for the run's download links again")
             : rest::ErrorReply(403, "invalid_link", "the link is not one that was given out");
}

domain::LinkCheck CheckRequest(const Call& call) {
  const config::SecurityConfig& security = call.parts.config.security;
  std::vector<std::string> keys = security.encryption_keys_old;
  keys.insert(keys.begin(), security.encryption_key);
  rest::Problems problems;
  const rest::QueryReader query(call.request().query, &problems);
  // A link that was given out has each once.
  const bool repeated = query.All("expires").size() > 1 || query.All("signature").size() > 1;
  if (problems.any() || repeated) return domain::LinkRefused::kInvalid;
  return domain::VerifyLink(
      {call.params.at(0), call.params.at(1), query.Text("expires"), query.Text("signature")}, keys,
      call.parts.clock.Now());
}

}  // namespace

rest::Handled ListDownloadLinks(Call& call) {
  const auto id = base::Uuid::Parse(call.params.at(0));
  const auto run = id ? store::GetRun(call.session(), call.caller.org_id, *id) : std::nullopt;
  if (!run) return rest::NotFound("run");
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const std::string format = query.Text("format").value_or("csv");
  if (format != "csv" && format != "json" && format != "ndjson") {
    query.Refuse("format", "enum", "Input should be csv, json or ndjson");
  }
  const auto which = query.Text("blocks");
  if (which && *which != "all") query.Refuse("blocks", "literal_error", "Input should be all");
  query.Finish();
  problems.Check();
  const auto blocks = store::ReadJobBlocks(call.session(), *id);
  const domain::RunGraph graph = domain::ReadRunGraph(run->params_json);
  if (blocks.size() != graph.blocks.size()) return rest::NotFound("run");  // just forgotten
  std::vector<int> offered;
  for (const int block :
       OfferedBlocks(run->run, graph, blocks, which ? Which::kAllBlocks : Which::kResults)) {
    offered.push_back(block);
  }
  std::sort(offered.begin(), offered.end(), [&](int a, int b) {
    return graph.blocks[static_cast<std::size_t>(a)].sequence_number <
           graph.blocks[static_cast<std::size_t>(b)].sequence_number;
  });
  Json links = Json::array();
  for (const int block : offered) {
    links.push_back(LinkJson(call, run->run, graph, blocks[static_cast<std::size_t>(block)],
                             format == "csv" ? ResultFormat::kCsv : ResultFormat::kNdjson));
  }
  return rest::JsonReply(200, links);
}

rest::Handled DownloadResult(Call& call) {
  const domain::LinkCheck check = CheckRequest(call);
  if (const auto* why = std::get_if<domain::LinkRefused>(&check)) return RefusedLink(call, *why);
  const domain::ResultFile file = std::get<domain::LinkTaken>(check).file;
  const auto run = store::GetRun(call.session(), std::nullopt, file.run_id);
  auto columns = store::ReadRunColumns(call.session(), file.run_id, file.block);
  if (!run || !columns) return rest::NotFound("file");
  const domain::RunGraph graph = domain::ReadRunGraph(run->params_json);
  const auto blocks = store::ReadJobBlocks(call.session(), file.run_id);
  if (file.block >= static_cast<int>(std::min(blocks.size(), graph.blocks.size()))) {
    return rest::NotFound("file");
  }
  const store::JobBlockView& block = blocks[static_cast<std::size_t>(file.block)];
  const bool kept =
      block.rows_out == 0 || store::AreRowsKept(call.session(), file.run_id, file.block);
  if (!kept) {
    call.parts.metrics.AddDownload("gone");
    return rest::ErrorReply(404, "not_found", "the rows of the run were kept for their time");
  }
  // What the link takes is on account of those who gave it out.
  const base::Uuid org_id = run->run.org_id;
  auto slot = TakeSlot(call, org_id);
  call.held() = call.parts.held_bytes.Open(org_id);
  if (!call.held().TryTake(BytesOf(*columns))) {
    return rest::Unavailable("too many long answers are being read at once");
  }
  const auto& shown = graph.blocks[static_cast<std::size_t>(file.block)];
  const std::string name =
      domain::ResultFileName(run->run.workflow_name, shown.sequence_number, shown.name, file);
  call.parts.metrics.AddDownload("begun");
  const auto formulas = call.parts.config.workflows.csv_formula_guard
                            ? domain::Formulas::kDefused
                            : domain::Formulas::kAsTheyAre;
  FileSource source(call.answer, file,
                    domain::ResultText(file.format, std::move(*columns), formulas), block.rows_out,
                    std::move(slot));
  return rest::SendPieces(call.parts.pool, org_id, call.answer, call.session(), std::move(source),
                          {{"Content-Type", std::string(domain::ResultContentType(file.format))},
                           {"Content-Disposition", "attachment; filename=\"" + name + "\""},
                           {"Cache-Control", "private, no-store"},
                           {"Referrer-Policy", "no-referrer"},
                           {"X-Content-Type-Options", "nosniff"}});
}

}  // namespace vedette::api
