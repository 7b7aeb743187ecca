#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vedette::domain {

// Whether the domain is that of a provider of free mailboxes (gmail.com), whose addresses are
// people's own. `domain` is in lower case.
bool IsFreeMailboxDomain(std::string_view domain);

// Adds domains of the operator's to that list, for the life of the process. Called while the
// process has one thread, before anything is asked: afterwards the list is read without a lock. The
// domains are in lower case and in A-labels.
void AddFreeMailboxDomains(const std::vector<std::string>& domains);

}  // namespace vedette::domain
