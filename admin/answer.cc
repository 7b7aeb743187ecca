#include "admin/answer.h"

#include <fmt/format.h>

namespace vedette::admin {
namespace {

constexpr std::string_view kRetryAfterS = "5";

}  // namespace

Answer JsonTextAnswer(int status, std::string body) {
  return {status,
          {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          std::move(body)};
}

Answer JsonAnswer(int status, const base::Json& body) {
  return JsonTextAnswer(status, base::DumpJson(body));
}

Answer ErrorAnswer(int status, std::string_view code, std::string_view message) {
  return JsonAnswer(status, {{"error", code}, {"message", message}});
}

Answer NotFound(std::string_view what) {
  return ErrorAnswer(404, "not_found", fmt::format("no such {}", what));
}

Answer Conflict(std::string_view code, std::string_view message) {
  return ErrorAnswer(409, code, message);
}

Answer TryLater(std::string_view code, std::string_view message) {
  Answer answer = ErrorAnswer(503, code, message);
  answer.headers.emplace_back("Retry-After", kRetryAfterS);
  return answer;
}

Answer InvalidAnswer(const std::vector<Invalid>& items) {
  base::Json detail = base::Json::array();
  for (const Invalid& item : items) {
    detail.push_back({{"loc", item.loc},
                      {"msg", item.msg},
                      {"type", item.type},
                      {"input", item.input},
                      {"ctx", item.ctx}});
  }
  base::Json body = base::Json::object();
  body["detail"] = std::move(detail);
  return JsonAnswer(422, body);
}

}  // namespace vedette::admin
