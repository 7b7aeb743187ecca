#include "api/tenant/oauth/form.h"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "config/auth_config.h"
#include "config/parts.h"
#include "config/server_config.h"

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

Form ReadForm(const net::ServerRequest& request, std::size_t bytes_max) {
  if (request.body_too_large) {
    throw rest::Refusal(OauthError(413, "invalid_request",
                                   fmt::format("the body is larger than {} bytes", bytes_max)));
  }
  std::string_view type = request.Header("content-type");
  if (!base::EqualsIgnoringAsciiCase(base::Trim(Take(&type, ';')), kFormType)) {
    throw rest::Refusal(
        OauthError(415, "invalid_request", fmt::format("the body must be {}", kFormType)));
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
        throw rest::Refusal(
            OauthError(400, "invalid_request",
                       fmt::format("a parameter is larger than {} bytes", kFormValueBytesMax)));
      }
      const auto added = form.emplace(net::PercentDecode(name, true), std::move(decoded));
      if (!added.second) {
        const std::string said = rest::Quoted(added.first->first);
        throw rest::Refusal(OauthError(400, "invalid_request",
                                       fmt::format("the parameter {} is given twice", said)));
      }
    } catch (const std::invalid_argument&) {
      throw rest::Refusal(
          OauthError(400, "invalid_request", "the body is no form that can be decoded"));
    }
  }
  return form;
}

std::string IssuerOf(const config::Config& config) {
  if (!config.oauth.enabled) return {};
  if (!config.public_url.empty()) return config.public_url;
  const std::string& listen = config.api.listen;
  const bool loopback = listen.starts_with("127.0.0.1:") || listen.starts_with("localhost:") ||
                        listen.starts_with("[::1]:");
  // Port 0 is a free one, which only the socket knows.
  if (!loopback || listen.ends_with(":0")) return {};
  return "http://" + listen;
}

std::string IssuerNote(const config::Config& config) {
  if (!config.oauth.enabled) return {};
  if (IssuerOf(config).empty()) {
    return "OAuth clients get no tokens: [api] public_url is not set, and the API does not listen "
           "on loopback";
  }
  constexpr std::string_view kHere = "http://127.0.0.1:";
  if (config.public_url.starts_with("http://") && !config.public_url.starts_with(kHere)) {
    return "[api] public_url is not https: tokens go through plain HTTP";
  }
  return {};
}

rest::Reply NoOauth() {
  return OauthError(404, "oauth_not_configured",
                    "OAuth clients get no tokens here: the operator has not set [api] public_url");
}

rest::Reply OauthMetadata(const config::Config& config) {
  const std::string issuer = IssuerOf(config);
  if (issuer.empty()) return NoOauth();
  base::Json document{{"issuer", issuer}};
  const base::Json methods = base::Json::array({"private_key_jwt"});
  const base::Json algorithms = base::Json::array({"RS256", "PS256", "ES256", "EdDSA"});
  for (const auto& [name, path] :
       {std::pair("token", kTokenPath), std::pair("revocation", kRevokePath),
        std::pair("introspection", kIntrospectPath)}) {
    const std::string endpoint = std::string(name) + "_endpoint";
    document[endpoint] = issuer + std::string(path);
    document[endpoint + "_auth_methods_supported"] = methods;
    document[endpoint + "_auth_signing_alg_values_supported"] = algorithms;
  }
  document["grant_types_supported"] = base::Json::array({"client_credentials"});
  document["scopes_supported"] = base::Json::array({"full_access"});
  document["service_documentation"] = issuer + "/docs";
  return rest::JsonReply(200, document);
}

}  // namespace vedette::api
