#pragma once

#include <string>
#include <utility>

#include "config/auth_config.h"
#include "config/parts.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {

inline constexpr const char* kPassword = "correct horse battery";
inline constexpr const char* kOrigin = "https://vedette.example";

class ApiMembers : public ApiTest {
 public:
  explicit ApiMembers(const config::Environment& environment = {})
      : ApiTest(environment, [](config::Config& c) {
          c.dashboard.enabled = true;
          c.public_url = kOrigin;
        }) {}

  Reply Post(const std::string& path, const base::Json& body, const Headers& headers = {}) {
    net::ServerRequest request = Request("POST", path, {});
    request.headers = headers;
    request.headers.emplace_back("content-type", "application/json");
    request.body = body.dump();
    return AskRaw(std::move(request));
  }
  // The secret of an invitation to the organisation of `key`; without one, to acme.
  std::string Invite(const std::string& email, const std::string& role,
                     const base::Json& team_id = nullptr, const std::string& key = "") {
    const base::Json made = Ask("POST", "/account/invitations",
                                base::Json{{"email", email}, {"role", role}, {"team_id", team_id}},
                                key.empty() ? Headers{} : Headers{{"x-api-key", key}})
                                .body;
    const std::string link = made["link"];
    return link.substr(link.find("vd_inv_"));
  }
  Reply Take(const std::string& token, const std::string& password = kPassword) {
    return Post("/dashboard/invitation/take", base::Json{{"token", token}, {"password", password}});
  }
  Reply SignIn(const std::string& email, const std::string& password = kPassword) {
    return Post("/dashboard/sign-in", base::Json{{"email", email}, {"password", password}});
  }
  // The headers by which a browser that has signed in asks, and changes.
  static Headers Reads(const Reply& signed_in) {
    const std::string cookie = signed_in.Header("Set-Cookie");
    return {{"cookie", cookie.substr(0, cookie.find(';'))}};
  }
  static Headers Changes(const Reply& signed_in) {
    Headers headers = Reads(signed_in);
    headers.emplace_back("x-csrf-token", signed_in.body["csrf_token"].get<std::string>());
    return headers;
  }
  Reply With(const std::string& method, const std::string& path, Headers headers,
             const std::string& body = "") {
    net::ServerRequest request = Request(method, path, {});
    request.headers = std::move(headers);
    if (!body.empty()) request.headers.emplace_back("content-type", "application/json");
    request.body = body;
    return AskRaw(std::move(request));
  }
};

}  // namespace vedette::test
