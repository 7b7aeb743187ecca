#pragma once

#include <string_view>

namespace vedette::domain {

// Whether the local part is that of a role ("info", "sales"): its mailbox is nobody's. Compared
// without case, plus tag and digits at its end. Pure.
bool IsRoleName(std::string_view local);

}  // namespace vedette::domain
