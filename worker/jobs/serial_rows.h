#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "base/event_loop.h"
#include "base/log.h"
#include "lease/suspect_slot.h"
#include "lease/suspects.h"
#include "store/session.h"
#include "worker/jobs/held_job_chunk.h"

namespace vedette::worker {

// The code of a row at which its worker died, and the reason of a job whose part did that.
inline constexpr std::string_view kRowCrashedCode = "row_crashed";
inline constexpr std::string_view kPartCrashedReason = "part_crashed";

// Works parts whose workers died repeatedly (lease/suspects.h), so that the row that ends its
// process is found and fails, and the others are done:
//
//   Take --the row of the last try is failed--> recorded --> the next row: waits for the slot
//             ^                                    ^            |
//             |                                    |            v
//             |                                    |         committed as the suspect
//             |                                    |            |
//             | the process dies: the next claim   |            v
//             +------------------------------------|----------- tried alone
//                                                  +-- it ends -+
//
// The slot is kept until the row's end is recorded: until then the row is the suspect. Loop thread
// only; everything handed in must outlive this object.
class SerialRows final : public lease::Suspects<HeldJobChunk> {
 public:
  struct Hooks {
    // The row's try begins now: start it.
    std::function<void(const JobChunkPtr&, std::size_t row)> start;
    // The same of a chunk whose part is made as a whole.
    std::function<void(const JobChunkPtr&)> start_whole;
    // The row has ended without a try.
    std::function<void(const JobChunkPtr&, std::size_t row, RowDone)> ended;
    // The job is to fail.
    std::function<void(const JobChunkPtr&, store::JobFault)> fault;
    // The chunk is not held any more: its lease was lost, or the database did not answer.
    std::function<void(const JobChunkPtr&)> forget;
  };

  SerialRows(base::EventLoop& loop, store::Pool& pool, base::Logger log, int claims_max,
             lease::SuspectSlot& slot, Hooks hooks);

  // A chunk that was just claimed and is held. False: it is to be worked on as usual. True: it is
  // taken care of here.
  bool Take(const JobChunkPtr& chunk);

  // Everything of a chunk that Take took is recorded: goes on with its next row.
  void OnRecorded(const JobChunkPtr& chunk);

 private:
  void Next(const JobChunkPtr& chunk);
  // `row`: an index, or store::kSuspectPart.
  void Try(const JobChunkPtr& chunk, int row);

  const int claims_max_;
  const Hooks hooks_;
};

}  // namespace vedette::worker
