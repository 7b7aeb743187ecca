#include "rest/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"

namespace vedette::rest {
namespace {

constexpr std::size_t kSmallBodyBytes = std::size_t{64} << 10;
// Of an element beside its text: its strings, their headers, its place in vectors, its id and
// answer.
constexpr std::size_t kElementCostBytes = 320;
constexpr std::size_t kValueCostBytes = 100;

// The media type in lower case, without blanks.
std::string Folded(std::string_view header) {
  std::string folded;
  for (const char c : header) {
    if (!base::IsSpace(c, base::kBlankSpace)) folded += base::AsciiLower(c);
  }
  return folded;
}

bool IsJsonType(std::string_view header) {
  const std::string type = Folded(header);
  const std::size_t charset = type.find("charset=");
  if (charset != std::string::npos) {
    const std::string_view name = std::string_view(type).substr(charset + 8);
    if (!name.starts_with("utf-8") && !name.starts_with("\"utf-8\"")) return false;
  }
  const std::string_view essence = std::string_view(type).substr(0, type.find(';'));
  if (essence.empty() || essence == "application/json") return true;
  return essence.starts_with("application/") && essence.ends_with("+json");
}

Reply Unparsed(const base::JsonError& error) {
  using Kind = base::JsonError::Kind;
  const bool members = error.kind == Kind::kTooManyMembers;
  if (!members && error.kind != Kind::kTooManyValues) {
    return ErrorReply(400, "malformed_json", "the body is not valid JSON: " + error.message);
  }
  return ValidationReply({{base::Json::array({"body"}), error.message,
                           members ? "too_many_members" : "too_many_values"}});
}

}  // namespace

std::optional<Reply> JudgeBody(const net::ServerRequest& request, const BodyRules& rules) {
  if (request.body_too_large) {
    return ErrorReply(413, "body_too_large",
                      fmt::format("the body is over {} bytes{}", rules.bytes_max, rules.advice));
  }
  const bool absent = request.body.empty() && rules.absent == BodyRules::Absent::kEmptyObject;
  const std::string_view type = request.Header("content-type");
  if (absent || IsJsonType(type)) return std::nullopt;
  return ErrorReply(415, "unsupported_media_type",
                    "Content-Type " + Quoted(type) + " is not application/json");
}

std::optional<base::JsonError> ParseBody(std::string_view text, const BodyRules& rules,
                                         JsonBody* out) {
  if (rules.large_member.empty()) return base::ParseJson(text, &out->members, rules.json);
  return base::ParseJsonApart(text, rules.large_member, rules.elements_max, &out->members,
                              &out->elements, rules.json);
}

Judged<JsonBody> ReadJsonBody(const net::ServerRequest& request, const BodyRules& rules) {
  if (auto refusal = JudgeBody(request, rules)) return std::move(*refusal);
  JsonBody body;
  if (request.body.empty() && rules.absent == BodyRules::Absent::kEmptyObject) return body;
  if (const auto error = ParseBody(request.body, rules, &body)) return Unparsed(*error);
  if (!body.members.is_object()) {
    return ErrorReply(400, "malformed_json", "the body is not a JSON object");
  }
  return body;
}

std::size_t ParseCost(std::string_view text, const BodyRules& rules) {
  if (text.size() <= kSmallBodyBytes) return 0;
  const auto objects = static_cast<std::size_t>(std::count(text.begin(), text.end(), '{'));
  return text.size() + std::min(objects, rules.elements_max) * kElementCostBytes +
         std::min(rules.json.values_max, text.size()) * kValueCostBytes;
}

}  // namespace vedette::rest
