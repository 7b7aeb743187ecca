#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/uuid.h"
#include "store/jobs/record.h"
#include "store/session.h"

// What a block of a job does to a whole part, in the lane `transform`. The pipeline (worker/jobs/)
// claims parts, has them made here on a thread of the pool, and records what comes back.
namespace vedette::worker {

struct PartRequest {
  base::Uuid job_id;
  int block = 0;
  int part = 0;  // of a source: the piece of its file
  int part_rows = 1;
  std::optional<base::Uuid> upload_id;
  std::string rows_json;      // of the input part: array of arrays; empty for a source
  std::size_t bytes_max = 0;  // of a part that is made
  std::size_t row_bytes_max = 0;
};

// What was made. It depends on the request and on what is recorded alone, so that a part that is
// made twice is the same.
struct PartOutput {
  std::vector<store::JobMadePart> parts;
  int rows_done = 0;              // of the input
  int row_errors = 0;             // of them, rows that keep what they were and say why
  std::vector<std::string> keys;  // that `dedupe` has seen first in this part, 16 bytes each
  std::optional<store::JobMonitorRows> monitor;
  // What the blocks behind it made of the only part.
  std::vector<store::JobPassedPart> passed{};
};

// The output, or why the job fails.
using PartResult = std::variant<PartOutput, store::JobFault>;

// Bound to the specs of one block of one job. Immutable; any thread.
class PartWork {
 public:
  virtual ~PartWork() = default;
  // May read the database; throws what the store throws, and is tried again then.
  virtual PartResult Make(store::Session& session, const PartRequest& request) const = 0;
};

// The work of a block of this type with these specs (domain::BoundSpecs), or a sentence that says
// why it cannot be done. Empty: no block of this type works on whole parts.
using BoundWork = std::variant<std::shared_ptr<const PartWork>, std::string>;
std::optional<BoundWork> BindPartWork(const std::string& type, const std::string& specs_json);

}  // namespace vedette::worker
