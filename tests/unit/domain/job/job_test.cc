#include "domain/job/job.h"

#include <gtest/gtest.h>

#include "domain/auth/principal.h"

namespace vedette::domain {
namespace {

TEST(Job, NumbersAreStoredAndKeepTheirNames) {
  EXPECT_EQ(JobKindName(JobKind::kFindEmail), "find_email");
  EXPECT_EQ(JobKindName(static_cast<JobKind>(5)), "workflow");
  EXPECT_EQ(JobKindName(static_cast<JobKind>(6)), "reverse_email_bulk");
  EXPECT_EQ(JobKindName(static_cast<JobKind>(7)), "unknown");
  EXPECT_EQ(ParseJobKind("verify_age"), JobKind::kVerifyAge);
  EXPECT_EQ(ParseJobKind("task"), std::nullopt);
  EXPECT_EQ(JobStatusName(static_cast<JobStatus>(6)), "timed_out");
  EXPECT_EQ(ParseJobStatus("terminated"), JobStatus::kTerminated);
  EXPECT_EQ(LaneName(static_cast<Lane>(2)), "smtp");
  EXPECT_EQ(ParseLane("checks"), std::nullopt) << "a lane of workers, but none of jobs";
  EXPECT_EQ(BlockStatusName(BlockStatus::kFailed), "failed");
  EXPECT_EQ(PrincipalKindName(PrincipalKind::kExternal), "external");
}

TEST(Job, EveryStatusFromCompletedOnIsAnEnd) {
  EXPECT_FALSE(IsEnd(JobStatus::kQueued));
  EXPECT_FALSE(IsEnd(JobStatus::kRunning));
  for (int status = 2; status <= 6; ++status) EXPECT_TRUE(IsEnd(static_cast<JobStatus>(status)));
}

TEST(Job, ACallbacksTypeHasTheNameOfItsKind) {
  int callbacks = 0;
  for (int kind = 0; kind < static_cast<int>(kJobKindCount); ++kind) {
    const auto type = CallbackType(static_cast<JobKind>(kind));
    if (!type) continue;
    ++callbacks;
    EXPECT_EQ(NotificationTypeName(*type), JobKindName(static_cast<JobKind>(kind)));
    EXPECT_EQ(ParseNotificationType(NotificationTypeName(*type)), std::nullopt)
        << "no monitor subscribes to it";
  }
  EXPECT_EQ(callbacks, 5);
}

// The pinned ids are those of another implementation: Python's uuid.uuid5.
TEST(Job, ARowHasTheSameIdWhoeverRunsIt) {
  const auto job = *base::Uuid::Parse("019ab6f0-3c00-7000-8000-000000000001");
  EXPECT_EQ(JobRowId(job, 2, 3, 5).ToString(), "47e4e6c1-4e07-5478-8d48-188d63605db4");
  EXPECT_EQ(JobRowId(job, 0, 0, 0).ToString(), "ca950ccb-f7ca-58f1-979c-60cdde16c880");
  EXPECT_EQ(JobEventId(job, JobKind::kFindEmail).ToString(),
            "fffd9be1-5a4d-5ec4-bff2-29c16cb19d7f");
}

}  // namespace
}  // namespace vedette::domain
