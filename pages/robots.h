#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vedette::pages {

// The most bytes of a file; the rest is not read (RFC 9309, 2.5 asks for 500 KiB at least).
inline constexpr std::size_t kRobotsBytesMax = 512 * 1024;
inline constexpr std::size_t kRobotsRulesMax = 4096;

// What a site's robots.txt lets one product read (RFC 9309). Pure. The group of the product counts,
// else that of "*"; the longest rule that matches a path wins, and "allow" among equal ones.
class Robots {
 public:
  // No rule: everything is allowed.
  Robots() = default;
  // `product`: the product token of our user agent, without its version.
  static Robots Parse(std::string_view text, std::string_view product);

  // `path`: of the URL, with its query; begins with "/".
  bool Allows(std::string_view path) const;

 private:
  struct Rule {
    std::string pattern;  // may have "*", and "$" at its end
    bool allows;
  };
  std::vector<Rule> rules_;
};

}  // namespace vedette::pages
