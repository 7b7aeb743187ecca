#include "domain/workflow/result_file.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace vedette::domain {
namespace {

const std::string kPart = R"([["a,b",1],[null,"x\ny"],null,["=1"]])";
const std::string kNextPart = R"([[true,false]])";

ResultText TextOf(ResultFormat format) {
  return {format, {"n", "m"}, Formulas::kDefused};
}

std::string Written(ResultFormat format) {
  return format == ResultFormat::kCsv ? "n,m\r\n\"a,b\",1\r\n,\"x\ny\"\r\n'=1,\r\ntrue,false\r\n"
                                      : "{\"n\":\"a,b\",\"m\":1}\n{\"n\":null,\"m\":\"x\\ny\"}\n"
                                        "{\"n\":\"=1\",\"m\":null}\n{\"n\":true,\"m\":false}\n";
}

// Written in stretches that are full with so many bytes; `again`: the part is read again before
// each of them.
std::string InStretches(ResultFormat format, std::size_t bytes, bool again) {
  ResultText text = TextOf(format);
  std::string whole;
  text.AppendHead(&whole);
  for (const std::string* part : {&kPart, &kNextPart}) {
    text.Begin(*part);
    bool over = false;
    std::string copy;
    while (!over) {
      std::string stretch;
      over = text.Append(bytes, &stretch);
      whole += stretch;
      if (again && !over) {
        copy = std::string(*part);
        text.Resume(copy);
      }
    }
  }
  return whole;
}

TEST(ResultText, G11_StretchesOfAnyLengthTogetherAreTheFile) {
  for (const ResultFormat format : {ResultFormat::kCsv, ResultFormat::kNdjson}) {
    for (std::size_t bytes = 1; bytes < 100; ++bytes) {
      EXPECT_EQ(InStretches(format, bytes, false), Written(format)) << bytes;
      EXPECT_EQ(InStretches(format, bytes, true), Written(format)) << bytes << " and read again";
    }
  }
}

TEST(ResultText, G11_AStretchOfNdjsonEndsBehindACell) {
  ResultText text = TextOf(ResultFormat::kNdjson);
  text.Begin(kPart);
  std::string stretch;
  EXPECT_FALSE(text.Append(1, &stretch));
  EXPECT_EQ(stretch, R"({"n":"a,b")");
  EXPECT_EQ(text.rows_written(), 0);
  stretch.clear();
  EXPECT_FALSE(text.Append(1, &stretch));
  EXPECT_EQ(stretch, R"(,"m":1)"
                     "}\n");
  EXPECT_EQ(text.rows_written(), 1);
}

TEST(ResultText, ARowWithoutColumnsIsALine) {
  ResultText text(ResultFormat::kNdjson, {}, Formulas::kDefused);
  text.Begin("[[],[]]");
  std::string out;
  EXPECT_TRUE(text.Append(1000, &out));
  EXPECT_EQ(out, "{}\n{}\n");
  text.Begin("{}");
  EXPECT_THROW(text.Append(1000, &out), std::invalid_argument);
}

}  // namespace
}  // namespace vedette::domain
