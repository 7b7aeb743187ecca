#pragma once

#include <string>
#include <vector>

#include "domain/investigation/finding.h"

namespace vedette::worker::test {

// "predicate object", of relations and attributes.
inline std::vector<std::string> Said(const std::vector<domain::Finding>& findings) {
  std::vector<std::string> said;
  for (const domain::Finding& finding : findings) {
    if (finding.object) said.push_back(finding.predicate + " " + finding.object->value);
  }
  return said;
}

}  // namespace vedette::worker::test
