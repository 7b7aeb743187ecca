#include "rest/reply.h"

#include "base/text.h"

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

Reply NotFound(std::string_view what) {
  return ErrorReply(404, "not_found", "there is no such " + std::string(what));
}

Reply Conflict(std::string_view message) {
  return ErrorReply(409, "conflict", message);
}

Reply InvalidCursor() {
  return ErrorReply(400, "invalid_cursor", "the cursor is not one that this list gave out");
}

Reply Unavailable(std::string_view message) {
  return Unavailable("unavailable", message);
}

Reply Unavailable(std::string_view code, std::string_view message) {
  Reply reply = ErrorReply(503, code, message);
  reply.headers.emplace_back("Retry-After", kRetryAfterSeconds);
  return reply;
}

Reply ValidationReply(const std::vector<ValidationItem>& items) {
  base::Json detail = base::Json::array();
  for (const ValidationItem& item : items) {
    detail.push_back({{"loc", item.loc},
                      {"msg", item.msg},
                      {"type", item.type},
                      {"input", item.input},
                      {"ctx", item.ctx}});
  }
  return JsonReply(422, {{"detail", std::move(detail)}});
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

}  // namespace vedette::rest
