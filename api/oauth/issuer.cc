#include "api/oauth/issuer.h"

#include "api/oauth/form.h"
#include "config/config.h"

namespace vedette::api {

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
  if (config.public_url.starts_with("http://")) {
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
