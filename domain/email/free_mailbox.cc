#include "domain/email/free_mailbox.h"

#include "domain/text/word_lists.h"

namespace vedette::domain {
namespace {

// The list with what the operator's file adds. It is constant from the first question on.
WordSet& FreeMailboxes() {
  static WordSet listed = ListedWords("free_mailbox_domains");
  return listed;
}

}  // namespace

bool IsFreeMailboxDomain(std::string_view domain) {
  return FreeMailboxes().contains(domain);
}

void AddFreeMailboxDomains(const std::vector<std::string>& domains) {
  FreeMailboxes().insert(domains.begin(), domains.end());
}

}  // namespace vedette::domain
