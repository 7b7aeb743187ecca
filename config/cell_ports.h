#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace vedette::config {

inline constexpr std::size_t kCellsMax = 64;

// A cell (domain/auth/cell.h) as its operator reaches it.
struct CellPort {
  std::string id;     // empty: the first one
  std::string url;    // of its admin port, without a slash at its end
  std::string token;  // one of its [admin.tokens]; empty: the file names none for it
};

// The cells of a file, one a line: the id ("" is the first one's), the URL of the admin port, and,
// where it has one, the file of a token of that port, which is read as well.
//
//   c2 https://c2.internal:9464 /run/secrets/c2
//
// Throws ConfigError with the file, the line and the rule, also where it names none, one twice, or
// more than kCellsMax.
std::vector<CellPort> ReadCells(const std::string& path);

}  // namespace vedette::config
