#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vedette::domain {
struct Recipe;  // domain/email/recipe.h
}

// Files that the configuration names, read once, at the start: recipes, each of which describes one
// service in TOML (docs/providers.md); lists of domains, one a line, where white space around
// it, empty lines and lines that begin with # do not count; and the list of cells.
namespace vedette::config {

inline constexpr std::size_t kRecipesMax = 64;

// Reads one file's text; `source` is how messages name it. What {key} stands for is read from the
// file that it names. Throws ConfigError with the file, the line and the rule; it never shows the
// key.
domain::Recipe ReadRecipe(std::string_view text, const std::string& source);

// Reads the *.toml files of a folder in the order of their names. Throws ConfigError, also where
// two of them have one id, there are more than kRecipesMax, or the folder cannot be read.
std::vector<domain::Recipe> ReadRecipes(const std::string& folder);

inline constexpr std::size_t kDomainListBytesMax = std::size_t{16} << 20;

// The domains of the file in lower case and A-labels, sorted, each once; none where `path` is
// empty. Throws ConfigError with `setting`, or with the file and the line.
std::vector<std::string> ReadDomainList(const std::string& path, std::string_view setting);

inline constexpr std::size_t kCaFileBytesMax = std::size_t{16} << 20;

// Throws ConfigError where the file of [net] ca_file cannot be read, or is no bundle of
// certificates: every answer over https would be refused. An empty path is none.
void CheckCaFile(const std::string& path);

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
