#include "admin/run_shapes.h"

#include <cstddef>
#include <utility>

#include "admin/shapes.h"
#include "domain/block_progress.h"
#include "domain/job.h"
#include "domain/money.h"
#include "store/jobs/run_progress.h"

namespace vedette::admin {
namespace {

constexpr double kPerMilleInPercent = 10;

// The block whose rows the block shows as its own.
const store::JobBlockView& RowsOf(const RunShown& shown, std::size_t block) {
  const int rows = domain::RowsOf(shown.graph, static_cast<int>(block));
  return shown.detail.blocks.at(static_cast<std::size_t>(rows));
}

// What the block is called beside what a job's block has.
void AddGraph(const RunShown& shown, std::size_t block, int per_mille, base::Json* json) {
  const domain::ShownBlock& in_graph = shown.graph.blocks.at(block);
  const domain::BlockStatus status = shown.detail.blocks.at(block).status;
  const bool unfinished =
      status == domain::BlockStatus::kPending || status == domain::BlockStatus::kRunning;
  base::Json previous = base::Json::array();
  if (in_graph.input) {
    previous.push_back(shown.graph.blocks.at(static_cast<std::size_t>(*in_graph.input)).id);
  }
  if (unfinished && shown.run.finished_at) (*json)["status"] = "cancelled";
  (*json)["block_id"] = in_graph.id;
  (*json)["type"] = in_graph.name;  // a lookup's own is that of its runner, "row_find_email"
  (*json)["sequence_number"] = in_graph.sequence_number;
  (*json)["previous_block_ids"] = std::move(previous);
  (*json)["progress_percentage"] = per_mille / kPerMilleInPercent;
  (*json)["rows_out"] = RowsOf(shown, block).rows_out;
}

base::Json FilesJson(const RunShown& shown) {
  base::Json files = base::Json::array();
  for (const RunFile& file : shown.files) {
    const auto block = static_cast<std::size_t>(file.block);
    files.push_back({{"block", file.block},
                     {"block_name", shown.graph.blocks.at(block).name},
                     {"rows", shown.detail.blocks.at(block).rows_out},
                     {"filename", file.filename},
                     {"url", TextJson(file.url)}});
  }
  return files;
}

}  // namespace

base::Json RunJson(const store::RunItem& item) {
  const store::RunView& run = item.run;
  return {
      {"id", run.id.ToString()},
      {"workflow_id", run.workflow_id.ToString()},
      {"workflow_name", run.workflow_name},
      {"status", domain::JobStatusName(run.status)},
      {"status_reason", TextJson(run.status_reason)},
      {"error", TextJson(run.error)},
      {"org_id", run.org_id.ToString()},
      {"blocks", item.blocks},
      {"rows_in", item.rows_in},
      {"rows_out", item.rows_out},
      {"row_errors", item.row_errors},
      {"charged", domain::CreditsToJson(run.charged_mc)},
      {"created_at", TimeJson(run.created_at)},
      {"started_at", TimeJson(run.started_at)},
      {"finished_at", TimeJson(run.finished_at)},
  };
}

base::Json RunShownJson(const RunShown& shown) {
  base::Json json = JobDetailJson(shown.detail);
  const std::vector<int> per_mille = store::RunPerMille(shown.graph, shown.detail.blocks);
  for (std::size_t block = 0; block < shown.graph.blocks.size(); ++block) {
    AddGraph(shown, block, per_mille.at(block), &json["blocks"][block]);
  }
  json["workflow_id"] = shown.run.workflow_id.ToString();
  json["workflow_name"] = shown.run.workflow_name;
  json["progress_percentage"] = domain::MeanPerMille(per_mille) / kPerMilleInPercent;
  json["files"] = FilesJson(shown);
  return json;
}

}  // namespace vedette::admin
