#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/uuid.h"
#include "store/jobs/record.h"
#include "store/session.h"
#include "worker/blocks/part_turn.h"

// What a block of a job does to a whole part, in the lane `transform`. The pipeline (worker/jobs/)
// claims parts, has them made here on threads that do nothing else, and records what comes back.
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

// A part is made in steps, of which each either computes or reads the database: a thread that
// computes has no session, and a session does not wait for what is computed.
//
//   Make --> computed --> PartOutput, or why the job fails
//              |   ^
//    PartRead  |   | what goes on with what was read
//              v   |
//            a session
struct PartRead;
using PartStep = std::variant<PartOutput, store::JobFault, PartRead>;
using PartCompute = std::function<PartStep(PartTurn& turn)>;
struct PartRead {
  // Throws what the store throws: the part is made again then, later.
  std::function<PartCompute(store::Session& session)> read;
};

// Bound to the specs of one block of one job. Immutable; any thread.
class PartWork {
 public:
  virtual ~PartWork() = default;
  // The first step. It and those that follow may refer to this object and to the request. Each
  // throws PartStopped where `turn` says that nobody waits for the part any more; time that is up
  // is a fault.
  virtual PartStep Make(const PartRequest& request, PartTurn& turn) const = 0;
};

// The work of a block of this type with these specs (domain::BoundSpecs), or a sentence that says
// why it cannot be done. Empty: no block of this type works on whole parts.
using BoundWork = std::variant<std::shared_ptr<const PartWork>, std::string>;
std::optional<BoundWork> BindPartWork(const std::string& type, const std::string& specs_json);

}  // namespace vedette::worker
