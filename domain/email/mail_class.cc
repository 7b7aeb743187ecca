#include "domain/email/mail_class.h"

#include <algorithm>
#include <array>

#include "domain/name_table.h"

namespace vedette::domain {
namespace {

constexpr std::array<std::string_view, kMailClassCount> kMailClassNames = {
    "other", "outlook", "microsoft365", "google", "yahoo", "apple", "proofpoint", "mimecast"};

struct Suffix {
  std::string_view text;
  MailClass mail_class;
};
constexpr std::array kSuffixes{
    Suffix{"olc.protection.outlook.com", MailClass::kOutlook},
    Suffix{"mail.protection.outlook.com", MailClass::kMicrosoft365},
    Suffix{"mx.microsoft", MailClass::kMicrosoft365},
    Suffix{"google.com", MailClass::kGoogle},
    Suffix{"googlemail.com", MailClass::kGoogle},
    Suffix{"yahoodns.net", MailClass::kYahoo},
    Suffix{"mail.icloud.com", MailClass::kApple},
    Suffix{"pphosted.com", MailClass::kProofpoint},
    Suffix{"ppe-hosted.com", MailClass::kProofpoint},
    Suffix{"mimecast.com", MailClass::kMimecast},
};

// The recipients of each class; 0: the configuration's.
constexpr std::array<int, kMailClassCount> kRecipients = {0, 1, 5, 10, 1, 5, 3, 3};

bool HasSuffix(std::string_view host, std::string_view suffix) {
  return host == suffix || (host.size() > suffix.size() && host.ends_with(suffix) &&
                            host[host.size() - suffix.size() - 1] == '.');
}

}  // namespace

std::string_view MailClassName(MailClass mail_class) {
  return NameIn(kMailClassNames, mail_class);
}

MailClass MailClassOfHostKey(std::string_view key) {
  const std::string_view last = key.substr(key.rfind(' ') + 1);
  const auto found = std::find(kMailClassNames.begin(), kMailClassNames.end(), last);
  return found == kMailClassNames.end() ? MailClass::kOther
                                        : static_cast<MailClass>(found - kMailClassNames.begin());
}

MailClass MailClassOf(std::string_view host) {
  const Suffix* best = nullptr;
  for (const Suffix& suffix : kSuffixes) {
    if (HasSuffix(host, suffix.text) &&
        (best == nullptr || suffix.text.size() > best->text.size())) {
      best = &suffix;
    }
  }
  return best == nullptr ? MailClass::kOther : best->mail_class;
}

int RecipientsMax(MailClass mail_class, int other_max) {
  const int own = kRecipients.at(static_cast<std::size_t>(mail_class));
  return own == 0 ? other_max : std::min(own, other_max);
}

}  // namespace vedette::domain
