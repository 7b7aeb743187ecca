#include "worker/jobs/part_rows.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/json_rows.h"

namespace vedette::worker {
namespace {

using Microseconds = std::chrono::microseconds;

// Numbers are written as they were read.
base::Json Parse(std::string_view text) {
  base::JsonLimits limits;
  limits.keep_numbers = true;
  base::Json json;
  if (const auto error = base::ParseJson(text, &json, limits)) {
    throw std::invalid_argument(error->message);
  }
  return json;
}

Cells ToCells(const base::Json& row) {
  Cells cells;
  cells.reserve(row.size());
  for (const base::Json& cell : row) cells.push_back(base::DumpJson(cell));
  return cells;
}

// The rows of an input part. A row that its job's end left without an output is null.
std::vector<JobRow> FromInput(const std::string& rows_json) {
  std::vector<JobRow> rows;
  base::ForEachRow(rows_json, [&rows](const base::CellTexts& cells) {
    rows.emplace_back().cells.assign(cells.begin(), cells.end());
  });
  return rows;
}

// The part's share of the rows that the request gave. Each keeps the text that it has there.
std::vector<JobRow> FromParams(const store::JobSpec& job, int part) {
  const auto part_rows = static_cast<std::size_t>(job.part_rows);
  const std::size_t first = static_cast<std::size_t>(part) * part_rows;
  base::Json rest;
  std::optional<base::JsonElements> elements;
  if (const auto error = base::ParseJsonApart(job.params_json, "rows", first + part_rows, &rest,
                                              &elements, base::JsonLimits{})) {
    throw std::invalid_argument(error->message);
  }
  if (!elements) throw std::invalid_argument("the params have no rows");
  std::vector<JobRow> rows;
  for (std::size_t i = first; i < elements->texts.size(); ++i) {
    rows.emplace_back().cells.emplace_back(elements->texts[i]);
  }
  return rows;
}

void ApplyEnded(const base::Json& ended, std::vector<JobRow>* rows) {
  const std::size_t n = std::min(ended.size(), rows->size());
  for (std::size_t i = 0; i < n; ++i) {
    if (!ended[i].is_array()) continue;
    (*rows)[i].state = JobRow::State::kEnded;
    (*rows)[i].output = std::make_shared<const Cells>(ToCells(ended[i]));
  }
}

void ApplyLater(const base::Json& later, base::Timestamp now, std::vector<JobRow>* rows) {
  for (const auto& [key, wait] : later.items()) {
    const std::size_t index = std::stoul(key);
    if (index >= rows->size()) throw std::out_of_range("a row beyond the part");
    JobRow& row = (*rows)[index];
    if (row.state == JobRow::State::kEnded) continue;
    row.not_before = base::Timestamp(Microseconds(wait.at("at_us").get<std::int64_t>()));
    if (const auto memo = wait.find("memo"); memo != wait.end()) row.memo = base::DumpJson(*memo);
    row.why = static_cast<domain::JobWait>(wait.value("for", 0));
    row.state = row.not_before > now ? JobRow::State::kLater : JobRow::State::kWaiting;
  }
}

void AppendCells(const Cells& cells, std::string* out) {
  out->push_back('[');
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out->push_back(',');
    out->append(cells[i]);
  }
  out->push_back(']');
}

std::string WriteRows(const std::vector<RowRecord>& rows) {
  std::string out = "[";
  for (const RowRecord& row : rows) {
    if (out.size() > 1) out.push_back(',');
    if (row.output) {
      AppendCells(*row.output, &out);
    } else {
      out.append("null");
    }
  }
  out.push_back(']');
  return out;
}

}  // namespace

std::variant<std::vector<JobRow>, UnreadablePart> ReadPart(const store::ClaimedJobChunk& chunk,
                                                           const store::JobSpec& job,
                                                           base::Timestamp now) {
  try {
    std::vector<JobRow> rows =
        chunk.rows_json ? FromInput(*chunk.rows_json) : FromParams(job, chunk.part);
    if (chunk.done_json) {
      const base::Json done = Parse(*chunk.done_json);
      ApplyEnded(done.at("rows"), &rows);
      if (const auto later = done.find("later"); later != done.end()) {
        ApplyLater(*later, now, &rows);
      }
    }
    return rows;
  } catch (const std::exception&) {
    // The message may quote the rows, which are personal.
    return UnreadablePart{"the rows of a part could not be read"};
  }
}

std::string WriteOutput(const std::vector<RowRecord>& rows) {
  return WriteRows(rows);
}

std::string WriteDone(const std::vector<RowRecord>& rows) {
  std::string later;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowRecord& row = rows[i];
    if (row.output || row.not_before == base::Timestamp{}) continue;
    if (!later.empty()) later.push_back(',');
    const auto at = row.not_before.time_since_epoch().count();
    later += "\"" + std::to_string(i) + "\":{\"at_us\":" + std::to_string(at);
    if (row.why != domain::JobWait::kUntold) {
      later += ",\"for\":" + std::to_string(static_cast<int>(row.why));
    }
    if (!row.memo.empty()) later += ",\"memo\":" + row.memo;
    later.push_back('}');
  }
  return "{\"rows\":" + WriteRows(rows) + ",\"later\":{" + later + "}}";
}

}  // namespace vedette::worker
