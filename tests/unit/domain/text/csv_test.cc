#include "domain/text/csv.h"

#include <gmock/gmock.h>

#include <random>

namespace vedette::domain {
namespace {

using Fields = std::vector<std::string>;
using testing::HasSubstr;

struct Read {
  std::vector<Fields> records;
  std::vector<std::int64_t> lines;
  std::vector<std::uint64_t> ends;
  std::optional<CsvProblem> problem;
};

Read ReadCsv(std::string_view text, std::size_t piece_bytes = 1 << 20,
             std::size_t record_bytes_max = 1000) {
  Read out;
  CsvReader reader(1, record_bytes_max);
  const auto take = [&out](CsvRecord& record) -> std::optional<CsvProblem> {
    out.records.push_back(record.fields);
    out.lines.push_back(record.line);
    out.ends.push_back(record.end);
    return std::nullopt;
  };
  for (std::size_t at = 0; at < text.size() && !out.problem; at += piece_bytes) {
    out.problem = reader.Feed(text.substr(at, piece_bytes), take);
  }
  if (!out.problem) out.problem = reader.Finish(take);
  return out;
}

TEST(Csv, ReadsRecordsOfRfc4180) {
  struct Case {
    std::string text;
    std::vector<Fields> records;
  };
  const Case cases[] = {
      {"", {}},
      {"a", {{"a"}}},
      {"a,b\r\nc,d\r\n", {{"a", "b"}, {"c", "d"}}},
      {"a,b\nc,d", {{"a", "b"}, {"c", "d"}}},
      {"\"a\"\"b\",\"c,d\"\n", {{"a\"b", "c,d"}}},
      {"\"a\nb\",c\n", {{"a\nb", "c"}}},
      {"\"a\r\nb\"\r\nc\r\n", {{"a\r\nb"}, {"c"}}},
      {",\n", {{"", ""}}},
      {"a,", {{"a", ""}}},
      {"\"\"\n", {{""}}},
      {"\"\"", {{""}}},
      {"a\n\n\r\nb\n", {{"a"}, {"b"}}},
      {"\xef\xbb\xbf"
       "a,b\n",
       {{"a", "b"}}},
      {"\xef\xbb\xbf"
       "\"a\",b\n",
       {{"a", "b"}}},
      {"\xc3\xa4,\xf0\x9f\x98\x80\n", {{"\xc3\xa4", "\xf0\x9f\x98\x80"}}},
  };
  for (const Case& c : cases) {
    for (const std::size_t piece : {1, 2, 3, 1000}) {
      const Read read = ReadCsv(c.text, piece);
      EXPECT_FALSE(read.problem) << c.text;
      EXPECT_EQ(read.records, c.records) << c.text << " in pieces of " << piece;
    }
  }
}

TEST(Csv, NamesTheLineOfWhatIsWrong) {
  struct Case {
    std::string text;
    std::int64_t line;
    std::string says;
  };
  const Case cases[] = {
      {"a\nb\"c\n", 2, "quote"},
      {"a\n\"b\"c\n", 2, "closing quote"},
      {"a\n\n\"b\nc", 3, "left open"},
      {"\"x\ny\"\nz\"\n", 3, "quote"},
      {"a\n\xff\n", 2, "UTF-8"},
      {"a\n\xc3\n", 2, "UTF-8"},
      {"a\n\xed\xa0\x80\n", 2, "UTF-8"},
      {"a\n\xc0\xaf\n", 2, "UTF-8"},
      {std::string("a\nb\0c\n", 6), 2, "NUL"},
      {"a\n\"b\"\rc\n", 2, "closing quote"},
  };
  for (const Case& c : cases) {
    for (const std::size_t piece : {1, 1000}) {
      const Read read = ReadCsv(c.text, piece);
      ASSERT_TRUE(read.problem) << c.text;
      EXPECT_EQ(read.problem->line, c.line) << c.text;
      EXPECT_THAT(read.problem->message, HasSubstr(c.says)) << c.text;
    }
  }
}

TEST(Csv, ARecordIsBounded) {
  const std::string text = "a\n\"" + std::string(2000, 'x');
  const Read read = ReadCsv(text);
  ASSERT_TRUE(read.problem);
  EXPECT_TRUE(read.problem->too_long);
  EXPECT_EQ(read.problem->line, 2);
}

TEST(Csv, TheBoundOfARecordIsOneByteWhateverThePieces) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 20}) {
    for (const char* quote : {"", "\""}) {
      const auto record = [quote](std::size_t bytes) {
        return std::string("a\n") + quote +
               std::string(bytes - 2 * std::string(quote).size(), 'x') + quote;
      };
      EXPECT_FALSE(ReadCsv(record(1000), piece).problem) << piece;
      const Read over = ReadCsv(record(1001), piece);
      ASSERT_TRUE(over.problem) << piece;
      EXPECT_TRUE(over.problem->too_long);
    }
  }
}

