#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/passkey.h"
#include "store/audit.h"
#include "store/session.h"

// What people sign in with beside an address and a password: passkeys, and secrets that work once.
// All functions throw as InTransaction does (store/session.h). Addresses are lower case.
namespace vedette::store {

inline constexpr int kPasskeysMax = 20;  // of one person

struct NewPasskey {
  domain::NewPasskey made;
  std::string name;
};
struct StoredPasskey {
  base::Uuid id;
  std::string email;
  domain::KnownPasskey known;
};
std::optional<StoredPasskey> FindPasskey(Session& session, const std::string& credential_id);

// Notes that the passkey was used, with its new count. False where another request has used it
// meanwhile, and the passkey counts.
bool UsePasskey(Session& session, const StoredPasskey& passkey, std::uint32_t sign_count);

struct PasskeyView {
  base::Uuid id;
  std::string credential_id;
  std::string name;
  base::Timestamp created_at;
  std::optional<base::Timestamp> last_used_at;
};
std::vector<PasskeyView> ListPasskeys(Session& session, const std::string& email);

// Writes one within a transaction that holds the lock of the person's ways (`ways_lock`). Empty
// where the credential is known, or he has kPasskeysMax.
std::optional<base::Uuid> InsertPasskey(Transaction& tx, const base::Clock& clock,
                                        const std::string& email, const NewPasskey& passkey);
// kLastWay: he would have neither a password nor a passkey any more.
enum class RemovePasskeyOutcome { kDone, kNotFound, kLastWay };
RemovePasskeyOutcome RemovePasskey(Session& session, const base::Clock& clock,
                                   const std::string& email, const base::Uuid& id,
                                   AuditEntry audit);

// Secrets that work once. The numbers are stored: never renumber.
//   kPasskeySignIn  a challenge; bound to an address, or to none
//   kPasskeyNew     a challenge; bound to an address
//   kProvider       a sign-in at the identity provider; bound to an invitation, or to none
//   kChoice         a member who has signed in and chooses an organisation; bound to his address
//   kProviderChoice the same where the provider has vouched for him; bound to the organisation that
//                   it has named, too
//   kReset          a link to a new password; bound to an address, and to the organisation whose
//                   owner made it, or whose member the operator named
//   kOwnerReset     the same, made by an owner: it is for who is a member nowhere else
//   kConsole        a sign-in at the operator's console by its provider; bound to nothing
enum class OneTimePurpose : std::int16_t {
  kPasskeySignIn = 0,
  kPasskeyNew = 1,
  kProvider = 2,
  kChoice = 3,
  kProviderChoice = 4,
  kReset = 5,
  kOwnerReset = 6,
  kConsole = 7,
};
struct Binding {
  std::optional<std::string> email;
  std::optional<base::Uuid> org_id;
  std::optional<std::string> invitation_sha256;
};
// When it ends.
base::Timestamp PutOneTimeSecret(Session& session, OneTimePurpose purpose, std::string_view secret,
                                 std::chrono::seconds life, const Binding& binding);
// What it is bound to; empty for one that is unknown, used, of another purpose, or too old.
std::optional<Binding> FindOneTimeSecret(Session& session, OneTimePurpose purpose,
                                         std::string_view secret);
// Likewise, and it is used.
std::optional<Binding> TakeOneTimeSecret(Session& session, OneTimePurpose purpose,
                                         std::string_view secret);

// What a person has shown of himself before something is done for him. It counts as long as all of
// it is his still: a new password takes away what is under way, too.
struct ShownWays {
  std::optional<std::string> password{};        // as stored
  std::optional<std::string> passkey{};         // its credential
  std::optional<std::string> session_sha256{};  // of the token of the session that he is in
  struct Choice {
    OneTimePurpose purpose = OneTimePurpose::kChoice;
    std::string secret;
  };
  std::optional<Choice> choice{};  // is used by it
};
// Whether it is his still, in a transaction that from then on holds the lock of his ways
// (`ways_lock`): a new password waits for what is done, or that for the new password.
bool AreStillHis(Transaction& tx, const std::string& email, const ShownWays& shown);
// Lets one who has shown that choose an organisation; `named`: the one that the provider has named.
// False where it is not his any more.
bool OfferChoice(Session& session, const ShownWays::Choice& choice, std::chrono::seconds life,
                 const std::string& email, const ShownWays& shown,
                 const std::optional<base::Uuid>& named = std::nullopt);

struct AddedPasskey {
  // kNotShown: what he has shown is not his any more. kTooMany: as InsertPasskey.
  enum class Kind { kDone, kNotShown, kTooMany };
  Kind kind = Kind::kDone;
  base::Uuid id;
};
AddedPasskey AddPasskey(Session& session, const base::Clock& clock, const std::string& email,
                        const NewPasskey& passkey, const ShownWays& shown, AuditEntry audit);

// A link to a new password for a member, which takes the place of one that was made before.
struct ResetLink {
  // kElsewhere: he is a member of another organisation, too, which an owner of this one must not
  // open. kByProvider: no password lets him in here, as the identity provider does.
  enum class Kind { kDone, kNotFound, kElsewhere, kByProvider };
  Kind kind = Kind::kDone;
  std::string token;  // readable only here
  base::Timestamp expires_at;
};
inline constexpr std::string_view kResetPrefix = "vd_rst_";
inline constexpr std::chrono::hours kResetLife{24};
struct ResetOrder {
  bool by_owner = false;    // and not by the operator
  std::string_view cell{};  // that gives it out (domain/auth/cell.h)
};
ResetLink MakeReset(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                    const std::string& email, const ResetOrder& order, AuditEntry audit);
// The address that a link is for, as long as TakeReset would take it. Throws OrganisationAway
// (store/place.h), as TakeReset does, which leaves the link.
std::optional<std::string> FindReset(Session& session, const std::string& token);
// Sets the password, as stored, takes his passkeys away and ends his sessions in every
// organisation. False where the link is not good any more.
bool TakeReset(Session& session, const base::Clock& clock, const std::string& token,
               const std::string& password, AuditEntry audit);

// The same for a member who has shown who he is, but for his passkeys, which stay. False where what
// he has shown is not his any more.
bool ChangePassword(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                    const std::string& email, const std::string& password, const ShownWays& shown,
                    AuditEntry audit);

}  // namespace vedette::store
