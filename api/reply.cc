#include "api/reply.h"

namespace vedette::api {
namespace {

constexpr std::size_t kQuotedBytesMax = 100;
constexpr std::string_view kRetryAfterSeconds = "5";

// The longest start of at most `bytes` that does not cut a character in two.
std::string_view Head(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

}  // namespace

Reply ErrorReply(int status, std::string_view code, std::string_view message) {
  return {status, base::DumpJson({{"error", code}, {"message", message}})};
}

Reply NotFound(std::string_view what) {
  return ErrorReply(404, "not_found", "there is no such " + std::string(what));
}

Reply Conflict(std::string_view message) {
  return ErrorReply(409, "conflict", message);
}

Reply Unavailable(std::string_view message) {
  Reply reply = ErrorReply(503, "unavailable", message);
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
  return {422, base::DumpJson({{"detail", std::move(detail)}})};
}

base::Json Shortened(const base::Json& value) {
  if (value.is_object()) return "(an object)";
  if (value.is_array()) return "(an array)";
  if (!value.is_string()) return value;
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() <= kQuotedBytesMax) return value;
  return std::string(Head(text, kQuotedBytesMax)) + "...";
}

std::string Quoted(std::string_view text) {
  return base::DumpJson(Shortened(base::Json(text)));
}

}  // namespace vedette::api
