#include "domain/email/disposable_domains.h"

#include "domain/text/word_lists.h"

namespace vedette::domain {
namespace {

// The list with what the operator's file adds. It is constant from the first question on.
WordSet& DisposableDomains() {
  static WordSet listed = ListedWords("disposable_domains");
  return listed;
}

}  // namespace

bool IsDisposableDomain(std::string_view domain) {
  while (!DisposableDomains().contains(domain)) {
    const auto dot = domain.find('.');
    if (dot == std::string_view::npos) return false;
    domain.remove_prefix(dot + 1);
  }
  return true;
}

void AddDisposableDomains(const std::vector<std::string>& domains) {
  DisposableDomains().insert(domains.begin(), domains.end());
}

}  // namespace vedette::domain
