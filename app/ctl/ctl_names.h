#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vedette::app {

struct NamedThing {
  std::string id;
  std::string name;
};

// The id of the one of these that has this name, written out in full. Throws RequestFailed with the
// ids of several, or the names that there are. `word`: what they are, "organisation".
std::string IdOfNamed(std::string_view word, const std::string& name,
                      const std::vector<NamedThing>& candidates);

}  // namespace vedette::app
