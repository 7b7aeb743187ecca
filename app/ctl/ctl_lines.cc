#include "app/ctl/ctl_lines.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "base/text.h"
#include "base/uuid.h"
#include "domain/search/document.h"

namespace vedette::app {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{4} << 20;
constexpr int kTriesMax = 5;

// Reads a file line by line, and knows where it is.
class LineReader {
 public:
  explicit LineReader(std::istream& file) : file_(file) {}

  std::int64_t at() const { return at_; }  // lines read
  bool AtEnd() { return file_.peek() == std::istream::traits_type::eof(); }

  base::Json ReadBatch() {
    base::Json lines = base::Json::array();
    std::size_t bytes = 0;
    std::string line;
    while (lines.size() < domain::search::kImportBatchLinesMax && bytes < kBatchBytes &&
           std::getline(file_, line)) {
      if (!base::IsValidUtf8(line)) {
        throw RequestFailed(400, fmt::format("line {} of the file is not UTF-8", at_ + 1));
      }
      bytes += line.size();
      lines.push_back(line);
      ++at_;
    }
    return lines;
  }

  void SkipTo(std::int64_t line) {
    std::string skipped;
    while (at_ < line && std::getline(file_, skipped)) ++at_;
  }

 private:
  std::istream& file_;
  std::int64_t at_ = 0;
};

JsonClient::Answer CallAgain(const CallWithBody& call, const base::Json& body) {
  for (int tries = 1;; ++tries) {
    try {
      JsonClient::Answer answer = call(body);
      if (answer.status != 503 || tries == kTriesMax) return answer;
    } catch (const RequestFailed& failure) {
      if (failure.status() != 0 || tries == kTriesMax) throw;
    }
  }
}

// A state that only a further call changes.
bool IsCounting(const JsonClient::Answer& answer) {
  return answer.body.value("state", "") == "counting";
}

}  // namespace

JsonClient::Answer SendLines(const CallWithBody& call, base::Json body, std::istream& file) {
  if (!body.contains("import_id")) {
    body["import_id"] = base::Uuid::V4().ToString();
    fmt::print(stderr, "import {}\n", body["import_id"].get<std::string>());
  }
  LineReader reader(file);
  for (;;) {
    body["first_line"] = reader.at();
    body["lines"] = reader.ReadBatch();
    const bool is_last = reader.AtEnd();
    if (is_last) body["last"] = true;
    JsonClient::Answer answer = CallAgain(call, body);
    if (answer.status != 200 || !answer.body.is_object()) return answer;
    const auto lines = answer.body.value("lines", std::int64_t{0});
    if (lines < reader.at()) {
      throw RequestFailed(answer.status, "the server has fewer lines than were sent");
    }
    if (lines > reader.at() && !is_last) {
      reader.SkipTo(lines);
      continue;
    }
    if (!is_last) continue;
    body["first_line"] = reader.at();
    body["lines"] = base::Json::array();
    while (answer.status == 200 && IsCounting(answer)) answer = CallAgain(call, body);
    return answer;
  }
}

}  // namespace vedette::app
