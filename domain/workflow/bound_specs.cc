#include "domain/workflow/bound_specs.h"

namespace vedette::domain {

std::string BoundSpecsJson(const BoundSpecs& bound) {
  return base::DumpJson(
      {{"block_id", bound.block_id}, {"specs", bound.specs}, {"columns", bound.input}});
}

BoundSpecs ReadBoundSpecs(const std::string& json) {
  const base::Json stored = base::ParseJsonOrThrow(json);
  return {stored.at("block_id").get<std::string>(), stored.at("specs"),
          NamesIn(stored.at("columns"))};
}

}  // namespace vedette::domain
