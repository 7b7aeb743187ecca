#include "worker/jobs/serial_rows.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "store/async.h"
#include "store/jobs/claim.h"

namespace vedette::worker {

SerialRows::SerialRows(base::EventLoop& loop, store::Pool& pool, base::Logger log, int claims_max,
                       lease::SuspectSlot& slot, Hooks hooks)
    : lease::Suspects<HeldJobChunk>(loop, pool, log, slot, hooks.forget),
      claims_max_(claims_max),
      hooks_(std::move(hooks)) {}

bool SerialRows::Take(const JobChunkPtr& chunk) {
  const std::optional<int> suspect = chunk->claimed.suspect;
  if (!suspect && chunk->claimed.claims <= claims_max_) return false;
  log_.Warn("a job chunk's workers died repeatedly", {{"chunk", chunk->id().ToString()},
                                                      {"claims", chunk->claimed.claims},
                                                      {"rows", chunk->rows_open}});
  chunk->mode = HeldJobChunk::Mode::kSerial;
  const auto row = static_cast<std::size_t>(suspect.value_or(0));
  if (suspect == store::kSuspectPart) {
    hooks_.fault(chunk, {std::string(kPartCrashedReason), "a part of the job ended its process"});
  } else if (suspect && row < chunk->rows.size() &&
             chunk->rows[row].state != JobRow::State::kEnded) {
    JobRow& crashed = chunk->rows[row];
    crashed.state = JobRow::State::kWaiting;  // also where it was to be tried later
    hooks_.ended(chunk, row,
                 chunk->run->runner->EndWith(
                     crashed.cells, {std::string(kRowCrashedCode),
                                     "the row ended its process when it was tried alone"}));
  } else {
    Next(chunk);
  }
  return true;
}

void SerialRows::OnRecorded(const JobChunkPtr& chunk) {
  Leave(chunk);
  Next(chunk);
}

void SerialRows::Next(const JobChunkPtr& chunk) {
  if (!chunk->Working()) return;
  if (chunk->IsWhole()) {
    Try(chunk, store::kSuspectPart);
    return;
  }
  const auto waiting = std::find_if(chunk->rows.begin(), chunk->rows.end(), [](const JobRow& row) {
    return row.state == JobRow::State::kWaiting;
  });
  if (waiting == chunk->rows.end()) return;
  Try(chunk, static_cast<int>(waiting - chunk->rows.begin()));
}

void SerialRows::Try(const JobChunkPtr& chunk, int row) {
  TryRow(
      chunk, lease::SuspectSlot::Try::kAlone,
      [lease = chunk->lease, row](store::Session& session) {
        return store::MarkJobSuspect(session, lease, row);
      },
      [this, chunk, row] {
        chunk->claimed.suspect = row;
        if (row == store::kSuspectPart) {
          hooks_.start_whole(chunk);
        } else {
          hooks_.start(chunk, static_cast<std::size_t>(row));
        }
      });
}

}  // namespace vedette::worker
