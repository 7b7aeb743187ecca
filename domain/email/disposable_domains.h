#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vedette::domain {

// Whether the domain, or one that it is a part of, belongs to a service of throw-away addresses.
// `domain` is in lower case. The list has some 800 domains of the best known services, and what the
// operator's file adds.
bool IsDisposableDomain(std::string_view domain);

// Adds to that list, as AddFreeMailboxDomains does to its own (domain/email/free_mailbox.h).
void AddDisposableDomains(const std::vector<std::string>& domains);

}  // namespace vedette::domain
