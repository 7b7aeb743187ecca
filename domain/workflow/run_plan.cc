#include "domain/workflow/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "domain/chunk_plan.h"
#include "domain/workflow/payload.h"

namespace vedette::domain {
namespace {

// Pieces of a file that are open at once, at most.
constexpr int kUnitWindow = 4;

int WindowOf(const BlockType& type, int part_rows, int window_rows) {
  switch (type.work) {
    case BlockWork::kDedupe:
    case BlockWork::kMonitor:
    case BlockWork::kAtEnd:
      return 1;
    case BlockWork::kReadsFile:
      return kUnitWindow;
    case BlockWork::kGiven:
    case BlockWork::kRowFunction:
    case BlockWork::kResearch:
    case BlockWork::kLookup:
      break;
  }
  return std::max(kPartWindowMin, window_rows / part_rows);
}

int PartsOf(const BlockType& type, const RunSource& source) {
  if (type.work == BlockWork::kAtEnd) return 0;
  return type.work == BlockWork::kReadsFile ? source.units.value_or(0) : source.parts;
}

// Throws BindError.
Columns Bind(const DefinedBlock& block, const Columns& input) {
  Columns output = block.type->bind(block.specs, input);
  if (output.size() > kColumnsMax) {
    throw BindError(fmt::format("the block would have {} columns, at most {} are possible",
                                output.size(), kColumnsMax));
  }
  return output;
}

}  // namespace

int PartRowsOf(const Definition& definition, const PlanRules& rules) {
  std::chrono::milliseconds slowest{0};
  for (const DefinedBlock& block : definition.blocks) {
    slowest = std::max(slowest, rules.pace(block));
  }
  if (slowest.count() == 0) return kPartRowsMax;
  return ChunkRowsFor(slowest, rules.part_target, kPartRowsMax);
}

int PartRowsOfMany(std::int64_t rows) {
  return static_cast<int>(
      std::clamp<std::int64_t>((rows + kFilePartsMax - 1) / kFilePartsMax, 1, kPartRowsMax));
}

RunPlan PlanRun(const Definition& definition, const RunSource& source, int part_rows,
                const PlanRules& rules) {
  RunPlan plan;
  for (std::size_t i = 0; i < definition.blocks.size(); ++i) {
    const DefinedBlock& block = definition.blocks[i];
    const PlannedBlock* before =
        block.input ? &plan.blocks[static_cast<std::size_t>(*block.input)] : nullptr;
    PlannedBlock planned;
    planned.type = block.type;
    planned.input = block.input;
    planned.price_mc = rules.price_mc(block);
    planned.pace = rules.pace(block);
    planned.parts_total = PartsOf(*block.type, source);
    planned.part_window = WindowOf(*block.type, part_rows, rules.window_rows);
    planned.bound = {block.id, block.specs, before != nullptr ? before->output : source.columns};
    try {
      if (!plan.fault) planned.output = Bind(block, planned.bound.input);
    } catch (const BindError& error) {
      plan.fault = BindFault{static_cast<int>(i), error.what()};
    }
    plan.estimate_mc += source.rows * planned.price_mc;
    plan.blocks.push_back(std::move(planned));
  }
  if (plan.fault) plan.estimate_mc = 0;  // nothing is worked on
  return plan;
}

}  // namespace vedette::domain
