#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "domain/monitor/enums.h"
#include "worker/blocks/row_runner.h"
#include "worker/probes/probe.h"

namespace vedette::worker {

// The probe that researches the rows of a tier, and its times.
struct ResearchProbe {
  Probe* probe = nullptr;
  std::chrono::milliseconds timeout{};   // of one attempt
  std::chrono::milliseconds deadline{};  // of the row, retries included
  // The price of a row whose page was not rendered, in tiers where pages may be.
  std::optional<std::int64_t> unrendered_mc{};
};
using TierProbes = std::map<domain::Tier, ResearchProbe>;

// The blocks "enrich_lead" and "enrich_company": each row is researched by the probe of the block's
// tier, as a check of a monitor is that knows nothing yet. The row id stands for the check's. Its
// specs are domain::BoundSpecs, its columns domain::EnrichPlan's. A row is charged the block's
// price unless it has an error, and less where its page could have been rendered and was not. Loop
// thread only.
class EnrichBlock final : public RowBlock {
 public:
  // The clock and the probes must outlive this object and its runners.
  EnrichBlock(domain::SubjectType subject_type, const base::Clock& clock, TierProbes probes);

  std::string_view type() const override;
  std::variant<std::shared_ptr<RowRunner>, std::string> Bind(const std::string& specs_json,
                                                             std::int64_t price_mc) override;

 private:
  const domain::SubjectType subject_type_;
  const base::Clock& clock_;
  const TierProbes probes_;
};

}  // namespace vedette::worker
