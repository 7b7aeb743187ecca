#include "domain/workflow/bound_specs.h"

namespace vedette::domain {

std::string BoundSpecsJson(const BoundSpecs& bound) {
  base::Json stored{{"block_id", bound.block_id}, {"specs", bound.specs}, {"columns", bound.input}};
  if (!bound.terms.is_null()) stored["terms"] = bound.terms;
  return base::DumpJson(stored);
}

BoundSpecs ReadBoundSpecs(const std::string& json) {
  const base::Json stored = base::ParseJsonOrThrow(json);
  const auto terms = stored.find("terms");
  return {stored.at("block_id").get<std::string>(), stored.at("specs"),
          NamesIn(stored.at("columns")), terms == stored.end() ? base::Json() : *terms};
}

}  // namespace vedette::domain
