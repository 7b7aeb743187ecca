#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/uuid.h"
#include "domain/names.h"
#include "domain/observation.h"
#include "domain/request_headers.h"
#include "domain/row_values.h"

namespace vedette::api {

// What a monitor would look at, if it were made.
struct PreviewRequest {
  base::Uuid org_id;  // who shares connections, threads and memory with others
  domain::Tier tier = domain::Tier::kLow;
  domain::SubjectType subject_type = domain::SubjectType::kCompany;
  std::optional<std::string> research_plan;
  std::vector<domain::WatchedField> watched;
  std::vector<domain::RowValues> rows;
  domain::RequestHeaders request_headers{};
};

// How one preview went: what was observed of each row, in order.
struct PreviewOutcome {
  // Nothing was looked at, because too many rows are: of this organisation, or of all together.
  enum class Refusal { kNone, kOrganisation, kAll };
  Refusal refusal = Refusal::kNone;
  std::vector<domain::ObservationResult> rows;
};

// Looks at rows once, as a check of them would, and keeps nothing of it. Built by app from
// worker/probes, which the API must not include.
class Previewer {
 public:
  using Done = std::function<void(PreviewOutcome)>;
  virtual ~Previewer() = default;

  // Whether previews look at rows of this tier: those whose probe reads pages itself. A research
  // service or a model costs the operator money, so that nobody asks it for nothing. Any thread.
  virtual bool Serves(domain::Tier tier) const = 0;

  // Returns at once; `done` runs exactly once, on any thread, within [api] preview_timeout_ms and a
  // little. A row that was not seen by then has the failure `timeout`. Serves(tier) holds.
  virtual void Preview(PreviewRequest request, Done done) = 0;
};

}  // namespace vedette::api
