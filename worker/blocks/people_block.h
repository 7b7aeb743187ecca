#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "domain/people/people_answer.h"
#include "metrics/metrics.h"
#include "worker/blocks/row_runner.h"
#include "worker/providers/email_memory.h"
#include "worker/providers/provider_set.h"

namespace vedette::worker {

// The blocks "reverse_email" and "verify_age": one lead in, one cell out
// (domain/people/people_answer.h). Their specs are those of PeopleSpecsJson, their rows those of
// FindRowCell.
//
//   row --copy of another row-------------> done: {"duplicate_of": n}, free
//    |
//    +--no person's address---------------> done, free
//    |
//    +--on the suppression list-------------> done, as if nothing was found
//    |
//    +--> asking a provider --answer--> a name that is sure, none left, no time
//             ^                             |                       |
//             +------- after a wait, if any-+                       v
//                                                  done, without whom that list has
//
// An age is decided from what all providers say; an address is done with the first sure name. A row
// ends as RowDone within its timeout, and as RowFailure only where this process stops or holds the
// row no more, or where that list cannot be read. A row with an error is not charged; any other is
// charged the block's price where the request's rule of charge says so.
class PeopleBlock final : public RowBlock {
 public:
  // Everything handed in must outlive this object and its runners.
  PeopleBlock(domain::PeopleQuestion question, base::EventLoop& loop, const base::Clock& clock,
              metrics::Metrics& metrics, ProviderSet& providers, EmailMemory& memory,
              const config::LookupsConfig& config);

  std::string_view type() const override;
  std::variant<std::shared_ptr<RowRunner>, std::string> Bind(const std::string& specs_json,
                                                             std::int64_t price_mc) override;

 private:
  const domain::PeopleQuestion question_;
  base::EventLoop& loop_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  ProviderSet& providers_;
  EmailMemory& memory_;
  const config::LookupsConfig& config_;
};

}  // namespace vedette::worker
