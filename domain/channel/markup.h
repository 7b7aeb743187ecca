#pragma once

#include <string>
#include <string_view>

namespace vedette::domain {

// The text as XML and HTML have it, between tags or in a quoted attribute. Control characters are
// taken out before (ChatText); the two code points that no XML may hold become U+FFFD. Pure.
std::string EscapeMarkup(std::string_view text);

}  // namespace vedette::domain
