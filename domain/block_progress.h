#pragma once

#include <cstdint>
#include <optional>
#include <vector>

// How far a block has come, and which of its parts may be opened next. Pure. The statement
// `parts_open` decides the same in the database; a test compares the two over random histories.
namespace vedette::domain {

struct BlockProgress {
  std::optional<int> input;  // the block whose parts it works on; empty for a source
  int parts_total = 0;
  int opened = 0;      // parts [0, opened) have or had a chunk
  int parts_done = 0;  // recorded, out of those
  int part_window = 1;
};

// Parts that have a chunk now.
constexpr int PartsOpen(const BlockProgress& block) {
  return block.opened - block.parts_done;
}

// How many further parts are opened, in order, from part `opened` on: as many as the window and
// parts_total leave room for, up to the first part that the input has not made yet. A source waits
// for nobody. `input_parts` are the parts that exist of the input, ascending.
int PartsToOpen(const BlockProgress& block, const std::vector<std::int64_t>& input_parts);

// In tenths of a per cent: 1000 only where everything is done, never falling while parts are done.
// A block without parts has 0 until it is `completed`.
int PerMille(const BlockProgress& block, bool completed);

// Of a job: the mean of its blocks', 1000 only where each has 1000.
int MeanPerMille(const std::vector<int>& per_mille);

}  // namespace vedette::domain
