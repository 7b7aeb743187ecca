#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "domain/text/limits.h"
#include "domain/workflow/block_type.h"

// The records of a run's payload as the parts of its source. Pure; one thread.
namespace vedette::domain {

inline constexpr std::size_t kColumnsMax = 1024;     // of a block's output
inline constexpr std::size_t kRecordsMax = 100'000;  // of a payload
inline constexpr std::size_t kRecordBytesMax = 65'536;
// The limit of a payload in records times columns. A column that one record brings is a null in
// each other row that has a later one, so that a small payload of records with few members each
// would be made large. One of 16 MiB whose cells take 8 bytes each, names included, has no more.
inline constexpr std::size_t kPayloadCellsMax = 2'000'000;
// A part of the payload ends with the record with which it has so many bytes.
inline constexpr std::size_t kPayloadPartBytes = 512 * 1024;

// Rows as they are stored: an array of arrays, cells in the order of the columns. A row that has
// fewer cells than there are columns has null in the others.
struct RowsPart {
  std::string rows_json;
  int row_count = 0;
};

// A record that cannot be a row: an item of a 422. `member` is null where it is the whole record.
struct RecordFault {
  std::string type;
  std::string msg;
  base::Json member = nullptr;
};

// A record that lacks columns which the source's input_schema asks for.
struct MissingColumns {
  std::size_t record = 0;
  std::vector<std::string> columns;
};

class PayloadReader {
 public:
  // `input_schema`: of the source's specs, an object or null; its columns come first. `part_rows`:
  // 1 to kPartRowsMax.
  PayloadReader(const base::Json& input_schema, int part_rows);

  // The next record, as JSON text. What is wrong with it, if anything; it is no row then.
  std::optional<RecordFault> Take(std::string_view record);
  // Whether records times columns are over kPayloadCellsMax with one more record: each is a fault.
  bool full() const { return (records_ + 1) * columns_.size() > kPayloadCellsMax; }

  // After the last record.
  std::vector<RowsPart> Finish();
  // The bytes of the rows that Finish gives.
  std::size_t bytes() const { return bytes_; }
  const Columns& columns() const { return columns_; }
  std::size_t records() const { return records_; }
  // The first record that lacks columns.
  const std::optional<MissingColumns>& missing() const { return missing_; }

 private:
  // A value that a record has. What it lacks is not kept.
  struct Cell {
    std::size_t place;
    std::string text;
  };

  std::optional<RecordFault> Add(const base::Json& record);
  void ValidateRequired(const std::vector<Cell>& cells);
  void AppendRow(const std::vector<Cell>& cells);
  std::optional<std::size_t> PlaceOf(const std::string& name);
  void EndPart();

  std::size_t part_rows_;
  Columns columns_;
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::size_t> required_;  // places
  std::size_t records_ = 0;
  std::optional<MissingColumns> missing_;
  RowsPart part_;
  std::vector<RowsPart> parts_;
  std::size_t bytes_ = 0;
};

// The records of a webhook_input: JSON text of an object or of an array of objects. Nothing where
// it is none.
std::optional<std::vector<std::string>> ReadSample(const std::string& text);

}  // namespace vedette::domain
