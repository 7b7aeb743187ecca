#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "worker/providers/expander.h"
#include "worker/providers/lookup_expander.h"
#include "worker/providers/provider_walk.h"

namespace vedette::worker {

// The domain of a company, as the first provider of [lookups] company_domain that knows one says
// (provider_walk.h).
//
// It stands beside LookupExpander, under one name in the configuration. A finding's provider is the
// one that said so. Failures: shutdown and unheld.
class CompanyExpander final : public Expander {
 public:
  // `order`: the providers' ids. `providers` must outlive this object.
  CompanyExpander(ProviderSet& providers, std::vector<std::string> order);

  std::string_view id() const override { return LookupExpander::kId; }
  bool Takes(domain::SubjectKind type) const override;
  void Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) override;

 private:
  const std::shared_ptr<const ProviderOrder> order_;
};

}  // namespace vedette::worker
