#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The relay that e-mail of channels goes to ([mail] relay). Pure.
namespace vedette::domain {

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
