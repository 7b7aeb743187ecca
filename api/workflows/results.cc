#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "api/handlers.h"
#include "api/workflows/public_address.h"
#include "config/security_config.h"
#include "domain/csv_writer.h"
#include "domain/workflow/download_link.h"
#include "domain/workflow/part_rows.h"
#include "domain/workflow/run_graph.h"
#include "rest/query_reader.h"
#include "store/jobs/read.h"
#include "store/jobs/runs.h"

// The result files of runs: links to them, and what the links give. No file is stored: it is
// written while it is read, part by part.
namespace vedette::api {
namespace {

using base::Json;
using domain::BlockStatus;
using domain::ResultFormat;

enum class Which { kResults, kAllBlocks };

// Of one read of the database while a file is written.
constexpr std::size_t kReadBytesMax = std::size_t{1} << 20;
constexpr int kReadPartsMax = 16;

// The blocks whose rows are offered, each once, in the order of their numbers.
std::set<int> OfferedBlocks(const store::RunView& run, const domain::RunGraph& graph,
                            const std::vector<store::JobBlockView>& blocks, Which which) {
  std::set<int> offered;
  const auto has_rows = [&](int block) {
    return blocks[static_cast<std::size_t>(block)].rows_out > 0;
  };
  if (run.status == domain::JobStatus::kCompleted && which == Which::kResults) {
    for (const int leaf : domain::LeavesOf(graph)) offered.insert(domain::RowsOf(graph, leaf));
    return offered;
  }
  // The rows of a cancelled run's source go soon after it.
  const bool cancelled = domain::RunStatus(run.status) == domain::JobStatus::kCancelled;
  for (int block = cancelled ? 1 : 0; block < static_cast<int>(blocks.size()); ++block) {
    if (domain::RowsOf(graph, block) != block) continue;
    const auto status = blocks[static_cast<std::size_t>(block)].status;
    const bool take = which == Which::kAllBlocks ? has_rows(block)
                      : run.finished_at          ? has_rows(block) && block != 0
                                                 : status == BlockStatus::kCompleted;
    if (take) offered.insert(block);
  }
  return offered;
}

Json LinkJson(const Call& call, const store::RunView& run, const domain::RunGraph& graph,
              const store::JobBlockView& block, ResultFormat format) {
  const auto& shown = graph.blocks[static_cast<std::size_t>(block.block)];
  const domain::ResultFile file{run.id, block.block, format};
  const base::Timestamp expires = call.parts.clock.Now() + domain::kDownloadLifetime;
  const bool partial = run.finished_at && run.status != domain::JobStatus::kCompleted;
  const auto created = block.finished_at ? block.finished_at : run.finished_at;
  return {{"filename",
           domain::ResultFileName(run.workflow_name, shown.sequence_number, shown.name, file)},
          {"download_url",
           PublicAddress(call.parts.config, call.request()) +
               domain::DownloadPath(file, expires, call.parts.config.security.encryption_key)},
          {"download_expires_in_seconds", domain::kDownloadLifetime.count()},
          {"content_type", domain::ResultContentType(format)},
          {"row_count", block.rows_out},
          {"block_number", shown.sequence_number},
          {"block_name", shown.name},
          {"created_at", created ? Json(base::FormatTimestamp(*created)) : Json(nullptr)},
          {"message", partial ? Json("partial") : Json(nullptr)},
          {"storage_bucket", "vedette"},
          {"file_size", nullptr},
          {"results", nullptr}};
}

// Writes one file. A PieceSource, shared by its copies.
class FileSource {
 public:
  FileSource(const domain::ResultFile& file, domain::Columns columns, domain::Formulas formulas)
      : state_(std::make_shared<State>(State{file, std::move(columns), formulas})) {}

  bool operator()(store::Session& session, std::string* text) {
    State& s = *state_;
    if (!std::exchange(s.begun, true) && s.file.format == ResultFormat::kCsv) {
      domain::AppendCsvHeader(s.columns, s.formulas, text);
    }
    while (text->size() < rest::kPieceBytes) {
      const auto parts = store::ReadRunParts(session, s.file.run_id, s.file.block, s.next_part,
                                             kReadBytesMax, kReadPartsMax);
      if (parts.empty()) return true;
      for (const store::RunPart& part : parts) Append(s, part, text);
      s.next_part = parts.back().part + 1;
    }
    return false;
  }

 private:
  struct State {
    domain::ResultFile file;
    domain::Columns columns;
    domain::Formulas formulas;
    int next_part = 0;
    bool begun = false;
  };

  static void Append(const State& s, const store::RunPart& part, std::string* text) {
    domain::ForEachRow(part.rows_json, s.columns.size(), [&](const base::CellTexts& row) {
      if (s.file.format == ResultFormat::kCsv) {
        domain::AppendCsvTexts(row, s.columns.size(), s.formulas, text);
      } else {
        domain::AppendRowObject(s.columns, row, text);
        text->push_back('\n');
      }
    });
  }

