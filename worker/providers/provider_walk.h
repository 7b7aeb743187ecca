#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/failure.h"
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

}  // namespace vedette::worker
