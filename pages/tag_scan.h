#pragma once

#include <cstddef>
#include <string_view>

namespace vedette::pages {

inline constexpr std::size_t kHtmlAttributesMax = 1024;

// Whether every tag that libxml2's HTML parser could see in `text` has at most kHtmlAttributesMax
// attributes. It compares every attribute of a tag with all before it: 50,000 of them, in 300 KB,
// would hold a thread for 10 seconds. Looks at tags inside comments and scripts too, since telling
// them apart as libxml2 does is what an attacker would play with. False as well where the text is
// so tangled that looking itself would cost too much. Pure; any thread.
bool AttributesAreFew(std::string_view text);

}  // namespace vedette::pages
