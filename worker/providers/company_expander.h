#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "worker/providers/expander.h"
#include "worker/providers/lookup_expander.h"
#include "worker/providers/provider_set.h"

namespace vedette::worker {

// Of a company, its domain, as the lookups of [lookups] company_domain say:
//
//   provider --found--> the domain
//      |
//      +--nothing, failed or skipped--> the next provider --> ... --> nothing found
//
// It stands beside LookupExpander, under one name in the configuration. A finding's provider is the
// one that said so. Failures: shutdown and unheld.
class CompanyExpander final : public Expander {
 public:
  // `order`: the providers' ids. `providers` must outlive this object.
  CompanyExpander(ProviderSet& providers, std::vector<std::string> order);
  ~CompanyExpander() override;

  std::string_view id() const override { return LookupExpander::kId; }
  bool Takes(domain::SubjectKind type) const override;
  void Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) override;

 private:
  class Walk;
  struct Parts;
  const std::shared_ptr<const Parts> parts_;
};

}  // namespace vedette::worker
