#pragma once

#include <string>
#include <string_view>

// Which build this is. Any thread.
namespace vedette::base {

std::string_view Version();  // "1.0.0"

// The first 12 hexadecimal digits of the commit that it was built from, as git said when the build
// was configured; "unknown" where the sources were without git.
std::string_view Commit();

std::string VersionAndCommit();  // "1.0.0 (0123456789ab)"

}  // namespace vedette::base
