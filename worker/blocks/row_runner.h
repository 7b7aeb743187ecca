#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/uuid.h"
#include "domain/job/job.h"
#include "domain/monitor/failure.h"
#include "worker/providers/may_call.h"

// What a block of a job does to one row. The pipeline of jobs (worker/jobs/) calls it: it claims
// parts, starts their rows here, and records what comes back. Attempts, deadlines, leases and money
// are the pipeline's; a runner answers for one attempt at one row.
namespace vedette::worker {

// A row: one JSON text a column. A lookup has one cell in, its lead, and one out, its result.
using Cells = std::vector<std::string>;

struct RowRequest {
  base::Uuid
      row_id;  // the Idempotency-Key of every call that is made for the row (domain/job/job.h)
  base::Uuid org_id;
  base::Uuid job_id;
  Cells cells;
  std::string memo;                     // of the RowLater before this attempt; empty at the first
  std::chrono::milliseconds timeout{};  // the runner answers within it
  bool may_wait = true;                 // false where a client waits: RowLater is no answer then
  bool waited = false;                  // a client waits
  // The attempt ends with the failure kRowUnheld where it says no.
  MayCall may_call{};
};

// An error that a row keeps: a code and a sentence. Nothing personal stands in either.
struct RowError {
  std::string code;
  std::string message;
};

// The row has ended. It is charged where `charge_mc` has a value, which is at most the block's
// price.
struct RowDone {
  Cells cells;
  std::optional<std::int64_t> charge_mc;
  std::optional<RowError> error;
  // Called at most once, on the loop, when this end of the row has been recorded and its charge
  // booked; never where that did not happen, or is not known. It may outlive the runner. Empty:
  // nobody wants to know.
  std::function<void()> recorded{};
};

// This attempt failed. A retryable failure is tried again while the row has time and attempts left;
// otherwise, and after the last attempt, the row ends as EndWith says.
using RowFailure = domain::Failure;

// The class of a failure that is none of the row's: a call was due when may_call said no. The
// attempt does not count.
inline constexpr std::string_view kRowUnheld = "unheld";

// The code of a failure that says nothing of the row: our own database could not be asked. The row
// is tried again for as long as its time lasts, however many attempts that takes.
inline constexpr std::string_view kRowDatabase = "database";

// The row is to be tried again after `wait`, which may be longer than a lease: the chunk is
// given back until then. What the attempt has learnt comes back with the row.
struct RowLater {
  std::chrono::milliseconds wait{};
  std::string memo;  // JSON, at most kMemoBytesMax
  domain::JobWait why = domain::JobWait::kUntold;
};
inline constexpr std::size_t kMemoBytesMax = 16 * 1024;

using RowResult = std::variant<RowDone, RowFailure, RowLater>;

// Bound to the specs of one block of one job; immutable but for what it has in flight. Loop thread
// only. It must outlive what it started.
class RowRunner {
 public:
  virtual ~RowRunner() = default;

  // `done` is called exactly once, on the loop, possibly before Start returns.
  virtual void Start(RowRequest request, std::function<void(RowResult)> done) = 0;

  // How long a row has, its attempts and the waits between them included. Empty: [lookups]
  // row_timeout_ms.
  virtual std::optional<std::chrono::milliseconds> RowTimeout() const { return std::nullopt; }

  // What a row becomes that ends without an answer of the runner: its attempts failed, its worker
  // died at it (code "row_crashed"), its output is too large. Pure.
  virtual RowDone EndWith(const Cells& cells, RowError error) const = 0;
};

// Makes runners. One for each type of block that this process can run.
class RowBlock {
 public:
  virtual ~RowBlock() = default;
  virtual std::string_view type() const = 0;  // "find_email": job_block.type

  // The runner for a block with these specs (JSON), or a sentence that says why they cannot be run:
  // the job fails then. `price_mc` is the block's price of a row.
  virtual std::variant<std::shared_ptr<RowRunner>, std::string> Bind(const std::string& specs_json,
                                                                     std::int64_t price_mc) = 0;
};

// A block that asks nobody: each row ends with its own cells. For tests and benchmarks. Its specs:
//   {"delay_ms": 0..60000 = 0, "charge": boolean = false}    a charged row costs the block's price
// Loop thread only. It must outlive what it has bound; rows that wait when it ends never end. The
// loop and the clock must outlive it.
class NullBlock final : public RowBlock {
 public:
  NullBlock(base::EventLoop& loop, const base::Clock& clock)
      : clock_(clock), timer_(loop, [this] { EndDue(); }) {}

  std::string_view type() const override { return "null"; }
  std::variant<std::shared_ptr<RowRunner>, std::string> Bind(const std::string& specs_json,
                                                             std::int64_t price_mc) override;

 private:
  class Runner;
  struct Waiting {
    RowDone result;
    std::function<void(RowResult)> done;
  };

  void EndLater(std::chrono::milliseconds delay, Waiting waiting);
  void EndDue();

  const base::Clock& clock_;
  std::multimap<std::chrono::nanoseconds, Waiting> waiting_;  // by time since boot
  base::Timer timer_;
};

}  // namespace vedette::worker