// A part of a file begins with a record of its own, which may have any characters.
TEST(Csv, AByteOrderMarkIsOneInTheFirstLineAlone) {
  std::vector<Fields> records;
  const auto take = [&records](CsvRecord& record) -> std::optional<CsvProblem> {
    records.push_back(record.fields);
    return std::nullopt;
  };
  CsvReader reader(2, 1000);
  EXPECT_FALSE(reader.Feed("\xef\xbb\xbf,1\n", take));
  EXPECT_EQ(records, std::vector<Fields>{(Fields{"\xef\xbb\xbf", "1"})});
}

TEST(Csv, ByteOrderMarksAtTheStartAreNoPartOfAColumnsName) {
  const std::string mark = "\xef\xbb\xbf";
  for (const std::string& marks : {mark, mark + mark, mark + mark + mark}) {
    for (const char* name : {"name", "\"name\""}) {
      const Read read = ReadCsv(marks + name + ",b\n1,2\n");
      ASSERT_EQ(read.records.size(), 2U);
      EXPECT_EQ(read.records[0], (Fields{"name", "b"})) << marks.size();
    }
  }
  EXPECT_EQ(ReadCsv(mark + "\"" + mark + "\",b\n").records[0], (Fields{mark, "b"}))
      << "quoted it is text";
  EXPECT_EQ(ReadCsv(mark + "a" + mark + ",b\n").records[0], (Fields{"a" + mark, "b"}));
}

TEST(Csv, KnowsLinesAndEndsOfRecords) {
  const Read read = ReadCsv("h\n\"a\nb\"\n\nc\n");
  EXPECT_EQ(read.lines, (std::vector<std::int64_t>{1, 2, 5}));
  EXPECT_EQ(read.ends, (std::vector<std::uint64_t>{2, 8, 11}));
}

// Whatever is written with quotes where they are needed comes back.
TEST(Csv, RoundTripsRandomFields) {
  std::mt19937 random(7);
  const std::string alphabet = "ab,\"\n\r \xc3\xa4";
  for (int round = 0; round < 200; ++round) {
    std::vector<Fields> records;
    std::string text;
    for (unsigned r = 0; r < 1 + random() % 5; ++r) {
      Fields fields;
      for (unsigned f = 0; f < 1 + random() % 4; ++f) {
        std::string field;
        for (unsigned n = random() % 6; n > 0; --n) {
          const char c = alphabet[random() % (alphabet.size() - 1)];
          field += c == '\xc3' ? "\xc3\xa4" : std::string(1, c);
        }
        std::string quoted = "\"";
        for (const char c : field) quoted += c == '"' ? "\"\"" : std::string(1, c);
        text += (f == 0 ? "" : ",") + quoted + "\"";
        fields.push_back(field);
      }
      text += random() % 2 == 0 ? "\n" : "\r\n";
      records.push_back(fields);
    }
    EXPECT_EQ(ReadCsv(text, 1 + random() % 7).records, records) << text;
  }
}

}  // namespace
}  // namespace vedette::domain
