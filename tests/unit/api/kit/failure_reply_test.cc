#include "api/kit/reply.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace vedette::rest {
namespace {

using Kind = store::Failure::Kind;

bool AsksToComeAgain(const Reply& reply) {
  return std::any_of(reply.headers.begin(), reply.headers.end(),
                     [](const Header& header) { return header.first == "Retry-After"; });
}

TEST(FailureReply, SaysThatTheClientMayComeAgainUnlessTheFaultIsOurs) {
  for (const Kind kind :
       {Kind::kUnavailable, Kind::kContention, Kind::kOverloaded, Kind::kCommitUnknown}) {
    const Reply reply = FailureReply({kind, "m"}, "r-1");
    EXPECT_EQ(reply.status, 503);
    EXPECT_TRUE(AsksToComeAgain(reply));
  }
  const Reply fault = FailureReply({Kind::kFault, "the secret text of a statement"}, "r-1");
  EXPECT_EQ(fault.status, 500);
  EXPECT_FALSE(AsksToComeAgain(fault));
  EXPECT_NE(fault.body.find("r-1"), std::string::npos);
  EXPECT_EQ(fault.body.find("secret"), std::string::npos);
}

TEST(FailureReply, DoesNotSayOfAnUnknownCommitThatNothingHappened) {
  const std::string unknown = FailureReply({Kind::kCommitUnknown, "m"}, "r-1").body;
  EXPECT_EQ(unknown.find("nothing was changed"), std::string::npos);
  EXPECT_NE(unknown.find("may have been made or not"), std::string::npos);
  for (const Kind kind : {Kind::kUnavailable, Kind::kContention, Kind::kOverloaded}) {
    EXPECT_NE(FailureReply({kind, "m"}, "r-1").body.find("nothing was changed"), std::string::npos);
  }
}

}  // namespace
}  // namespace vedette::rest
