// Passkeys: challenges for them, what is shown of them and made of them, and those of one's own.
// What a browser sends is verified in domain/auth/passkey.h.
#include <utility>

#include "api/tenant/dashboard/dashboard.h"
#include "api/tenant/handlers.h"
#include "base/crypto.h"
#include "base/json.h"
#include "config/parts.h"
#include "config/security_config.h"

namespace vedette::api {
namespace {

using Purpose = store::OneTimePurpose;

constexpr std::chrono::minutes kChallengeLife{5};
constexpr std::size_t kChallengeBytes = 32;
constexpr std::size_t kPasskeyNameCharsMax = 100;

// Bytes as base64url; a problem where a text is none.
std::string ReadBytes(rest::BodyReader* body, std::string_view name, std::size_t bytes_max) {
  const auto text = body->Text(name, rest::Presence::kRequired, 1, bytes_max * 4 / 3 + 3);
  if (!text) return {};
  auto bytes = base::Base64UrlDecode(*text);
  if (!bytes) body->Refuse(name, "Input should be base64url without padding");
  return bytes.value_or("");
}

domain::PasskeyRules CheckRules(const Call& call) {
  if (auto rules = domain::PasskeyRulesOf(call.parts.config.public_url)) return std::move(*rules);
  throw rest::Refusal(
      409, "no_passkeys",
      "there are no passkeys here: the operator has not set [api] public_url, or it "
      "has an address for a name");
}

// The reason is the operator's alone.
void LogRefused(const Call& call, std::string_view reason) {
  call.parts.log.Info("a passkey was refused",
                      {{"request_id", call.answer->request_id()}, {"reason", std::string(reason)}});
}

std::string MakeChallenge(Call& call, Purpose purpose, std::optional<std::string> email) {
  std::string challenge = base::Base64UrlEncode(base::RandomBytes(kChallengeBytes));
  store::PutOneTimeSecret(
      call.session(), purpose, challenge, kChallengeLife,
      {.email = std::move(email), .org_id = std::nullopt, .invitation_sha256 = std::nullopt});
  return challenge;
}

// What navigator.credentials.create is asked for, of a person who has the passkeys `known`.
rest::Reply CreationOptions(Call& call, const std::string& email,
                            const std::vector<store::PasskeyView>& known) {
  const domain::PasskeyRules rules = CheckRules(call);
  base::Json exclude = base::Json::array();
  for (const auto& one : known) {
    exclude.push_back(base::Base64UrlEncode(one.credential_id));
  }
  // The same for one person, so that an authenticator has one passkey of his, and no address.
  const std::string user_id =
      base::HmacSha256(call.parts.config.security.encryption_key, "passkeys of " + email);
  return rest::JsonReply(200, {{"challenge", MakeChallenge(call, Purpose::kPasskeyNew, email)},
                               {"rp_id", rules.rp_id},
                               {"user_id", base::Base64UrlEncode(user_id)},
                               {"user_name", email},
                               {"algorithms", base::Json::array({-7, -8, -257})},
                               {"exclude", std::move(exclude)}});
}

rest::Reply NotMade(std::string_view reason) {
  return rest::ValidationReply(rest::BodyReader::Loc("passkey"), "value_error", reason);
}

// An object within a body, read by `read`; nothing where there is none.
template <typename Read>
auto ReadInner(rest::BodyReader* body, std::string_view name, rest::Presence presence, Read read)
    -> std::optional<decltype(read(body))> {
  const base::Json* member = body->Member(name, presence);
  if (member == nullptr) return std::nullopt;
  if (!member->is_object()) {
    body->Refuse(name, "Input should be an object");
    return std::nullopt;
  }
  rest::Problems problems;
  rest::BodyReader inner(*member, &problems);
  auto value = read(&inner);
  inner.Finish();
  problems.Check();
  return value;
}

}  // namespace

bool HasPasskeys(const Call& call) {
  return domain::PasskeyRulesOf(call.parts.config.public_url).has_value();
}

ShownPasskey ReadShownPasskey(rest::BodyReader* body) {
  ShownPasskey shown;
  shown.credential_id = ReadBytes(body, "id", domain::kCredentialIdBytesMax);
  shown.answer.client_data = ReadBytes(body, "client_data", domain::kClientDataBytesMax);
  shown.answer.authenticator_data =
      ReadBytes(body, "authenticator_data", domain::kAuthenticatorBytesMax);
  shown.answer.signature = ReadBytes(body, "signature", domain::kAuthenticatorBytesMax);
  return shown;
}

std::optional<ShownPasskey> ReadShownPasskey(rest::BodyReader* body, std::string_view name) {
  return ReadInner(body, name, rest::Presence::kOptional,
                   [](rest::BodyReader* inner) { return ReadShownPasskey(inner); });
}

std::optional<MadePasskey> ReadMadePasskey(rest::BodyReader* body, rest::Presence presence) {
  return ReadInner(body, "passkey", presence, [](rest::BodyReader* inner) {
    MadePasskey made;
    made.client_data = ReadBytes(inner, "client_data", domain::kClientDataBytesMax);
    made.attestation = ReadBytes(inner, "attestation", domain::kAuthenticatorBytesMax);
    made.name = inner->FilledText("name", rest::Presence::kOptional, kPasskeyNameCharsMax)
                    .value_or("Passkey");
    return made;
  });
}

std::string CheckPasskey(Call& call, const ShownPasskey& shown, std::string_view email) {
  const domain::PasskeyRules rules = CheckRules(call);
  const auto refuse = [&](std::string_view reason) {
    LogRefused(call, reason);
    return rest::Refusal(401, "wrong_passkey",
                         "the passkey is none that is known here, or the try took too long");
  };
  const auto challenge = domain::ClaimedChallenge(shown.answer.client_data);
  if (!challenge) throw refuse("the client data names no challenge");
  const auto binding =
      store::TakeOneTimeSecret(call.session(), Purpose::kPasskeySignIn, *challenge);
  if (!binding) throw refuse("the challenge is unknown, used or too old");
  const auto known = store::FindPasskey(call.session(), shown.credential_id);
  if (!known) throw refuse("the passkey is unknown");
  const bool another = (binding->email && *binding->email != known->email) ||
                       (!email.empty() && email != known->email);
  if (another) throw refuse("the passkey is another person's");
  const auto verified = domain::VerifyPasskey(shown.answer, *challenge, known->known, rules);
  if (const auto* fault = std::get_if<domain::PasskeyFault>(&verified)) throw refuse(fault->reason);
  if (!store::UsePasskey(call.session(), *known, std::get<std::uint32_t>(verified))) {
    throw refuse("the passkey was used by another request meanwhile");
  }
  return known->email;
}

store::NewPasskey CheckMadePasskey(Call& call, const MadePasskey& made, const std::string& email) {
  const domain::PasskeyRules rules = CheckRules(call);
  const auto refuse = [&](std::string_view reason) {
    LogRefused(call, reason);
    return rest::Refusal(NotMade(reason));
  };
  const auto challenge = domain::ClaimedChallenge(made.client_data);
  if (!challenge) throw refuse("the client data names no challenge");
  const auto binding = store::TakeOneTimeSecret(call.session(), Purpose::kPasskeyNew, *challenge);
  if (!binding || binding->email != email) {
    throw refuse("the challenge is unknown, used or too old");
  }
  auto read = domain::ReadNewPasskey(made.client_data, made.attestation, *challenge, rules);
  if (const auto* fault = std::get_if<domain::PasskeyFault>(&read)) throw refuse(fault->reason);
  return {std::get<domain::NewPasskey>(std::move(read)), made.name};
}

rest::Handled ChallengePasskey(Call& call) {
  CheckDashboard(call);
  CheckSameSite(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  std::optional<std::string> email;
  if (body.Has("email") && !body.IsNull("email")) email = rest::ReadAddress(&body);
  body.Check();
  const domain::PasskeyRules rules = CheckRules(call);
  CountTry(call, email.value_or(""));
  // Every passkey is one that its authenticator finds itself, so that none of them is named here:
  // the answer is the same for an address that nobody has.
  return rest::JsonReply(200, {{"challenge", MakeChallenge(call, Purpose::kPasskeySignIn, email)},
                               {"rp_id", rules.rp_id}});
}

rest::Handled OfferInvitationPasskey(Call& call) {
  CheckDashboard(call);
  CheckSameSite(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kWrong);
  const std::string token = ReadLinkToken(&body);
  body.Check();
  CountTry(call);
  const auto found = store::FindInvitation(call.session(), token);
  if (!found) return rest::NotFound("invitation");
  if (!found->is_new()) {
    return rest::ErrorReply(409, "known_already",
                            "the address has something to sign in with: join with that");
  }
  return CreationOptions(call, found->email, {});
}

rest::Handled ListOwnPasskeys(Call& call) {
  const store::OwnSession own = FindOwnMember(call);
  base::Json passkeys = base::Json::array();
  for (const auto& one : store::ListPasskeys(call.session(), own.user_id)) {
    passkeys.push_back({{"id", one.id.ToString()},
                        {"name", one.name},
                        {"created_at", base::FormatTimestamp(one.created_at)},
                        {"last_used_at", base::OrNull(one.last_used_at)}});
  }
  const bool has_password = store::FindPerson(call.session(), own.user_id).password.has_value();
  return rest::JsonReply(200, {{"passkeys", std::move(passkeys)},
                               {"has_password", has_password},
                               {"by_provider", own.by_provider}});
}

rest::Handled OfferPasskey(Call& call) {
  const store::OwnSession own = FindOwnMember(call);
  CheckEmptyBody(call);
  CheckWays(own);
  CheckFresh(own);
  return CreationOptions(call, own.user_id, store::ListPasskeys(call.session(), own.user_id));
}

rest::Handled AddOwnPasskey(Call& call) {
  using Kind = store::AddedPasskey::Kind;
  const store::OwnSession own = FindOwnMember(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kWrong);
  const auto made = ReadMadePasskey(&body, rest::Presence::kRequired);
  body.Check();
  CheckWays(own);
  CheckFresh(own);
  const store::NewPasskey passkey = CheckMadePasskey(call, *made, own.user_id);
  const auto added =
      store::AddPasskey(call.session(), call.parts.clock, own.user_id, passkey,
                        {.session_sha256 = own.token_sha256}, AuditOf(call, "passkey.add"));
  if (added.kind == Kind::kNotShown) return SessionEnded();
  if (added.kind == Kind::kTooMany) {
    return rest::ErrorReply(409, "too_many_passkeys",
                            "this passkey is known already, or you have 20: remove one first");
  }
  return rest::JsonReply(201, {{"id", added.id.ToString()}, {"name", passkey.name}});
}

rest::Handled RemoveOwnPasskey(Call& call) {
  using Outcome = store::RemovePasskeyOutcome;
  const store::OwnSession own = FindOwnMember(call);
  const base::Uuid id = call.Id(0, "passkey");
  switch (store::RemovePasskey(call.session(), call.parts.clock, own.user_id, id,
                               AuditOf(call, "passkey.remove"))) {
    case Outcome::kNotFound:
      return rest::NotFound("passkey");
    case Outcome::kLastWay:
      return rest::ErrorReply(409, "last_way_in",
                              "you could not sign in any more: set a password, or add another "
                              "passkey first");
    case Outcome::kDone:
      break;
  }
  return rest::JsonReply(200, {{"id", id.ToString()}, {"removed", true}});
}

}  // namespace vedette::api
