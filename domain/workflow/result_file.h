#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/json_rows.h"
#include "base/uuid.h"
#include "domain/text/csv.h"
#include "domain/workflow/block_type.h"

// Links by which a result file of a run is read without a credential, for a quarter of an hour.
// Pure.
//
//   /storage/download/{run_id}/{block}.{csv|ndjson}?expires=<unix seconds>&signature=<43 base64url>
//
// The signature is the HMAC-SHA256 of "v1\n<run_id>\n<block>\n<format>\n<expires>" with a key that
// is made of the operator's encryption key for this use alone.
namespace vedette::domain {

inline constexpr std::chrono::seconds kDownloadLifetime{900};

enum class ResultFormat { kCsv, kNdjson };
std::string_view ResultFormatName(ResultFormat format);   // "csv", "ndjson"
std::string_view ResultContentType(ResultFormat format);  // with its charset

struct ResultFile {
  base::Uuid run_id;
  int block = 0;
  ResultFormat format = ResultFormat::kCsv;

  friend bool operator==(const ResultFile&, const ResultFile&) = default;
};

// Path and query of a link that holds until `expires`, in whole seconds.
std::string DownloadPath(const ResultFile& file, base::Timestamp expires,
                         std::string_view encryption_key);

// What a link asks for, as the request has it.
struct GivenLink {
  std::string run_id;
  std::string file;  // "3.csv"
  std::optional<std::string> expires;
  std::optional<std::string> signature;
};
struct LinkTaken {
  ResultFile file;

  friend bool operator==(const LinkTaken&, const LinkTaken&) = default;
};
enum class LinkRefused { kInvalid, kExpired };
using LinkCheck = std::variant<LinkTaken, LinkRefused>;
// A link that any of the keys has signed, none of whose characters was changed, and that has not
// expired. The signature is compared in constant time.
LinkCheck VerifyLink(const GivenLink& link, const std::vector<std::string>& encryption_keys,
                     base::Timestamp now);

// "<workflow's name>_<sequence number>_<block's name>_<8 of the run's id>.csv", of characters that
// every file system takes.
std::string ResultFileName(std::string_view workflow_name, int sequence_number,
                           std::string_view block_name, const ResultFile& file);

// The text of a result file, made of the rows of stored parts. Pure; one thread at a time.

// Writes part after part in stretches of bounded length: a row of ndjson repeats the names of all
// columns, which alone may be a megabyte.
class ResultText {
 public:
  ResultText(ResultFormat format, Columns columns, Formulas formulas)
      : format_(format), columns_(std::move(columns)), formulas_(formulas) {}

  // What stands before the rows.
  void AppendHead(std::string* out) const;

  // The rows that come next: a part from its beginning, or the part before once more, from the
  // place where it was left. `rows_json` must outlive the calls of Append.
  void Begin(std::string_view rows_json);
  void Resume(std::string_view rows_json);
  // Appends rows of the part until `out` has `bytes`, and ends within a cell of ndjson or a record
  // of CSV behind that. True: the part is over. Throws std::invalid_argument for what is no part.
  bool Append(std::size_t bytes, std::string* out);
  // Whole rows of all parts so far.
  std::int64_t rows_written() const { return rows_written_; }

 private:
  bool NextRow();
  // False: the row goes on.
  bool AppendObject(std::size_t bytes, std::string* out);

  ResultFormat format_;
  Columns columns_;
  Formulas formulas_;
  std::optional<base::RowReader> rows_;  // of the part
  std::size_t taken_ = 0;                // rows of it
  base::CellTexts row_;                  // the last of them
  std::size_t at_ = 0;                   // its next column; 0: it was written
  std::int64_t rows_written_ = 0;
};

}  // namespace vedette::domain
