#include "base/json.h"
#include "domain/text/csv.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>

namespace vedette::domain {
namespace {

using base::Json;

// The record, the same whether its cells are values or texts.
std::string Written(const std::vector<Json>& cells, Formulas formulas = Formulas::kDefused) {
  std::string out;
  AppendCsvRecord(cells, cells.size(), formulas, &out);
  std::vector<std::string> texts;
  for (const Json& cell : cells) texts.push_back(base::DumpJson(cell));
  std::string of_texts;
  AppendCsvTexts(base::CellTexts(texts.begin(), texts.end()), cells.size(), formulas, &of_texts);
  EXPECT_EQ(of_texts, out);
  return out;
}

TEST(CsvWriter, CellsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(Written({"a", "b c", "x,y", "say \"hi\"", "two\nlines", "cr\rhere"}),
            "a,b c,\"x,y\",\"say \"\"hi\"\"\",\"two\nlines\",\"cr\rhere\"\r\n");
  EXPECT_EQ(Written({nullptr, "", 1, 1.5, true}), ",,1,1.5,true\r\n");
  EXPECT_EQ(Written({Json{{"a", {1, "x,y"}}}, Json::array({1, 2})}),
            "\"{\"\"a\"\":[1,\"\"x,y\"\"]}\",\"[1,2]\"\r\n");
}

// The dashboard's own files follow the same rule: tests/e2e/dashboard_csv.mjs reads these, too.
Json Cases(const std::string& kind) {
  std::ifstream file(VEDETTE_SOURCE_DIR "/tests/unit/domain/text/formulas.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return base::ParseJsonOrThrow(text).at(kind);
}

TEST(CsvWriter, FormulasAreDefused) {
  for (const Json& cell : Cases("defused")) {
    const auto text = cell.get<std::string>();
    std::string header;
    AppendCsvHeader({text}, Formulas::kDefused, &header);
    for (const std::string& line : {Written({text}), header}) {
      EXPECT_TRUE(line.starts_with('\'') || line.starts_with("\"'")) << text << " as " << line;
    }
    EXPECT_EQ(Written({text}, Formulas::kAsTheyAre).find('\''), text.find('\'')) << text;
  }
}

TEST(CsvWriter, NumbersAndPhonesAreUnharmed) {
  for (const Json& cell : Cases("as_they_are")) {
    const auto text = cell.get<std::string>();
    EXPECT_EQ(Written({text}), (text.empty() ? "\"\"" : text) + "\r\n");
  }
  EXPECT_EQ(Written({-1, -0.5}), "-1,-0.5\r\n");
}

TEST(CsvWriter, ShortRowsAreFilledUpAndAnEmptyRecordIsNoEmptyLine) {
  std::string out;
  AppendCsvRecord({"a"}, 3, Formulas::kDefused, &out);
  EXPECT_EQ(out, "a,,\r\n");
  EXPECT_EQ(Written({nullptr}), "\"\"\r\n");
}

TEST(CsvWriter, TheReaderReadsBackWhatWasWritten) {
  std::mt19937 random(11);
  const std::string alphabet = "ab,\"\r\n=+-@\t' 1";
  for (int round = 0; round < 2000; ++round) {
    std::vector<Json> cells;
    std::vector<std::string> texts;
    for (unsigned i = 0; i < 1 + random() % 5; ++i) {
      std::string text;
      for (unsigned k = 0; k < random() % 6; ++k) text += alphabet[random() % alphabet.size()];
      texts.push_back(text);
      cells.emplace_back(text);
    }
    CsvReader reader(1, 1 << 20);
    std::vector<std::vector<std::string>> read;
    const auto take = [&](CsvRecord& record) -> std::optional<CsvProblem> {
      read.push_back(record.fields);
      return std::nullopt;
    };
    EXPECT_FALSE(reader.Feed(Written(cells, Formulas::kAsTheyAre), take));
    EXPECT_FALSE(reader.Finish(take));
    ASSERT_EQ(read, (std::vector<std::vector<std::string>>{texts}));
  }
}

}  // namespace
}  // namespace vedette::domain
