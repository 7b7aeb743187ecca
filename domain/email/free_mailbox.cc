#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "domain/email/address.h"

namespace vedette::domain {
namespace {

// Sorted. Domains where anybody gets a mailbox, so that an address at one tells of no company.
constexpr std::string_view kFreeMailboxDomains[] = {
    "126.com",        "163.com",      "aim.com",        "aol.com",        "arcor.de",
    "att.net",        "bk.ru",        "bluewin.ch",     "btinternet.com", "comcast.net",
    "cox.net",        "daum.net",     "duck.com",       "email.com",      "fastmail.com",
    "fastmail.fm",    "foxmail.com",  "free.fr",        "freenet.de",     "gmail.com",
    "gmx.at",         "gmx.ch",       "gmx.com",        "gmx.de",         "gmx.net",
    "googlemail.com", "hanmail.net",  "hey.com",        "hotmail.co.uk",  "hotmail.com",
    "hotmail.de",     "hotmail.es",   "hotmail.fr",     "hotmail.it",     "hushmail.com",
    "icloud.com",     "inbox.ru",     "laposte.net",    "libero.it",      "list.ru",
    "live.com",       "live.fr",      "live.nl",        "mac.com",        "mail.com",
    "mail.ru",        "mailbox.org",  "me.com",         "msn.com",        "naver.com",
    "o2.pl",          "onet.pl",      "orange.fr",      "outlook.com",    "outlook.de",
    "outlook.fr",     "pm.me",        "posteo.de",      "proton.me",      "protonmail.ch",
    "protonmail.com", "qq.com",       "rediffmail.com", "rocketmail.com", "sbcglobal.net",
    "seznam.cz",      "sfr.fr",       "sina.com",       "t-online.de",    "terra.com.br",
    "tuta.com",       "tutanota.com", "tutanota.de",    "uol.com.br",     "verizon.net",
    "virgilio.it",    "wanadoo.fr",   "web.de",         "wp.pl",          "ya.ru",
    "yahoo.co.in",    "yahoo.co.jp",  "yahoo.co.uk",    "yahoo.com",      "yahoo.com.br",
    "yahoo.de",       "yahoo.es",     "yahoo.fr",       "yahoo.it",       "yandex.com",
    "yandex.ru",      "yeah.net",     "ymail.com",      "ziggo.nl",       "zoho.com",
    "zohomail.com",
};
static_assert(std::is_sorted(std::begin(kFreeMailboxDomains), std::end(kFreeMailboxDomains)));

// What the operator's file adds. It is as constant as the list above from the first question on.
std::set<std::string, std::less<>>& Added() {
  static std::set<std::string, std::less<>> added;
  return added;
}

}  // namespace

bool IsFreeMailboxDomain(std::string_view domain) {
  return std::binary_search(std::begin(kFreeMailboxDomains), std::end(kFreeMailboxDomains),
                            domain) ||
         Added().contains(domain);
}

void AddFreeMailboxDomains(const std::vector<std::string>& domains) {
  Added().insert(domains.begin(), domains.end());
}

}  // namespace vedette::domain