  std::shared_ptr<State> state_;
};

rest::Reply RefusedLink(const Call& call, domain::LinkRefused why) {
  call.parts.metrics.AddDownload(why == domain::LinkRefused::kExpired ? "expired" : "invalid");
  return why == domain::LinkRefused::kExpired
             ? rest::ErrorReply(403, "link_expired",
                                "the link has expired: ask for the run's download links again")
             : rest::ErrorReply(403, "invalid_link", "the link is not one that was given out");
}

domain::LinkJudged JudgeRequest(const Call& call) {
  const config::SecurityConfig& security = call.parts.config.security;
  std::vector<std::string> keys = security.encryption_keys_old;
  keys.insert(keys.begin(), security.encryption_key);
  rest::Problems problems;
  const rest::QueryReader query(call.request().query, &problems);
  if (problems.any()) return domain::LinkRefused::kInvalid;
  return domain::JudgeLink({call.path_params.at(0), call.path_params.at(1), query.Text("expires"),
                            query.Text("signature")},
                           keys, call.parts.clock.Now());
}

}  // namespace

rest::Handled ListDownloadLinks(Call& call) {
  const auto id = base::Uuid::Parse(call.path_params.at(0));
  const auto run = id ? store::GetRun(call.session, call.caller.org_id, *id) : std::nullopt;
  if (!run) return rest::NotFound("run");
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const std::string format = query.Text("format").value_or("csv");
  if (format != "csv" && format != "json" && format != "ndjson") {
    query.Refuse("format", "enum", "Input should be csv, json or ndjson");
  }
  const auto which = query.Text("blocks");
  if (which && *which != "all") query.Refuse("blocks", "literal_error", "Input should be all");
  query.Finish();
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  const auto blocks = store::ReadJobBlocks(call.session, *id);
  const domain::RunGraph graph = domain::ReadRunGraph(run->params_json);
  if (blocks.size() != graph.blocks.size()) return rest::NotFound("run");  // just forgotten
  std::vector<int> offered;
  for (const int block :
       OfferedBlocks(run->run, graph, blocks, which ? Which::kAllBlocks : Which::kResults)) {
    offered.push_back(block);
  }
  std::sort(offered.begin(), offered.end(), [&](int a, int b) {
    return graph.blocks[static_cast<std::size_t>(a)].sequence_number <
           graph.blocks[static_cast<std::size_t>(b)].sequence_number;
  });
  Json links = Json::array();
  for (const int block : offered) {
    links.push_back(LinkJson(call, run->run, graph, blocks[static_cast<std::size_t>(block)],
                             format == "csv" ? ResultFormat::kCsv : ResultFormat::kNdjson));
  }
  return rest::JsonReply(200, links);
}

rest::Handled DownloadResult(Call& call) {
  const domain::LinkJudged judged = JudgeRequest(call);
  if (const auto* why = std::get_if<domain::LinkRefused>(&judged)) return RefusedLink(call, *why);
  const domain::ResultFile file = std::get<domain::LinkTaken>(judged).file;
  const auto run = store::GetRun(call.session, std::nullopt, file.run_id);
  auto columns = store::ReadRunColumns(call.session, file.run_id, file.block);
  if (!run || !columns) return rest::NotFound("file");
  const domain::RunGraph graph = domain::ReadRunGraph(run->params_json);
  const auto blocks = store::ReadJobBlocks(call.session, file.run_id);
  if (file.block >= static_cast<int>(std::min(blocks.size(), graph.blocks.size()))) {
    return rest::NotFound("file");
  }
  const store::JobBlockView& block = blocks[static_cast<std::size_t>(file.block)];
  const bool kept = block.rows_out == 0 ||
                    !store::ReadRunParts(call.session, file.run_id, file.block, 0, 1, 1).empty();
  if (!kept) {
    call.parts.metrics.AddDownload("gone");
    return rest::ErrorReply(404, "not_found", "the rows of the run were kept for their time");
  }
  const auto& shown = graph.blocks[static_cast<std::size_t>(file.block)];
  const std::string name =
      domain::ResultFileName(run->run.workflow_name, shown.sequence_number, shown.name, file);
  call.parts.metrics.AddDownload("begun");
  const auto formulas = call.parts.config.workflows.csv_formula_guard
                            ? domain::Formulas::kDefused
                            : domain::Formulas::kAsTheyAre;
  return rest::SendPieces(call.parts.pool, run->run.org_id, call.answer, call.session,
                          FileSource(file, std::move(*columns), formulas),
                          {{"Content-Type", std::string(domain::ResultContentType(file.format))},
                           {"Content-Disposition", "attachment; filename=\"" + name + "\""},
                           {"Cache-Control", "private, no-store"},
                           {"Referrer-Policy", "no-referrer"},
                           {"X-Content-Type-Options", "nosniff"}});
}

}  // namespace vedette::api
