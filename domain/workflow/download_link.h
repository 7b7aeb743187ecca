#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"

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
using LinkJudged = std::variant<LinkTaken, LinkRefused>;
// A link that any of the keys has signed, none of whose characters was changed, and that has not
// expired. The signature is compared in constant time.
LinkJudged JudgeLink(const GivenLink& link, const std::vector<std::string>& encryption_keys,
                     base::Timestamp now);

// "<workflow's name>_<sequence number>_<block's name>_<8 of the run's id>.csv", of characters that
// every file system takes.
std::string ResultFileName(std::string_view workflow_name, int sequence_number,
                           std::string_view block_name, const ResultFile& file);

}  // namespace vedette::domain
