#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "domain/people/people_answer.h"
#include "worker/providers/email_memory.h"
#include "worker/providers/expander.h"
#include "worker/providers/provider_set.h"

namespace vedette::worker {

// What one answer says of who is behind an address: the person and the company, and as attributes a
// title, a place and profiles. Pure.
std::vector<domain::Finding> PersonFindings(const base::Uuid& investigation_id,
                                            const domain::Subject& subject,
                                            const domain::PersonAnswer& answer);

// Of an email, what the lookups of [lookups] reverse_email say of who is behind it:
//
//   provider --found--> without those whom nobody looks up --> findings
//      |
//      +--nothing, failed or skipped--> the next provider --> ... --> nothing found
//
// A finding's provider is the one that said so. Failures: shutdown, unheld, and database where that
// list cannot be read.
class LookupExpander final : public Expander {
 public:
  static constexpr std::string_view kId = "lookups";

  // `order`: the providers' ids. Everything handed in must outlive this object.
  LookupExpander(ProviderSet& providers, EmailMemory& memory, std::vector<std::string> order);
  ~LookupExpander() override;

  std::string_view id() const override { return kId; }
  bool Takes(domain::SubjectKind type) const override;
  void Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) override;

 private:
  class Walk;
  struct Parts;
  const std::shared_ptr<const Parts> parts_;
};

}  // namespace vedette::worker
