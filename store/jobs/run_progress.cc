#include "store/jobs/run_progress.h"

#include <algorithm>
#include <cstddef>

#include "domain/block_progress.h"

namespace vedette::store {
namespace {

constexpr int kWhole = 1000;

}  // namespace

std::vector<int> RunPerMille(const domain::RunGraph& graph,
                             const std::vector<JobBlockView>& blocks) {
  std::vector<domain::BlockRows> rows;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const JobBlockView& block = blocks[i];
    domain::BlockRows& of_block = rows.emplace_back();
    of_block.input = block.input;
    of_block.rows_total = block.rows_total;
    of_block.rows_done = block.rows_done;
    of_block.rows_out = block.rows_out;
    of_block.parts_total = block.parts_total;
    of_block.parts_done = block.parts_done;
    of_block.drops_rows = domain::DropsRows(graph.blocks.at(i));
    of_block.completed = block.status == domain::BlockStatus::kCompleted;
  }
  const std::vector<int> own = domain::PerMille(rows);
  std::vector<int> shown = own;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto of_rows = static_cast<std::size_t>(domain::RowsOf(graph, static_cast<int>(i)));
    if (of_rows != i && !rows[i].completed) shown[i] = std::min(own[of_rows], kWhole - 1);
  }
  return shown;
}

}  // namespace vedette::store
