#pragma once

#include <chrono>
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

// What is known of the rows of a block.
struct BlockRows {
  std::optional<int> input;
  std::optional<std::int64_t> rows_total;  // of a source, where it is known
  std::int64_t rows_done = 0;              // of its input, that were recorded
  std::int64_t rows_out = 0;               // of its output
  int parts_total = 0;
  int parts_done = 0;
  bool drops_rows = false;
  bool completed = false;
};

inline constexpr int kPerMilleWhole = 1000;
inline constexpr double kPerMilleInPercent = 10;  // which clients are shown

// How far each block has come, in tenths of a per cent: kPerMilleWhole only where it is completed,
// and never falling. It is the rows that were recorded out of those that can come to it: its
// source's, less what blocks between them have dropped so far; or parts, where that is not known or
// nothing can come. `blocks` are in their order, inputs first.
std::vector<int> PerMille(const std::vector<BlockRows>& blocks);

// The progress of a job: the mean of its blocks', kPerMilleWhole only where each has it.
int MeanPerMille(const std::vector<int>& per_mille);

// How long a row of a block takes, as far as that is known when a run is cut into parts. Pure.

// Rows that were worked from start to end without an error, and how long they took together.
struct RowsTimed {
  std::int64_t rows = 0;
  std::chrono::microseconds took{};
};

// So many rows a guess counts for.
inline constexpr int kPaceGuessRows = 8;

// The mean of what was measured and of a guess that counts for kPaceGuessRows rows: where nothing
// was measured it is the guess, and a few quick rows do not make large parts yet. Rounded up to
// milliseconds. Requires rows and a duration that are not negative.
std::chrono::milliseconds PaceOf(const RowsTimed& measured, std::chrono::milliseconds guess);

}  // namespace vedette::domain
