#pragma once

#include <gtest/gtest.h>

#include <string>

#include "domain/workflow/block_type.h"
#include "domain/workflow/definition.h"

namespace vedette::domain {

// The specs with their defaults; they fit.
inline base::Json Whole(const std::string& block, base::Json specs) {
  const DefinitionRules rules{[](const std::string&) { return std::nullopt; }, nullptr};
  const auto faults = ValidateBlockSpecs(*FindBlockType(block), base::Json::array(), &specs, rules);
  EXPECT_TRUE(faults.empty()) << faults.front().type << " " << faults.front().loc;
  return specs;
}

// The first thing that is wrong with them: its type and place.
inline std::string FaultOf(const std::string& block, base::Json specs) {
  const DefinitionRules rules{[](const std::string&) { return std::nullopt; }, nullptr};
  const auto faults = ValidateBlockSpecs(*FindBlockType(block), base::Json::array(), &specs, rules);
  return faults.empty() ? "" : faults.front().type + " " + base::DumpJson(faults.front().loc);
}

// Why the block cannot be bound to this input; empty where it can.
inline std::string BindErrorOf(const std::string& block, const base::Json& specs,
                               const Columns& input) {
  try {
    FindBlockType(block)->bind(Whole(block, specs), input);
  } catch (const BindError& error) {
    return error.what();
  }
  return "";
}

}  // namespace vedette::domain
