#include "api/kit/reply.h"

#include <stdexcept>
#include <utility>

#include "base/compression.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/auth/cell.h"
#include "domain/monitor/observation.h"
#include "domain/text/json_schema.h"
#include "store/monitors/rows.h"

namespace vedette::rest {
namespace {

constexpr std::size_t kQuotedBytesMax = 100;

}  // namespace

Reply JsonReply(int status, const base::Json& body) {
  return {status, base::DumpJson(body)};
}

Reply ErrorReply(int status, std::string_view code, std::string_view message) {
  return JsonReply(status, {{"error", code}, {"message", message}});
}

Refusal::Refusal(int status, std::string_view code, std::string_view message)
    : Refusal(ErrorReply(status, code, message)) {}

Reply NotFound(std::string_view what) {
  return ErrorReply(404, "not_found", "there is no such " + std::string(what));
}

Reply Conflict(std::string_view message) {
  return ErrorReply(409, "conflict", message);
}

Reply InvalidCursor() {
  return ErrorReply(400, "invalid_cursor", "the cursor is not one that this list gave out");
}

Reply WrongCell(std::string_view cell) {
  return {421,
          base::DumpJson(
              {{"error", "wrong_cell"},
               {"message", "this request is for " + domain::CellName(cell) + ": send it there"},
               {"cell", cell}}),
          {{std::string(kCellHeader), std::string(domain::CellWord(cell))}}};
}

std::string EndOfMove(base::Timestamp until, base::Timestamp now) {
  if (until < now) return "";
  return ", which should end before " + base::FormatTimestamp(until);
}

Reply Unavailable(std::string_view message) {
  return Unavailable("unavailable", message);
}

Reply Unavailable(std::string_view code, std::string_view message) {
  Reply reply = ErrorReply(503, code, message);
  reply.headers.emplace_back("Retry-After", kRetryAfterSeconds);
  return reply;
}

Reply ValidationReply(const base::Json& loc, std::string_view type, std::string_view msg) {
  return JsonReply(422, {{"detail", base::Json::array({{{"loc", loc},
                                                        {"msg", msg},
                                                        {"type", type},
                                                        {"input", nullptr},
                                                        {"ctx", nullptr}}})}});
}

base::Json Shortened(const base::Json& value) {
  if (value.is_object()) return "(an object)";
  if (value.is_array()) return "(an array)";
  if (!value.is_string()) return value;
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() <= kQuotedBytesMax) return value;
  return std::string(base::CutBytes(text, kQuotedBytesMax)) + "...";
}

std::string Quoted(std::string_view text) {
  return base::DumpJson(Shortened(base::Json(text)));
}

void Problems::Add(const base::Json& loc, std::string_view type, std::string_view msg) {
  Add(loc, type, msg, nullptr, nullptr);
}

void Problems::Add(const base::Json& loc, std::string_view type, std::string_view msg,
                   const base::Json& input) {
  Add(loc, type, msg, input, nullptr);
}

void Problems::Add(const base::Json& loc, std::string_view type, std::string_view msg,
                   const base::Json& input, const base::Json& ctx) {
  if (full()) return;
  items_.push_back(base::DumpJson(base::Json{
      {"loc", loc}, {"msg", msg}, {"type", type}, {"input", Shortened(input)}, {"ctx", ctx}}));
}

void Problems::Add(const std::vector<domain::ValidationFault>& faults) {
  for (const domain::ValidationFault& f : faults) Add(f.loc, f.type, f.msg, f.input, f.ctx);
}

base::Json Problems::Items() const {
  return base::ParseJsonOrThrow(Detail());
}

void Problems::Check() const {
  if (any()) throw Refusal({422, "{\"detail\":" + Detail() + "}"});
}

std::string Problems::Detail() const {
  std::string detail = "[";
  for (const std::string& item : items_) {
    if (detail.size() > 1) detail += ',';
    detail += item;
  }
  return detail + ']';
}

Reply FailureReply(const store::Failure& failure, const std::string& request_id) {
  using Kind = store::Failure::Kind;
  switch (failure.kind) {
    case Kind::kUnavailable:
      return Unavailable("the database cannot be reached; nothing was changed or charged");
    case Kind::kCommitUnknown:
      return Unavailable(
          "the database went away while the change was being made: it may have been made or not. "
          "Look before you repeat it; a create repeated with its Idempotency-Key is safe");
    case Kind::kContention:
      return Unavailable("too many changes at once; nothing was changed or charged");
    case Kind::kOverloaded:
      return Unavailable("too many requests are waiting; nothing was changed or charged");
    case Kind::kFault:
      break;
  }
  return ErrorReply(500, "internal_error", "unexpected failure; quote request id " + request_id);
}

Reply SnapshotReply(std::optional<std::string> content, store::SnapshotPart part) {
  const bool is_text = part == store::SnapshotPart::kText;
  if (!content) throw Refusal(NotFound(is_text ? "snapshot" : "screenshot"));
  if (is_text) {
    content = base::Decompressed(*content, domain::kSnapshotTextBytesMax);
    if (!content) throw std::runtime_error("a snapshot's text is not as it was written");
  }
  return Reply{200,
               std::move(*content),
               {{"Content-Type", is_text ? "text/plain; charset=utf-8" : "image/webp"},
                {"X-Content-Type-Options", "nosniff"},
                {"Content-Security-Policy", "sandbox; default-src 'none'"}}};
}

}  // namespace vedette::rest
