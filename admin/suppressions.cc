#include <optional>
#include <string>
#include <utility>

#include "admin/handlers.h"
#include "admin/shapes.h"
#include "domain/email/suppression.h"
#include "rest/cursor.h"
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

constexpr rest::CursorOf kSuppressionList{'s'};

base::Json SuppressionJson(const store::SuppressionView& entry) {
  return {{"id", entry.id.ToString()},
          {"kind", domain::SuppressionKindName(entry.kind)},
          {"org_id", IdJson(entry.org_id)},
          {"reason", entry.reason},
          {"created_at", base::FormatTimestamp(entry.created_at)}};
}

store::AuditEntry AuditOfKey(const Call& call, std::string action, const Named& named) {
  store::AuditEntry audit = AuditOf(call, std::move(action), named.reason);
  audit.target = domain::SuppressionKindName(named.key.kind);
  audit.org_id = named.org_id;
  return audit;
}

}  // namespace

rest::Reply GetSuppressions(const Parts&, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  store::SuppressionFilter filter;
  if (const auto kind = input.Text("kind"); kind && !kind->empty()) {
    filter.kind = domain::ParseSuppressionKind(*kind);
    if (!filter.kind) {
      input.Refuse("kind", "enum", "Input should be address, domain, profile or person");
    }
  }
  filter.org_id = input.Id("org_id");
  const ListQuery list = ReadListQuery(&input);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  if (list.cursor) {
    const auto place = rest::DecodeTimedCursor(kSuppressionList, *list.cursor);
    if (!place) return rest::InvalidCursor();
    filter.before = {place->at, place->id};
  }
  filter.limit = list.limit + 1;
  const auto page = rest::CutPage(
      store::ListSuppressions(session, filter), list.limit,
      [](const store::SuppressionView& entry) {
        return rest::EncodeCursor(kSuppressionList, rest::TimedPlace{entry.created_at, entry.id});
      });
  return ListReply(page, SuppressionJson);
}

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
