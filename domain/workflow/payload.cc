#include "domain/workflow/payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "domain/workflow/cells.h"

namespace vedette::domain {
namespace {

using base::Json;

// A cell stands inside a row, a part and an answer.
constexpr int kRecordDepthMax = 60;

base::JsonLimits Limits() {
  base::JsonLimits limits;
  limits.depth_max = kRecordDepthMax;
  limits.keep_numbers = true;
  return limits;
}

bool IsRequired(const Json& schema) {
  const auto required = schema.find("required");
  return required == schema.end() || *required != false;
}

}  // namespace

PayloadReader::PayloadReader(const Json& input_schema, int part_rows)
    : part_rows_(static_cast<std::size_t>(part_rows)) {
  if (!input_schema.is_object()) return;
  for (const auto& [name, schema] : input_schema.items()) {
    const auto place = PlaceOf(name);
    if (place && IsRequired(schema)) required_.push_back(*place);
  }
}

std::optional<std::size_t> PayloadReader::PlaceOf(const std::string& name) {
  const auto known = places_.find(name);
  if (known != places_.end()) return known->second;
  if (columns_.size() == kColumnsMax) return std::nullopt;
  places_.emplace(name, columns_.size());
  columns_.push_back(name);
  return columns_.size() - 1;
}

std::optional<RecordFault> PayloadReader::Take(std::string_view record) {
  if (record.size() > kRecordBytesMax) {
    return RecordFault{"too_long", fmt::format("A record should have at most {} bytes, has {}",
                                               kRecordBytesMax, record.size())};
  }
  Json parsed;
  const auto error = base::ParseJson(record, &parsed, Limits());
  if (error) {
    const bool wide = error->kind == base::JsonError::Kind::kTooManyMembers;
    return RecordFault{wide ? "too_long" : "value_error", "Input is refused: " + error->message};
  }
  if (!parsed.is_object()) return RecordFault{"dict_type", "Input should be an object"};
  return Add(parsed);
}

std::optional<RecordFault> PayloadReader::Add(const Json& record) {
  std::vector<Cell> cells;
  cells.reserve(record.size());
  for (const auto& [name, value] : record.items()) {
    const std::size_t chars = base::CountCharacters(name);
    if (chars == 0 || chars > kColumnCharsMax) {
      return RecordFault{chars == 0 ? "string_too_short" : "string_too_long",
                         "The name of a column has 1 to 200 characters", name};
    }
    const auto place = PlaceOf(name);
    if (!place) {
      return RecordFault{"too_long", fmt::format("Records have at most {} columns", kColumnsMax),
                         name};
    }
    cells.push_back({*place, base::DumpJson(value)});
  }
  if (full()) {
    return RecordFault{
        "too_long", fmt::format("Records times columns should be at most {}; with this one there "
                                "are {} records of {} columns: upload a file",
                                kPayloadCellsMax, records_ + 1, columns_.size())};
  }
  std::sort(cells.begin(), cells.end(),
            [](const Cell& a, const Cell& b) { return a.place < b.place; });
  ValidateRequired(cells);
  ++records_;
  AppendRow(cells);
  return std::nullopt;
}

void PayloadReader::ValidateRequired(const std::vector<Cell>& cells) {
  if (missing_) return;
  std::vector<std::string> columns;
  for (const std::size_t place : required_) {
    const auto found =
        std::lower_bound(cells.begin(), cells.end(), place,
                         [](const Cell& cell, std::size_t at) { return cell.place < at; });
    if (found == cells.end() || found->place != place) columns.push_back(columns_[place]);
  }
  if (!columns.empty()) missing_ = MissingColumns{records_, std::move(columns)};
}

// Up to the last cell that is not null.
void PayloadReader::AppendRow(const std::vector<Cell>& cells) {
  std::string& text = part_.rows_json;
  const std::size_t before = text.size();
  text += part_.row_count == 0 ? "[[" : ",[";
  std::size_t written = 0;
  for (const Cell& cell : cells) {
    if (cell.text == kNullCell) continue;
    for (; written < cell.place; ++written) text.append(kNullCell).push_back(',');
    text.append(cell.text).push_back(',');
    ++written;
  }
  if (written > 0) text.pop_back();
  text += ']';
  bytes_ += text.size() - before;
  ++part_.row_count;
  if (static_cast<std::size_t>(part_.row_count) == part_rows_ || text.size() >= kPayloadPartBytes) {
    EndPart();
  }
}

void PayloadReader::EndPart() {
  part_.rows_json += ']';
  parts_.push_back(std::exchange(part_, {}));
}

std::vector<RowsPart> PayloadReader::Finish() {
  if (part_.row_count > 0) EndPart();
  bytes_ = 0;
  return std::exchange(parts_, {});
}

std::optional<std::vector<std::string>> ReadSample(const std::string& text) {
  Json sample;
  base::JsonLimits limits = Limits();
  ++limits.depth_max;  // of the array
  if (base::ParseJson(text, &sample, limits)) return std::nullopt;
  if (sample.is_object()) sample = Json::array({sample});
  if (!sample.is_array()) return std::nullopt;
  std::vector<std::string> records;
  for (const Json& record : sample) {
    if (!record.is_object()) return std::nullopt;
    records.push_back(base::DumpJson(record));
  }
  return records;
}

}  // namespace vedette::domain
