#include "delivery/run_callback.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <stdexcept>

#include "base/json.h"
#include "config/config.h"
#include "domain/workflow/bound_specs.h"
#include "domain/workflow/download_link.h"
#include "domain/workflow/part_rows.h"
#include "domain/workflow/run_graph.h"
#include "store/jobs/read.h"
#include "store/jobs/runs.h"

namespace vedette::delivery {
namespace {

using base::Json;

constexpr std::size_t kReadBytesMax = std::size_t{256} << 10;
constexpr int kReadPartsMax = 16;

// The rows as an array of objects; nothing where that would be longer than `bytes_max`.
std::optional<std::string> InlineRows(store::Session& session, const base::Uuid& run_id, int block,
                                      const domain::Columns& columns, std::size_t bytes_max) {
  std::string text = "[";
  for (int from = 0;;) {
    const auto parts =
        store::ReadRunParts(session, run_id, block, from, kReadBytesMax, kReadPartsMax);
    if (parts.empty()) return text + "]";
    for (const store::RunPart& part : parts) {
      domain::ForEachRow(part.rows_json, columns.size(), [&](const base::CellTexts& row) {
        if (text.size() >= bytes_max) return;
        if (text.size() > 1) text.push_back(',');
        domain::AppendRowObject(columns, row, &text);
      });
      if (text.size() >= bytes_max) return std::nullopt;
    }
    from = parts.back().part + 1;
  }
}

// One notification's run, as it is told.
class Callback {
 public:
  Callback(store::Session& session, const store::RunDetail& detail, int block,
           const config::Config& config)
      : session_(session),
        run_(detail.run),
        graph_(domain::ReadRunGraph(detail.params_json)),
        rows_of_(domain::RowsOf(graph_, block)),
        config_(config) {
    for (const store::JobBlockView& view : store::ReadJobBlocks(session, run_.id)) {
      if (view.block == rows_of_) row_count_ = view.rows_out;
    }
    const auto specs = store::ReadRunBlockSpecs(session, run_.id, block);
    if (!specs) throw std::invalid_argument("the block is not there");
    include_results_ = domain::ReadBoundSpecs(*specs).specs.at("include_results").get<bool>();
  }

  std::string Body(const domain::Notification& n, base::Timestamp now) const {
    const bool completed = run_.status == domain::JobStatus::kCompleted;
    const auto columns = store::ReadRunColumns(session_, run_.id, rows_of_);
    std::optional<std::string> rows;
    const bool wanted = completed && include_results_ && columns;
    if (wanted) {
      rows = InlineRows(session_, run_.id, rows_of_, *columns,
                        std::min(config_.workflows.inline_results_bytes_max,
                                 config_.delivery.body_bytes_max / 2));
    }
    const domain::ResultFile file{run_.id, rows_of_, domain::ResultFormat::kCsv};
    const base::Timestamp expires = now + domain::kDownloadLifetime;
    const bool linked = !config_.public_url.empty() && columns;
    Json body{{"event_id", n.event_group_id.ToString()},
              {"type", domain::EventTypeHeader(n)},
              {"run_id", run_.id.ToString()},
              {"workflow_id", run_.workflow_id.ToString()},
              {"workflow_name", run_.workflow_name},
              {"status", domain::JobStatusName(domain::RunStatus(run_.status))},
              {"row_count", row_count_},
              {"results", nullptr},
              {"results_truncated", wanted && !rows},
              {"results_download_url", nullptr},
              {"results_download_expires_at", nullptr},
              {"created_at", base::FormatTimestamp(n.created_at)}};
    if (linked) {
      body["results_download_url"] =
          config_.public_url + domain::DownloadPath(file, expires, config_.security.encryption_key);
      body["results_download_expires_at"] =
          base::FormatTimestamp(std::chrono::floor<std::chrono::seconds>(expires));
    }
    std::string text = base::DumpJson(body);
    if (!rows) return text;
    // The rows' text goes in as it is: numbers stay as they were written.
    constexpr std::string_view kNoResults = "\"results\":null";
    return text.replace(text.rfind(kNoResults), kNoResults.size(), "\"results\":" + *rows);
  }

 private:
  store::Session& session_;
  const store::RunView& run_;
  const domain::RunGraph graph_;
  const int rows_of_;
  const config::Config& config_;
  std::int64_t row_count_ = 0;
  bool include_results_ = true;
};

}  // namespace

std::map<RunBlock, std::string> RunCallbackBodies(
    store::Session& session, const std::vector<domain::Notification>& notifications,
    const config::Config& config, base::Timestamp now) {
  std::set<base::Uuid> ids;
  for (const auto& n : notifications) ids.insert(std::get<domain::JobNotice>(n.about).job_id);
  const auto runs = store::ReadEndedRuns(session, std::vector<base::Uuid>(ids.begin(), ids.end()));
  std::map<RunBlock, std::string> bodies;
  for (const domain::Notification& n : notifications) {
    const auto& notice = std::get<domain::JobNotice>(n.about);
    const auto run = runs.find(notice.job_id);
    if (run == runs.end()) continue;
    try {
      bodies.emplace(RunBlock{notice.job_id, *notice.block},
                     Callback(session, run->second, *notice.block, config).Body(n, now));
    } catch (const std::logic_error&) {
      continue;  // what is stored cannot be read: the attempt fails, which the operator sees
    } catch (const base::Json::exception&) {
      continue;
    }
  }
  return bodies;
}

}  // namespace vedette::delivery
