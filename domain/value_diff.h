#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What a change of a list, or of a text of several lines, comes to. Pure; any thread.
namespace vedette::domain {

struct ValueDiff {
  // In the order of the value that they are from; each as often as there are more of it.
  std::vector<std::string> added;
  std::vector<std::string> removed;
};

// Compares two values, given as JSON texts: lists where both are arrays, or texts of arrays
// (`css:li | all`); lines where both are texts and one of them has several. Nothing for other
// values. White space around an item or a line, and blank lines, do not count.
std::optional<ValueDiff> DiffOfValues(std::string_view previous_json,
                                      std::string_view current_json);

}  // namespace vedette::domain
