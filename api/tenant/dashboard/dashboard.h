#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kit/body.h"
#include "api/tenant/call.h"
#include "api/tenant/credentials.h"
#include "store/accounts/access_tokens.h"
#include "store/accounts/members.h"
#include "store/accounts/sign_in.h"

// What the handlers of the dashboard share.
namespace vedette::api {

inline constexpr std::size_t kLinkTokenCharsMax = 100;

// A 404, as of a path that there is not, where the operator has not enabled the dashboard.
void CheckDashboard(const Call& call);
// Another site's page must not sign its visitor in with an account of its own choice: a 403.
void CheckSameSite(const Call& call);
// Counts a try before anything is looked up, so that a refusal says nothing of who exists; a 429.
// Without an address it counts for the remote address alone, so that no stranger uses up others'
// tries.
void CountTry(Call& call, std::string_view email = {});

// The member `token` of a link.
std::string ReadLinkToken(rest::BodyReader* body);
// The member `team_id`; null, and none, stand for no team.
std::optional<base::Uuid> ReadTeam(rest::BodyReader* body);

rest::Reply WrongPassword();  // 401
rest::Reply SessionEnded();   // 401: while its request was under way
rest::Reply LastOwner();      // 409: what would take the organisation's last owner away
// 409: another way of signing in where the identity provider alone lets in.
rest::Reply ByProvider(std::string_view what_to_do);
// The path's first parameter, spelled as members' addresses are.
std::string MemberAddress(const Call& call);
// Whether it is the address of a member.
bool NamesAMember(Call& call);
// To the token of a link that is no good any more: 404, or 421 where another cell gave it out.
rest::Reply NoLink(const Call& call, std::string_view token, std::string_view prefix);
bool IsPasswordOf(const std::optional<std::string>& stored, const std::string& password);
std::optional<std::string> ReadPassword(rest::BodyReader* body, std::string_view name,
                                        rest::Presence presence);
void CheckNewPassword(const std::string& password);  // a 422 for one that is too short

// The entry of something that a person does who has no session, or another one.
store::AuditEntry AuditOfMember(const Call& call, const base::Uuid& org_id,
                                const std::string& email, std::string action);

// A new session of a member who has shown that, whose cookie is to be set.
store::SessionOutcome MakeSession(Call& call, const std::string& email, const base::Uuid& org_id,
                                  const store::ShownWays& shown);
rest::Header SessionCookie(const std::string& token);
// Opens one and gives it to the browser.
rest::Reply OpenSession(Call& call, const std::string& email, const store::Membership& membership,
                        const store::ShownWays& shown);

// Those that a person may enter who has not come by the identity provider.
std::vector<store::Membership> OwnMemberships(const store::Person& person);
// Those that one may enter who has: of what a claim has made, that which his token names.
std::vector<store::Membership> ProviderMemberships(const store::Person& person,
                                                   const std::optional<base::Uuid>& named);
base::Json ChoicesJson(const std::vector<store::Membership>& all);
// The cookie of a person who has shown that, and chooses an organisation; `named`: that of his
// token. Throws a 401 where what he has shown is not his any more.
rest::Header OfferChoice(Call& call, const std::string& email, store::OneTimePurpose purpose,
                         const store::ShownWays& shown,
                         const std::optional<base::Uuid>& named = std::nullopt);

// The session that a request shows.
struct Own {
  store::OwnSession session;
  std::string token;
};
Own FindOwn(Call& call);
// The same of a member: a user of the operator's own dashboard has no account here, and gets a 404.
store::OwnSession FindOwnMember(Call& call);
// A 409 where a member comes in by the identity provider alone: what else he would sign in with
// lets him in nowhere, and would outlive what the provider has ended.
void CheckWays(const store::OwnSession& own);
// A 403 where the sign-in is too long ago for what would outlive the session.
void CheckFresh(const store::OwnSession& own);

// Passkeys (passkeys.cc).

// Passkeys are possible where [api] public_url has a name.
bool HasPasskeys(const Call& call);
// Members of a body, with bytes as base64url. Only valid without problems.
struct ShownPasskey {
  std::string credential_id;
  domain::PasskeyAnswer answer;
};
ShownPasskey ReadShownPasskey(rest::BodyReader* body);
// The object `name` in a body, as the function above reads it.
std::optional<ShownPasskey> ReadShownPasskey(rest::BodyReader* body, std::string_view name);
// Whose passkey was used; throws a 401, one for whatever is wrong. `email`: of whom it must be, if
// it is given.
std::string CheckPasskey(Call& call, const ShownPasskey& shown, std::string_view email = {});

struct MadePasskey {
  std::string client_data;
  std::string attestation;
  std::string name;
};
std::optional<MadePasskey> ReadMadePasskey(rest::BodyReader* body, rest::Presence presence);
// What is to be stored; a 422 for one that is not made as it should be.
store::NewPasskey CheckMadePasskey(Call& call, const MadePasskey& made, const std::string& email);

}  // namespace vedette::api
