#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/monitor/failure.h"
#include "domain/people/people_answer.h"
#include "worker/providers/email_memory.h"
#include "worker/providers/expander.h"
#include "worker/providers/provider_set.h"

namespace vedette::worker {

// One question of an investigation to one provider after the other:
//
//   Ask the next provider --answered--> weigh --findings or a failure--> done
//     |    ^                              |
//     |    +---- nothing that counts -----+
//     |
//     +--none is left--> done, nothing found
//     +--may_call says no: unheld; a provider says shutdown or unheld--> done, that failure

// The providers that an expander asks, in this order. Scans end unanswered with it. `providers`
// must outlive it.
struct ProviderOrder {
  ProviderSet& providers;
  const std::vector<std::string> ids;
};

// What an answer is worth: how the scan ends with it, or nothing, so that the next provider is
// asked. Called once, perhaps later; a call after the end of the ProviderOrder is dropped.
using Weighed = std::function<void(std::optional<ExpandAnswer>)>;

struct ProviderScan {
  // The question that every provider is asked. Its organisation, its timeout and may_call come from
  // the request.
  LookupRequest question;
  // Calls its second argument. It is called only while the ProviderOrder is there.
  std::function<void(Asked, Weighed)> weigh;
};

// Loop thread only. `done` is called exactly once, perhaps from inside, but for scans whose
// ProviderOrder has ended.
void ScanProviders(const std::shared_ptr<const ProviderOrder>& order, const ExpandRequest& request,
                   ProviderScan scan, std::function<void(ExpandAnswer)> done);

// The failure of a scan that ends before its question is answered.
domain::Failure BrokenOff(std::string_view error_class);

// What one answer says of who is behind an address: the person and the company, and as attributes a
// title, a place and profiles. Pure.
std::vector<domain::Finding> PersonFindings(const base::Uuid& investigation_id,
                                            const domain::Subject& subject,
                                            const domain::PersonAnswer& answer);

// The people behind an email, as the first provider of [lookups] reverse_email that knows somebody
// says, without those on the suppression list.
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

// The domain of a company, as the first provider of [lookups] company_domain that knows one says.
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
