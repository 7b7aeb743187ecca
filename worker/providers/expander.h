#pragma once

#include <chrono>
#include <functional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/uuid.h"
#include "domain/investigation/finding.h"
#include "domain/monitor/failure.h"
#include "worker/providers/may_call.h"

// What finds something further about a subject of an investigation.
namespace vedette::worker {

struct ExpandRequest {
  base::Uuid investigation_id;
  base::Uuid org_id;
  domain::Subject subject;
  std::chrono::milliseconds timeout{};
  MayCall may_call{};
};

// What was found, of which there may be nothing; or why this process could not ask now.
using ExpandAnswer = std::variant<std::vector<domain::Finding>, domain::Failure>;

// Loop thread only.
class Expander {
 public:
  virtual ~Expander() = default;  // callbacks of what is under way are dropped
  virtual std::string_view id()
      const = 0;  // in Finding::provider, and in [investigations] providers
  virtual bool Takes(domain::SubjectKind type) const = 0;
  // `done` exactly once, perhaps from inside Start, about within the request's timeout.
  virtual void Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) = 0;
};

}  // namespace vedette::worker
