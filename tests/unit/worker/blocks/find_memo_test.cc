#include "worker/blocks/waterfall.h"

#include <gtest/gtest.h>

#include "worker/blocks/row_runner.h"

namespace vedette::worker {
namespace {

domain::FoundAddress Address(std::size_t quote_bytes) {
  domain::FoundAddress address;
  address.candidate.address = "ann@acme.com";
  address.candidate.stated = false;
  address.candidate.pattern = domain::AddressPattern::kFirst;
  address.candidate.sources = {"https://acme.com/"};
  address.candidate.quote = std::string(quote_bytes, 'q');
  address.provider = "pattern";
  address.reason = "greylisted";
  address.check = domain::AddressCheck::kLater;
  address.attempts = 2;
  return address;
}

TEST(FindMemo, ALeadThatWaitsComesBackAsItWas) {
  FindMemo memo;
  memo.seen = {Address(10)};
  Try one;
  one.provider = 1;
  one.shown = {"pattern", domain::TryOutcome::kFound, "", std::chrono::milliseconds(7)};
  memo.tries = {one};
  const auto read = ReadFindMemo(*WriteFindMemo(memo));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->seen.size(), 1U);
  EXPECT_EQ(read->seen[0].candidate.address, "ann@acme.com");
  EXPECT_EQ(read->seen[0].candidate.pattern, domain::AddressPattern::kFirst);
  EXPECT_EQ(read->seen[0].candidate.quote.size(), 10U);
  EXPECT_EQ(read->seen[0].attempts, 2);
  EXPECT_EQ(read->seen[0].check, domain::AddressCheck::kOpen) << "it is asked again";
  ASSERT_EQ(read->tries.size(), 1U);
  EXPECT_EQ(read->tries[0].provider, 1U);
  EXPECT_EQ(read->tries[0].shown.provider, "pattern");
}

TEST(FindMemo, WhatIsTooLongLosesItsQuotesAndThenItsSources) {
  FindMemo memo;
  for (int i = 0; i < 40; ++i) memo.seen.push_back(Address(300));
  const auto text = WriteFindMemo(memo);
  ASSERT_TRUE(text);
  EXPECT_LE(text->size(), kMemoBytesMax);
  EXPECT_EQ(ReadFindMemo(*text)->seen.at(0).candidate.quote, "");
  EXPECT_EQ(ReadFindMemo(*text)->seen.at(0).candidate.sources.size(), 1U);
  for (int i = 0; i < 400; ++i) memo.seen.push_back(Address(300));
  EXPECT_FALSE(WriteFindMemo(memo));
}

TEST(FindMemo, WhatIsNoneIsNotRead) {
  for (const char* text : {"", "5", "{}", R"({"tries": [{}], "seen": []})"}) {
    EXPECT_FALSE(ReadFindMemo(text)) << text;
  }
}

}  // namespace
}  // namespace vedette::worker
