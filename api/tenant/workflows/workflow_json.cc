#include "api/tenant/workflows/workflow_json.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/tenant/workflows/workflow_calls.h"
#include "base/clock.h"
#include "base/json.h"
#include "domain/job/block_progress.h"
#include "domain/money/money.h"
#include "domain/workflow/lookup_result.h"
#include "store/jobs/runs.h"

namespace vedette::api {
namespace {

using base::Json;

}  // namespace

Json UserOf(const domain::Principal& caller) {
  if (caller.on_behalf_of) return *caller.on_behalf_of;
  if (caller.kind == domain::PrincipalKind::kUser) return caller.id.ToString();
  return nullptr;
}

Json WorkflowItem(const store::Workflow& workflow) {
  return {{"id", workflow.id.ToString()},
          {"user_uuid", UserOf(workflow.caller)},
          {"org_id", workflow.org_id.ToString()},
          {"name", workflow.name},
          {"description", workflow.description},
          {"status", "active"},
          {"step", "completed"},
          {"created_at", base::FormatTimestamp(workflow.created_at)},
          {"updated_at", base::FormatTimestamp(workflow.updated_at)},
          {"last_run_date", base::OrNull(workflow.last_run_at)}};
}

Json WorkflowJson(const store::Workflow& workflow) {
  Json json = WorkflowItem(workflow);
  json["workflow_definition"] = base::ReadJsonCell(workflow.definition_json);
  return json;
}

Json BlockTypeJson(const domain::BlockType& type, const config::Config& config) {
  const bool is_source = type.category == domain::BlockCategory::kSource;
  Json inputs = Json::array();
  if (type.takes) {
    inputs.push_back(domain::FrameName(*type.takes));
  } else if (!is_source) {
    inputs = Json::array(
        {domain::FrameName(domain::Frame::kLead), domain::FrameName(domain::Frame::kCompany)});
  }
  const auto price_mc = ListPriceMc(config, type);
  return {{"block_name", type.name},
          {"specs_schema", base::ParseJsonOrThrow(type.specs_schema)},
          {"block_type", domain::BlockCategoryName(type.category)},
          {"description", type.description},
          {"input_types", std::move(inputs)},
          {"output_type", type.takes ? Json(domain::FrameName(*type.takes)) : Json(nullptr)},
          {"price", price_mc ? domain::CreditsToJson(*price_mc) : Json(nullptr)}};
}

namespace {

using domain::BlockStatus;
using store::JobBlockView;

// The rows that a block will have to take, from what came through the blocks before it until now;
// empty before anything has. By rows, as the parts of a run need not be of one size.
std::optional<std::int64_t> RowsExpected(const std::vector<JobBlockView>& blocks,
                                         const JobBlockView& block) {
  if (!block.input) return block.rows_total;
  const JobBlockView& input = blocks.at(static_cast<std::size_t>(*block.input));
  if (input.status == BlockStatus::kCompleted) return input.rows_out;
  if (!input.input) return input.rows_total;  // a source drops nothing
  const auto taken = RowsExpected(blocks, input);
  if (!taken || input.parts_done == 0) return std::nullopt;
  return input.rows_done == 0 ? 0 : input.rows_out * *taken / input.rows_done;
}

// A block of a run with what its rows are.
class LiveBlock {
 public:
  LiveBlock(const domain::RunGraph& graph, const std::vector<JobBlockView>& blocks, int number,
            bool run_ended)
      : shown_(graph.blocks.at(static_cast<std::size_t>(number))),
        own_(blocks.at(static_cast<std::size_t>(number))),
        rows_(blocks.at(static_cast<std::size_t>(domain::RowsOf(graph, number)))),
        input_(rows_.input ? &blocks.at(static_cast<std::size_t>(*rows_.input)) : nullptr),
        expected_(RowsExpected(blocks, rows_)),
        run_ended_(run_ended) {}

  bool IsCompleted() const { return own_.status == BlockStatus::kCompleted; }
  bool IsRunning() const { return !run_ended_ && own_.status == BlockStatus::kRunning; }

  Json ToJson(const domain::RunGraph& graph, int per_mille) const {
    Json previous = Json::array();
    if (shown_.input) previous.push_back(graph.blocks[static_cast<std::size_t>(*shown_.input)].id);
    Json step = nullptr;
    if (IsRunning()) step = fmt::format("{} of {} rows", rows_.rows_done, TotalCount());
    return {{"block_id", shown_.id},
            {"block_name", shown_.name},
            {"sequence_number", shown_.sequence_number},
            {"previous_block_ids", std::move(previous)},
            {"status", StatusName()},
            {"started_at", base::OrNull(own_.started_at)},
            {"completed_at", base::OrNull(own_.finished_at)},
            {"progress_percentage", per_mille / domain::kPerMilleInPercent},
            {"current_step", std::move(step)},
            {"processed_count", rows_.rows_done},
            {"total_count", TotalCount()},
            {"estimated_total_count", EstimatedTotal()},
            {"last_updated", base::FormatTimestamp(own_.updated_at)},
            {"error_message", base::OrNull(own_.error)},
            {"metrics",
             {{"row_count", rows_.rows_out},
              {"dataframe_type", graph.frame},
              {"processed_count", rows_.rows_done},
              {"total_count", TotalCount()}}}};
  }

