#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "domain/people/people_answer.h"
#include "worker/providers/email_memory.h"
#include "worker/providers/expander.h"
#include "worker/providers/provider_walk.h"

namespace vedette::worker {

// What one answer says of who is behind an address: the person and the company, and as attributes a
// title, a place and profiles. Pure.
std::vector<domain::Finding> PersonFindings(const base::Uuid& investigation_id,
                                            const domain::Subject& subject,
                                            const domain::PersonAnswer& answer);

// The people behind an email, as the first provider of [lookups] reverse_email that knows somebody
// says (provider_walk.h), without those on the suppression list.
//
// A finding's provider is the one that said so. Failures: shutdown, unheld, and database where that
// list cannot be read.
class LookupExpander final : public Expander {
 public:
  static constexpr std::string_view kId = "lookups";

  // `order`: the providers' ids. Everything handed in must outlive this object.
  LookupExpander(ProviderSet& providers, EmailMemory& memory, std::vector<std::string> order);

  std::string_view id() const override { return kId; }
  bool Takes(domain::SubjectKind type) const override;
  void Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) override;

 private:
  EmailMemory& memory_;
  const std::shared_ptr<const ProviderOrder> order_;
};

}  // namespace vedette::worker
