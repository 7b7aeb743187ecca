#pragma once

#include <string_view>

namespace vedette::domain {

// Whether the domain, or one that it is a part of, belongs to a service of throw-away addresses.
// `domain` is in lower case. Pure. The list is a short one of the best known services.
bool IsDisposableDomain(std::string_view domain);

}  // namespace vedette::domain
