#include "api/oauth/form.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "base/text.h"

namespace vedette::api {
namespace {

constexpr std::string_view kFormType = "application/x-www-form-urlencoded";

// Takes what stands before the separator off the text.
std::string_view Take(std::string_view* text, char separator) {
  const std::size_t end = text->find(separator);
  const std::string_view taken = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return taken;
}

}  // namespace

rest::Reply OauthError(int status, std::string_view error, std::string_view description) {
  rest::Reply reply = rest::JsonReply(
      status, {{"error", error}, {"error_description", description}, {"message", description}});
  reply.headers.emplace_back("Cache-Control", "no-store");
  reply.headers.emplace_back("Pragma", "no-cache");
  if (status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"vedette\"");
  return reply;
}

rest::Reply AsOauthError(rest::Reply reply) {
  base::Json body;
  if (reply.status < 400 || base::ParseJson(reply.body, &body) || !body.is_object() ||
      body.contains("error_description")) {
    return reply;
  }
  if (body.value("error", "") == "unavailable") body["error"] = "temporarily_unavailable";
  body["error_description"] = body.value("message", "");
  reply.body = base::DumpJson(body);
  return reply;
}

rest::Judged<Form> ReadForm(const net::ServerRequest& request, std::size_t bytes_max) {
  if (request.body_too_large) {
    return OauthError(413, "invalid_request",
                      fmt::format("the body is larger than {} bytes", bytes_max));
  }
  std::string_view type = request.Header("content-type");
  if (!base::EqualsIgnoringAsciiCase(base::Trim(Take(&type, ';')), kFormType)) {
    return OauthError(415, "invalid_request", fmt::format("the body must be {}", kFormType));
  }
  Form form;
  std::string_view rest = request.body;
  while (!rest.empty()) {
    std::string_view value = Take(&rest, '&');
    if (value.empty()) continue;
    const std::string_view name = Take(&value, '=');
    try {
      std::string decoded = net::PercentDecode(value, true);
      if (decoded.size() > kFormValueBytesMax) {
        return OauthError(400, "invalid_request",
                          fmt::format("a parameter is larger than {} bytes", kFormValueBytesMax));
      }
      if (!form.emplace(net::PercentDecode(name, true), std::move(decoded)).second) {
        return OauthError(400, "invalid_request", "a parameter is given twice");
      }
    } catch (const std::invalid_argument&) {
      return OauthError(400, "invalid_request", "the body is no form that can be decoded");
    }
  }
  return form;
}

}  // namespace vedette::api
