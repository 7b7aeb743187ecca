#include "api/kit/api_keys.h"

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "domain/auth/cell.h"
#include "domain/text/limits.h"

namespace vedette::rest {
namespace {

std::vector<std::string_view> ScopeNames() {
  std::vector<std::string_view> names;
  names.reserve(domain::kKeyScopes.size());
  for (const auto scope : domain::kKeyScopes) names.push_back(domain::KeyScopeName(scope));
  return names;
}

}  // namespace

base::Json ApiKeyJson(const store::ApiKey& key) {
  return {
      {"id", key.id.ToString()},
      {"name", key.name},
      {"prefix", key.prefix},
      {"scopes", key.scopes.Names()},
      {"expires_at", base::OrNull(key.expires_at)},
      {"team_id", key.team_id ? base::Json(key.team_id->ToString()) : base::Json(nullptr)},
      {"created_at", base::FormatTimestamp(key.created_at)},
      {"last_used_at", base::OrNull(key.last_used_at)},
  };
}

std::string DashboardLink(const std::string& public_url, const std::string& cell,
                          const std::string& page) {
  std::string link = public_url + "/dashboard";
  if (!cell.empty()) link += fmt::format("?{}={}", domain::kCellParameter, cell);
  return link + page;
}

store::NewApiKey ReadNewApiKey(BodyReader* body, base::Timestamp now) {
  store::NewApiKey order;
  order.name = body->FilledText("name", Presence::kRequired, domain::kNameCharsMax).value_or("");
  if (!body->IsNull("scopes")) {
    const auto names = body->Names("scopes", Presence::kOptional, ScopeNames());
    if (names && names->empty()) {
      body->Refuse("scopes", "Name at least one scope, or leave scopes out for all of them");
    } else if (names) {
      order.scopes = domain::KeyScopes::Of(*names);
    }
  }
  if (!body->IsNull("expires_at")) {
    order.expires_at = body->Time("expires_at", Presence::kOptional);
    if (order.expires_at && *order.expires_at <= now) {
      body->Refuse("expires_at", "Input should be a time that is yet to come");
    }
  }
  if (!body->IsNull("team_id")) order.team_id = body->Id("team_id", Presence::kOptional);
  return order;
}

Reply NewApiKeyReply(const store::ApiKeyOutcome& outcome) {
  using Kind = store::ApiKeyOutcome::Kind;
  switch (outcome.kind) {
    case Kind::kNoOrganisation:
      return NotFound("organisation");
    case Kind::kNoTeam:
      return NotFound("team of this organisation");
    case Kind::kTooMany:
      return ErrorReply(409, "too_many_keys",
                        fmt::format("the organisation has {} keys, as many as it may: revoke those "
                                    "that nobody uses",
                                    store::kApiKeysMax));
    case Kind::kDone:
      break;
  }
  base::Json json = ApiKeyJson(outcome.made);
  json.erase("last_used_at");
  json["key"] = outcome.key;
  return JsonReply(201, json);
}

}  // namespace vedette::rest
