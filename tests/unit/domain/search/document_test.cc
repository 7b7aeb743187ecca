// The lines of an import.
#include "domain/search/documents.h"

#include <gmock/gmock.h>

namespace vedette::domain::search {
namespace {

using testing::HasSubstr;

std::string Why(const std::string& line) {
  const auto read = ReadDocument(line);
  const auto* why = std::get_if<std::string>(&read);
  return why == nullptr ? "" : *why;
}

TEST(Document, IsAnObjectWithAnId) {
  const auto read = ReadDocument(R"({"id": "a", "n": 1E2, "s": "\u00e9"})");
  const auto* document = std::get_if<Document>(&read);
  ASSERT_NE(document, nullptr);
  EXPECT_EQ(document->id, "a");
  EXPECT_EQ(document->json, "{\"id\":\"a\",\"n\":100.0,\"s\":\"\xc3\xa9\"}");
}

TEST(Document, WhatIsWrongWithALineIsSaid) {
  EXPECT_THAT(Why("[1]"), HasSubstr("object"));
  EXPECT_THAT(Why("{}"), HasSubstr("id"));
  EXPECT_THAT(Why(R"({"id": 5})"), HasSubstr("id"));
  EXPECT_THAT(Why(R"({"id": ""})"), HasSubstr("1 to 200"));
  EXPECT_EQ(Why(R"({"id": ")" + std::string(200, 'x') + "\"}"), "");
  EXPECT_THAT(Why(R"({"id": ")" + std::string(201, 'x') + "\"}"), HasSubstr("1 to 200"));
  EXPECT_NE(Why("{\"id\": \"a\""), "");
  EXPECT_NE(Why(R"({"id": "a", "s": "\u0000"})"), "") << "no database keeps a NUL";
  EXPECT_THAT(Why(R"({"id": "a", "s": ")" + std::string(kDocumentBytesMax, 'x') + "\"}"),
              HasSubstr("65536 bytes"));
}

}  // namespace
}  // namespace vedette::domain::search
