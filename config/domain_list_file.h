#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Lists of domains as files, one domain a line; white space around it, empty lines and lines that
// begin with # do not count. Read once, at the start.
namespace vedette::config {

inline constexpr std::size_t kDomainListBytesMax = std::size_t{16} << 20;

// The domains of the file in lower case and A-labels, sorted, each once; none where `path` is
// empty. Throws ConfigError with `setting`, or with the file and the line.
std::vector<std::string> ReadDomainList(const std::string& path, std::string_view setting);

}  // namespace vedette::config
