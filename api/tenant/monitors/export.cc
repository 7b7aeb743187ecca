// The rows of a monitor as a file, with what is known of them now.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/kit/ledger.h"
#include "api/kit/query_reader.h"
#include "api/tenant/handlers.h"
#include "base/json.h"
#include "domain/monitor/current_values.h"
#include "domain/text/csv.h"
#include "store/monitors/rows.h"

namespace vedette::api {
namespace {

// What follows the key columns and the watched fields.
constexpr std::string_view kOwnColumns[] = {"row_id", "is_active", "failing", "last_run_at",
                                            "context"};

// Writes one record for each row, in the order they were added. Each holds a page of rows at a
// time, however many there are.
class ExportWriter {
 public:
  explicit ExportWriter(domain::Monitor monitor)
      : monitor_(std::move(monitor)), watched_(base::ParseJsonOrThrow(monitor_.struct_json)) {}

  bool Write(store::Session& session, std::string* text) {
    if (!std::exchange(begun_, true)) WriteHeader(text);
    while (text->size() < rest::kPieceBytes) {
      const auto page = store::ListRows(session, monitor_.id, after_position_, rest::kPageItemsMax,
                                        rest::kPageBytes);
      for (const domain::Row& row : page.items) {
        WriteRow(row, text);
        after_position_ = row.position;
      }
      if (!page.more) return true;
    }
    return false;
  }

 private:
  void WriteHeader(std::string* text) const {
    std::vector<std::string> columns = monitor_.key_columns;
    for (const auto& [field, description] : watched_.items()) columns.push_back(field);
    // No name stands twice, so that the file can be uploaded.
    for (const std::string_view own : kOwnColumns) {
      std::string column(own);
      while (std::find(columns.begin(), columns.end(), column) != columns.end()) column += '_';
      columns.push_back(std::move(column));
    }
    domain::AppendCsvHeader(columns, domain::Formulas::kDefused, text);
  }

  void WriteRow(const domain::Row& row, std::string* text) const {
    const base::Json subject = base::ParseJsonOrThrow(row.subject_json);
    const auto current = domain::CurrentValuesOf(
        watched_, monitor_.field_versions,
        {row.baseline_json, row.known_json, row.seen_json, row.struct_version});
    std::vector<base::Json> cells;
    for (const std::string& column : monitor_.key_columns) {
      const auto found = subject.find(column);
      cells.push_back(found == subject.end() ? base::Json(nullptr) : *found);
    }
    for (const auto& [field, shown] : current.values.Value().items()) {
      cells.push_back(shown.at("value"));
    }
    cells.emplace_back(row.id.ToString());
    cells.emplace_back(row.is_active);
    cells.emplace_back(row.failing);
    cells.push_back(base::OrNull(row.last_run_at));
    const auto context =
        domain::ContextOf(row.context_json, monitor_.field_versions,
                          [this](std::string_view name) { return watched_.contains(name); });
    cells.push_back(context ? base::ParseJsonOrThrow(*context) : base::Json(nullptr));
    domain::AppendCsvRecord(cells, cells.size(), domain::Formulas::kDefused, text);
  }

  domain::Monitor monitor_;
  base::Json watched_;
  int after_position_ = -1;
  bool begun_ = false;
};

}  // namespace

rest::Handled ExportMonitor(Call& call) {
  auto monitor = FindMonitor(call);
  const std::string name = "monitor-" + monitor.id.ToString() + ".csv";
  const auto writer = std::make_shared<ExportWriter>(std::move(monitor));
  return rest::SendPieces(
      call.parts.pool, call.caller.org_id, call.answer, call.session(),
      [writer](store::Session& session, std::string* text) { return writer->Write(session, text); },
      {{"Content-Type", std::string(rest::kCsvType)},
       {"Content-Disposition", "attachment; filename=\"" + name + "\""}});
}

}  // namespace vedette::api