 private:
  std::string_view StatusName() const {
    const bool unfinished =
        own_.status == BlockStatus::kPending || own_.status == BlockStatus::kRunning;
    return run_ended_ && unfinished ? "cancelled" : domain::BlockStatusName(own_.status);
  }

  // Rows of its input so far.
  std::int64_t TotalCount() const {
    return input_ == nullptr ? rows_.rows_total.value_or(rows_.rows_out) : input_->rows_out;
  }

  Json EstimatedTotal() const {
    if (input_ == nullptr || input_->status == BlockStatus::kCompleted) return TotalCount();
    return input_->parts_done == 0 ? Json(nullptr) : base::OrNull(expected_);
  }

  const domain::ShownBlock& shown_;
  const JobBlockView& own_;
  const JobBlockView& rows_;   // the block whose rows it shows: itself, or its input
  const JobBlockView* input_;  // of that block; null: it is a source
  const std::optional<std::int64_t> expected_;
  const bool run_ended_;
};

}  // namespace

Json RunItemJson(const store::RunItem& item, double cents_per_credit, base::Timestamp now) {
  const store::RunView& run = item.run;
  Json metrics = nullptr;
  if (run.status != domain::JobStatus::kQueued) {
    metrics = {{"rows_in", item.rows_in},
               {"rows_out", item.rows_out},
               {"row_errors", item.row_errors},
               {"charge_amount", domain::CentsOf(run.charged_mc, cents_per_credit)}};
  }
  Json duration = nullptr;
  if (run.started_at) {
    const base::Timestamp until = std::max(run.finished_at.value_or(now), *run.started_at);
    duration =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - *run.started_at).count();
  }
  const base::Timestamp changed = run.finished_at.value_or(run.started_at.value_or(run.created_at));
  return {{"job_id", run.id.ToString()},
          {"workflow_id", run.workflow_id.ToString()},
          {"workflow_name", run.workflow_name},
          {"schedule_id", base::OrNull(run.schedule_id)},
          {"scheduled_at", base::OrNull(run.scheduled_at)},
          {"status", domain::JobStatusName(domain::RunStatus(run.status))},
          {"step", nullptr},
          {"user_id", UserOf(run.caller)},
          {"created_at", base::FormatTimestamp(run.created_at)},
          {"updated_at", base::FormatTimestamp(changed)},
          {"queued_at", base::FormatTimestamp(run.created_at)},
          {"started_at", base::OrNull(run.started_at)},
          {"completed_at", base::OrNull(run.finished_at)},
          {"duration_ms", std::move(duration)},
          {"status_reason", base::OrNull(run.status_reason)},
          {"error_message", base::OrNull(run.error)},
          {"metrics", std::move(metrics)},
          {"blocks", nullptr},
          {"blocks_count", item.blocks}};
}

Json LiveStatusJson(const store::RunView& run, const domain::RunGraph& graph,
                    const std::vector<JobBlockView>& blocks) {
  Json shown = Json::array();
  const std::vector<int> per_mille = store::RunPerMille(graph, blocks);
  Json current = nullptr;
  Json current_sequence = nullptr;
  Json blocked_by = nullptr;
  int completed = 0;
  base::Timestamp updated = run.finished_at.value_or(run.created_at);
  for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
    const LiveBlock block(graph, blocks, static_cast<int>(i), run.finished_at.has_value());
    if (block.IsCompleted()) ++completed;
    if (block.IsRunning()) {
      current = graph.blocks[i].id;
      current_sequence = graph.blocks[i].sequence_number;
    }
    if (blocked_by.is_null() && domain::DropsRows(graph.blocks[i]) && !block.IsCompleted()) {
      blocked_by = graph.blocks[i].id;
    }
    updated = std::max(updated, blocks[i].updated_at);
    shown.push_back(block.ToJson(graph, per_mille.at(i)));
  }
  return {
      {"run_id", run.id.ToString()},
      {"workflow_id", run.workflow_id.ToString()},
      {"schedule_id", base::OrNull(run.schedule_id)},
      {"scheduled_at", base::OrNull(run.scheduled_at)},
      {"overall_status", domain::JobStatusName(domain::RunStatus(run.status))},
      {"status_reason", base::OrNull(run.status_reason)},
      {"waiting_until", base::OrNull(run.waiting_until)},
      {"error_message", base::OrNull(run.error)},
      {"current_block", std::move(current)},
      {"current_block_sequence", std::move(current_sequence)},
      {"total_blocks", graph.blocks.size()},
      {"completed_blocks", completed},
      {"started_at", base::OrNull(run.started_at)},
      {"completed_at", base::OrNull(run.finished_at)},
      {"last_updated", base::FormatTimestamp(updated)},
      {"overall_progress_percentage", domain::MeanPerMille(per_mille) / domain::kPerMilleInPercent},
      {"estimation_blocked_by", std::move(blocked_by)},
      {"blocks", std::move(shown)}};
}

}  // namespace vedette::api
