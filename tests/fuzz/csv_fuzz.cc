// The same records and the same problem whatever pieces the text comes in.
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "domain/text/csv.h"
#include "tests/fuzz/target.h"

namespace vedette {
namespace {

std::string Read(std::string_view text, std::size_t piece_bytes) {
  std::string log;
  domain::CsvReader reader(1, 4096);
  const auto take = [&log, &text](domain::CsvRecord& record) -> std::optional<domain::CsvProblem> {
    if (record.fields.empty() || record.end > text.size()) std::abort();
    log += std::to_string(record.line) + ":" + std::to_string(record.end);
    for (const std::string& field : record.fields) {
      if (!base::IsValidUtf8(field)) std::abort();
      log += "|" + field;
    }
    log += "\n";
    return std::nullopt;
  };
  std::optional<domain::CsvProblem> problem;
  for (std::size_t at = 0; at < text.size() && !problem; at += piece_bytes) {
    problem = reader.Feed(text.substr(at, piece_bytes), take);
  }
  if (!problem) problem = reader.Finish(take);
  if (problem) log += "problem " + std::to_string(problem->line) + problem->message;
  return log;
}

}  // namespace

FUZZ_TARGET(csv, text) {
  const std::string whole = Read(text, text.size() + 1);
  if (Read(text, 1) != whole || Read(text, 3) != whole) std::abort();
}

}  // namespace vedette
