// Whatever a robots.txt holds, every path is decided, and twice in the same way.
#include <cstdlib>
#include <string>
#include <string_view>

#include "html/robots.h"
#include "tests/fuzz/target.h"

namespace vedette {

FUZZ_TARGET(robots, all) {
  using html::Robots;
  // The file, and behind a NUL a path.
  const auto cut = all.find('\0');
  const std::string_view file = all.substr(0, cut);
  const std::string path =
      "/" + std::string(cut == std::string_view::npos ? "" : all.substr(cut + 1));
  const Robots robots = Robots::Parse(file, "vedette");
  for (const std::string_view one :
       {std::string_view(path), std::string_view("/"), std::string_view("/team?a=b"),
        std::string_view("/a/b/c.html")}) {
    if (robots.Allows(one) != Robots::Parse(file, "vedette").Allows(one)) std::abort();
  }
  if (!Robots().Allows(path)) std::abort();
}

}  // namespace vedette
