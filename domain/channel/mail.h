#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/channel/channel.h"

// The e-mail of channels: addresses, their links, messages (RFC 5322) as a relay takes
// them, and the relay.
// Pure.
namespace vedette::domain {

inline constexpr std::size_t kMailAddressesMax = 25;  // of a channel
inline constexpr int kMailQuestionsPerDay = 100;      // that an organisation has sent to owners
inline constexpr std::size_t kMailChangesMax = 50;    // that a message shows

// What an organisation may send to an address. The numbers are stored: never renumber.
//
//   kUnconfirmed --its link--> kConfirmed --hard bounce--> kSuspended
//       ^   |                      |                          |
//       |   +---- leaves ----------+--> kUnsubscribed         |
//       +------------- a channel names it again --------------+
//
// Nothing leads out of kUnsubscribed.
enum class MailStatus : std::uint8_t {
  kUnconfirmed = 0,   // nothing but a link to confirm
  kConfirmed = 1,     // everything
  kSuspended = 2,     // nothing: the relay refuses the address for good
  kUnsubscribed = 3,  // nothing: its owner does not want it, or was erased
};
std::string_view MailStatusName(MailStatus status);

struct MailAddress {
  base::Uuid id;
  std::string address;
  MailStatus status = MailStatus::kUnconfirmed;
  std::optional<std::string> reason;  // of one that is suspended
};

// What stands for an address once it is not kept any more: 32 bytes, equal for two spellings of one
// mailbox. Empty for what is not mailable (IsMailable).
std::string MailDigest(std::string_view address);

// What a channel with these addresses is: it is told as long as one of them is confirmed.
ChannelStatus StatusOfMail(const std::vector<MailAddress>& addresses);
// Why it is not told, or not all of it: a sentence without an address; nothing where all are told.
std::optional<std::string> ReasonOfMail(const std::vector<MailAddress>& addresses);

// The links of an address. Its token is made of the address's id and the operator's encryption key;
// who has it may do what the link says, and nothing else.
enum class MailLink : std::uint8_t { kConfirm, kUnsubscribe };
std::string MailLinkPath(const base::Uuid& address_id, MailLink link,
                         std::string_view encryption_key);
// The link that one of these keys made; nothing for any other token.
std::optional<MailLink> ReadMailLink(const base::Uuid& address_id, std::string_view token,
                                     const std::vector<std::string>& encryption_keys);

// What all messages have.
struct MailEnvelope {
  std::string from;
  std::string to;
  base::Uuid delivery_id;  // the same at every attempt, and so the Message-ID
  base::Timestamp date{};
  std::string channel_name;
};

// A question whether the owner of the address wants what the channel tells.
std::string ConfirmationMail(const MailEnvelope& envelope, std::string_view confirm_url,
                             std::string_view unsubscribe_url);

// A notification, as text and as HTML: fields with what they were and are, evidence and sources,
// and a link to the row (MonitorsUrl). Can be left with one click (RFC 8058).
std::string NewsMail(const MailEnvelope& envelope, const ChannelNews& news,
                     std::string_view monitors_url, std::string_view unsubscribe_url);

// What the links show to people.
std::string MailPage(std::string_view title, std::string_view text, bool has_button);

// The relay that e-mail of channels goes to ([mail] relay).
struct MailRelay {
  enum class Security : std::uint8_t {
    kTls,       // smtps: from the first byte
    kStartTls,  // smtp: by STARTTLS, without which nothing is said
    kNone,      // smtp on the loopback interface
  };
  std::string user;  // empty: nobody logs in
  std::string host;  // a name, or an address without brackets
  int port = 0;
  Security security = Security::kTls;
};

// Reads "smtps://user@host:465": the ports are 465 and 587 where none is given, and the user may
// have an "@" of its own, written as it is or as %40. Empty for anything else, a password among it.
std::optional<MailRelay> ParseMailRelay(std::string_view url);

// Whether e-mail of channels may go to the address, or come from it: an address in ASCII whose
// local part needs no quotes.
bool IsMailable(std::string_view address);

}  // namespace vedette::domain
