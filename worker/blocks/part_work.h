#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/jobs/record.h"
#include "store/session.h"

namespace vedette::worker {

// The processor's time that one part may take. What a part may hold of rows and bytes is far less
// than this; what needs more is what no limit of a block has foreseen.
inline constexpr std::chrono::seconds kPartTimeMax{10};

// Why a part is computed no further.
enum class PartStop {
  kUnwanted,  // nobody waits for it: its job has ended, its lease was lost, its process ends
  kOverdue,   // it has taken the time that it may take
};

// Thrown by PartTurn::Ask, through whatever loops stand between, to who computes the part.
class PartStopped : public std::runtime_error {
 public:
  explicit PartStopped(PartStop stop) : std::runtime_error("a part was stopped"), why(stop) {}
  const PartStop why;
};

// How long a part may be computed, and whether it still is to be: what computes it asks between
// rows and inside long loops. One thread at a time computes, and each says Begin first; any thread
// may say Stop.
class PartTurn {
 public:
  // `clock` outlives this object. `deadline`: since boot; the part is of no use after it.
  PartTurn(const base::Clock& clock, std::chrono::nanoseconds time_max,
           std::chrono::nanoseconds deadline);

  // Nobody waits for the part any more.
  void Stop() { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // The part is computed by this thread from here on.
  void Begin();
  // Throws PartStopped where the part is not to be computed further.
  void Ask();

 private:
  // Notes what this thread has computed since the last look.
  void Look(std::chrono::nanoseconds now);

  const base::Clock& clock_;
  const std::chrono::nanoseconds deadline_;  // since boot
  std::chrono::nanoseconds left_;            // of the part's time, as of the last look
  std::chrono::nanoseconds thread_time_{};   // as of the last look
  // Since boot: before it, the time cannot be up.
  std::chrono::nanoseconds next_look_{};
  std::atomic<bool> stopped_ = false;
};

// What a block of a job does to a whole part, in the lane `transform`. The pipeline (worker/jobs/)
// claims parts, has them made here on threads that do nothing else, and records what comes back.

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
