#include <optional>
#include <string>
#include <utility>

#include "admin/handlers.h"
#include "admin/shapes.h"
#include "domain/email/suppression.h"
#include "store/email/email_memory.h"

// Whom nobody looks up. Neither an answer nor the audit names them: the audit has the kind.
namespace vedette::admin {
namespace {

constexpr int kValueCharsMax = 2048;

struct Named {
  domain::SuppressionKey key;
  std::optional<base::Uuid> org_id;
  std::optional<std::string> reason;
};

// Exactly one of `email`, `profile` and `domain`, or `name` with `domain`.
std::optional<Named> ReadNamed(CallBody* body, rest::Presence reason_presence) {
  const auto text = [&](std::string_view key) {
    return body->FilledText(key, rest::Presence::kOptional, kValueCharsMax);
  };
  const auto email = text("email");
  const auto profile = text("profile");
  const auto name = text("name");
  const auto domain = text("domain");
  Named named;
  named.org_id = body->Id("org_id", rest::Presence::kOptional);
  named.reason = body->Reason(reason_presence);
  const int given = (email ? 1 : 0) + (profile ? 1 : 0) + (name || domain ? 1 : 0);
  std::optional<domain::SuppressionKey> key;
  std::string_view field = "email";
  if (given == 1 && email) key = domain::AddressSuppression(*email);
  if (given == 1 && profile) {
    field = "profile";
    key = domain::ProfileSuppression(*profile);
  }
  if (given == 1 && (name || domain)) {
    field = "domain";
    if (name && domain) key = domain::PersonSuppression(*name, *domain);
    if (!name) key = domain::DomainSuppression(*domain);
  }
  if (given != 1) {
    body->Refuse("email", "Give exactly one of email, profile, domain, or name with domain");
  } else if (!key) {
    body->Refuse(field,
                 "Input should be an address, a URL of a profile, a domain, or a name with "
                 "a domain");
  }
  if (!key) return std::nullopt;
  named.key = std::move(*key);
  return named;
}

store::AuditEntry AuditOfKey(const Call& call, std::string action, const Named& named) {
  store::AuditEntry audit = AuditOf(call, std::move(action), named.reason);
  audit.target = domain::SuppressionKindName(named.key.kind);
  audit.org_id = named.org_id;
  return audit;
}

}  // namespace

rest::Reply PostSuppression(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto named = ReadNamed(&body, rest::Presence::kRequired);
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  const auto outcome = store::Suppress(session, parts.clock, named->key, named->org_id,
                                       *named->reason, AuditOfKey(call, "suppression.add", *named));
  if (outcome == store::SuppressOutcome::kNoOrganisation) return rest::NotFound("organisation");
  return rest::JsonReply(200, {{"kind", domain::SuppressionKindName(named->key.kind)},
                               {"added", outcome == store::SuppressOutcome::kDone}});
}

rest::Reply PostUnsuppression(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto named = ReadNamed(&body, rest::Presence::kOptional);
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  const bool removed = store::Unsuppress(session, parts.clock, named->key, named->org_id,
                                         AuditOfKey(call, "suppression.remove", *named));
  return rest::JsonReply(
      200, {{"kind", domain::SuppressionKindName(named->key.kind)}, {"removed", removed}});
}

}  // namespace vedette::admin
