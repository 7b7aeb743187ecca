#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "metrics/metrics.h"
#include "worker/blocks/row_runner.h"
#include "worker/providers/email_memory.h"
#include "worker/providers/expander.h"

namespace vedette::worker {

// The block "investigate": one subject in ({"type", "value"}), its findings out
// (domain/investigation/finding.h). What is kept of them, and what is looked at next, is decided
// where they are recorded (store/jobs/record.h).
//
//   row --on the suppression list--> done, nothing found
//    |
//    +--> expander --> next expander --> ... --> without addresses that are on that list --> done
//
// Every subject that is looked at is charged the block's price. A row ends as RowFailure only where
// this process stops or holds the row no more, or where that list cannot be read.
class InvestigateBlock final : public RowBlock {
 public:
  // Everything handed in must outlive this object and its runners.
  InvestigateBlock(const base::Clock& clock, metrics::Metrics& metrics, EmailMemory& memory,
                   std::vector<std::unique_ptr<Expander>> expanders);

  std::string_view type() const override { return "investigate"; }
  std::variant<std::shared_ptr<RowRunner>, std::string> Bind(const std::string& specs_json,
                                                             std::int64_t price_mc) override;

 private:
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  EmailMemory& memory_;
  const std::vector<std::unique_ptr<Expander>> expanders_;
};

}  // namespace vedette::worker
