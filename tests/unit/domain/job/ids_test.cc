#include "domain/job/job.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace vedette::domain {
namespace {

const base::Uuid kRow = *base::Uuid::Parse("6ba7b810-9dad-11d1-80b4-00c04fd430c8");

// The pinned ids are those of another implementation: Python's uuid.uuid5.
TEST(Ids, G3ACheckHasTheSameIdWhoeverRunsIt) {
  EXPECT_EQ(EventGroupId(kRow, 1795253400000042).ToString(),
            "9b0fd5b7-d2c7-548f-bf2d-33c56e3984ef");
  EXPECT_NE(EventGroupId(kRow, 1), EventGroupId(kRow, 2));
  EXPECT_NE(EventGroupId(kRow, 1), EventGroupId(EventGroupId(kRow, 1), 1));
}

TEST(Ids, ADerivedEventsIdComesFromItsCheckAndType) {
  const base::Uuid group = EventGroupId(kRow, 1795253400000042);
  EXPECT_EQ(EventId(group, EventType::kCompletion).ToString(),
            "b32a4efd-0079-54d2-b72b-f7fb46006b91");
  EXPECT_EQ(EventId(group, EventType::kError).ToString(), "644f2c2f-f893-568d-a357-8c363fd647a7");
  EXPECT_EQ(EventId(group, EventType::kChange, "price").ToString(),
            "409683bc-1dfe-5c49-8645-3eff744d33b3");
  EXPECT_NE(EventId(group, EventType::kChange, "price"),
            EventId(group, EventType::kChange, "name"));
}

}  // namespace
}  // namespace vedette::domain
