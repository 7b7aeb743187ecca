#include "domain/people/openpgp.h"

#include <gtest/gtest.h>

namespace vedette::domain {
namespace {

// A packet of the new format with a length of one byte.
std::string NewPacket(unsigned tag, const std::string& body) {
  return std::string(1, static_cast<char>(0xC0 | tag)) +
         std::string(1, static_cast<char>(body.size())) + body;
}
// A packet of the old format with a length of two bytes.
std::string OldPacket(unsigned tag, const std::string& body) {
  return std::string(1, static_cast<char>(0x80 | tag << 2 | 1)) +
         std::string(1, static_cast<char>(body.size() >> 8)) +
         std::string(1, static_cast<char>(body.size())) + body;
}

TEST(OpenPgpTest, UserIdsOfBothFormatsAreRead) {
  const auto ids =
      ReadUserIds(NewPacket(6, "a key") + OldPacket(13, "Ada Lovelace (work) <ada@example.com>") +
                  NewPacket(2, "a signature") + NewPacket(13, "bob@example.com"));
  ASSERT_EQ(ids.size(), 2U);
  EXPECT_EQ(ids[0].name, "Ada Lovelace");
  EXPECT_EQ(ids[0].address, "ada@example.com");
  EXPECT_EQ(ids[1].name, "");
  EXPECT_EQ(ids[1].address, "bob@example.com");
}

TEST(OpenPgpTest, ALengthOfTwoBytesIsRead) {
  const std::string body = std::string(300, 'x') + " <ada@example.com>";
  const std::size_t rest = body.size() - 192;
  const std::string packet = std::string(1, static_cast<char>(0xCD)) +
                             std::string(1, static_cast<char>(192 + (rest >> 8))) +
                             std::string(1, static_cast<char>(rest)) + body;
  ASSERT_EQ(ReadUserIds(packet).size(), 1U);
}

TEST(OpenPgpTest, WhatIsNoPacketEndsTheReading) {
  const std::string good = NewPacket(13, "Ada <ada@example.com>");
  EXPECT_EQ(ReadUserIds(good + "garbage" + good).size(), 1U);
  EXPECT_EQ(ReadUserIds(good + good.substr(0, 5)).size(), 1U);
  EXPECT_TRUE(ReadUserIds("").empty());
  EXPECT_TRUE(ReadUserIds("-----BEGIN PGP PUBLIC KEY BLOCK-----").empty());
  EXPECT_TRUE(ReadUserIds(NewPacket(13, "\xFF\xFE <ada@example.com>")).empty());
}

TEST(OpenPgpTest, NoMoreUserIdsThanTheLimitAreKept) {
  std::string key;
  for (std::size_t i = 0; i < kUserIdsMax + 10; ++i) key += NewPacket(13, "<a@example.com>");
  EXPECT_EQ(ReadUserIds(key).size(), kUserIdsMax);
}

}  // namespace
}  // namespace vedette::domain
