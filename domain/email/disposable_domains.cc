#include "domain/email/disposable_domains.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

namespace vedette::domain {
namespace {

// Sorted.
constexpr std::string_view kDisposableDomains[] = {
    "10minutemail.com",
    "10minutemail.net",
    "33mail.com",
    "anonbox.net",
    "burnermail.io",
    "byom.de",
    "discard.email",
    "discardmail.com",
    "discardmail.de",
    "dispostable.com",
    "dropmail.me",
    "emailondeck.com",
    "fakeinbox.com",
    "fakemailgenerator.com",
    "getairmail.com",
    "getnada.com",
    "grr.la",
    "guerrillamail.biz",
    "guerrillamail.com",
    "guerrillamail.de",
    "guerrillamail.net",
    "guerrillamail.org",
    "guerrillamailblock.com",
    "inboxbear.com",
    "inboxkitten.com",
    "jetable.org",
    "mail-temporaire.fr",
    "mailcatch.com",
    "maildrop.cc",
    "mailinator.com",
    "mailinator.net",
    "mailnesia.com",
    "mailnull.com",
    "mailsac.com",
    "mintemail.com",
    "moakt.com",
    "mohmal.com",
    "mytemp.email",
    "mytrashmail.com",
    "nada.email",
    "nowmymail.com",
    "sharklasers.com",
    "spam4.me",
    "spambog.com",
    "spambox.us",
    "spamgourmet.com",
    "temp-mail.io",
    "temp-mail.org",
    "tempail.com",
    "tempinbox.com",
    "tempmail.com",
    "tempmail.net",
    "tempmailo.com",
    "tempr.email",
    "throwawaymail.com",
    "trash-mail.com",
    "trashmail.com",
    "trashmail.de",
    "trashmail.net",
    "wegwerfemail.de",
    "wegwerfmail.de",
    "yopmail.com",
    "yopmail.fr",
    "yopmail.net",
};
static_assert(std::is_sorted(std::begin(kDisposableDomains), std::end(kDisposableDomains)));

// What the operator's file adds. It is as constant as the list above from the first question on.
std::set<std::string, std::less<>>& Added() {
  static std::set<std::string, std::less<>> added;
  return added;
}

bool IsListed(std::string_view domain) {
  return std::binary_search(std::begin(kDisposableDomains), std::end(kDisposableDomains), domain) ||
         Added().contains(domain);
}

}  // namespace

bool IsDisposableDomain(std::string_view domain) {
  while (!IsListed(domain)) {
    const auto dot = domain.find('.');
    if (dot == std::string_view::npos) return false;
    domain.remove_prefix(dot + 1);
  }
  return true;
}

void AddDisposableDomains(const std::vector<std::string>& domains) {
  Added().insert(domains.begin(), domains.end());
}

}  // namespace vedette::domain
