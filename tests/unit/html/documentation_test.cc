// The examples of docs/probes.md do what they say.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "domain/monitor/field_description.h"
#include "html/selector.h"

namespace vedette::html {
namespace {

struct Example {
  std::string type;  // of the page: html, xml, json
  std::string page;
  std::string description;
  std::string observes;  // JSON
};

// What stands between backquotes in the n-th cell of a table's line; empty for none.
std::string Cell(const std::string& line, int n) {
  std::string cell;
  int at = -1;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool escaped = line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|';
    if (line[i] == '|') {
      ++at;
    } else if (at == n) {
      if (escaped) ++i;
      cell += line[i];
    } else if (escaped) {
      ++i;
    }
  }
  const auto begin = cell.find('`');
  const auto end = cell.rfind('`');
  return begin == std::string::npos || begin == end ? "" : cell.substr(begin + 1, end - begin - 1);
}

// Under the heading "Examples": a fenced page, and a table of descriptions and values below it.
std::vector<Example> Examples() {
  std::ifstream file(VEDETTE_SOURCE_DIR "/docs/probes.md");
  std::vector<Example> out;
  std::string line;
  std::string type;
  std::string page;
  bool inside = false;
  bool fenced = false;
  while (std::getline(file, line)) {
    if (line.starts_with("#")) inside = line == "### Examples";
    if (!inside) continue;
    if (line.starts_with("```")) {
      fenced = !fenced;
      if (fenced) {
        type = line.substr(3);
        page.clear();
      }
    } else if (fenced) {
      page += line + "\n";
    } else if (line.starts_with("| `")) {
      out.push_back({type, page, Cell(line, 0), Cell(line, 1)});
    }
  }
  return out;
}

TEST(Documentation, EveryExampleObservesWhatItSays) {
  for (const Example& example : Examples()) {
    auto compiled = FieldSet::Compile({{"f", example.description}});
    ASSERT_TRUE(std::holds_alternative<FieldSet>(compiled))
        << example.description << ": " << std::get<domain::Failure>(compiled).message;
    const std::map<std::string, std::string> types{
        {"json", "application/json"}, {"xml", "application/xml"}, {"html", "text/html"}};
    const std::string& type = types.at(example.type);
    ExtractionStop stop;
    const auto result = std::get<FieldSet>(compiled).Extract(
        {example.page, type, "https://shop.example/mugs/blue"}, stop);
    ASSERT_TRUE(std::holds_alternative<domain::Observation>(result))
        << example.description << ": " << std::get<domain::Failure>(result).message;
    EXPECT_EQ(std::get<domain::Observation>(result).fields.at("f").value.Value().dump(),
              example.observes)
        << example.description;
  }
}

TEST(Documentation, EveryPrefixAndFilterHasAnExample) {
  using Kind = domain::FieldDescription::Kind;
  std::set<Kind> kinds;
  std::set<std::string> words;
  for (const Example& example : Examples()) {
    const auto parsed = domain::ParseFieldDescription(example.description);
    kinds.insert(parsed.kind);
    words.insert(parsed.filters.begin(), parsed.filters.end());
    if (!parsed.attribute.empty()) words.insert("@");
  }
  EXPECT_EQ(kinds, (std::set<Kind>{Kind::kCss, Kind::kXPath, Kind::kJson, Kind::kJsonLd,
                                   Kind::kRegex, Kind::kMeta, Kind::kText}));
  EXPECT_EQ(words, (std::set<std::string>{"@", "first", "all", "count", "text", "lines", "number",
                                          "hash"}));
}

}  // namespace
}  // namespace vedette::html
