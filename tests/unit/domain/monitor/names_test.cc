#include "domain/monitor/enums.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace vedette::domain {
namespace {

// The numbers are stored and the names are the interface's: both are pinned.
TEST(Names, KeepTheirNumbersAndSpelling) {
  const std::vector<std::string_view> tiers{"micro", "low", "medium", "high", "xhigh"};
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    EXPECT_EQ(TierName(static_cast<Tier>(i)), tiers[i]);
    EXPECT_EQ(ParseTier(tiers[i]), static_cast<Tier>(i));
  }
  const std::vector<std::string_view> statuses{"starting", "failed", "active", "paused",
                                               "cancelled"};
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    EXPECT_EQ(MonitorStatusName(static_cast<MonitorStatus>(i)), statuses[i]);
    EXPECT_EQ(ParseMonitorStatus(statuses[i]), static_cast<MonitorStatus>(i));
  }
  EXPECT_EQ(ParseSubjectType("company"), SubjectType::kCompany);
  EXPECT_EQ(ParseSubjectType("lead"), SubjectType::kLead);
  EXPECT_EQ(SubjectTypeName(SubjectType::kLead), "lead");
  EXPECT_EQ(TickTriggerName(TickTrigger::kSchedule), "schedule");
  EXPECT_EQ(TickTriggerName(TickTrigger::kManual), "manual");
  EXPECT_EQ(EventTypeName(EventType::kChange), "change");
  EXPECT_EQ(EventTypeName(EventType::kError), "error");
  EXPECT_EQ(EventTypeName(EventType::kCompletion), "completion");
  EXPECT_EQ(DeliveryStateName(DeliveryState::kPending), "pending");
  EXPECT_EQ(DeliveryStateName(DeliveryState::kDead), "dead");
  EXPECT_EQ(DeliveryStateName(DeliveryState::kDelivered), "delivered");
}

TEST(Names, NotificationTypesAreTheInterfaces) {
  for (const auto& [name, type] :
       {std::pair("monitor.field.changed", NotificationType::kChanged),
        std::pair("monitor.execution.completed", NotificationType::kCompleted),
        std::pair("monitor.execution.failed", NotificationType::kFailed)}) {
    EXPECT_EQ(NotificationTypeName(type), name);
    EXPECT_EQ(ParseNotificationType(name), type);
  }
}

TEST(Names, AMonitorHasNoTierXhigh) {
  EXPECT_EQ(ParseMonitorTier("xhigh"), std::nullopt);
  for (const char* name : {"micro", "low", "medium", "high"}) {
    EXPECT_EQ(ParseMonitorTier(name), ParseTier(name)) << name;
  }
}

TEST(Names, NobodySubscribesToTheTestNotification) {
  EXPECT_EQ(NotificationTypeName(NotificationType::kTest), "monitor.webhook.test");
  EXPECT_EQ(ParseNotificationType("monitor.webhook.test"), std::nullopt);
}

TEST(Names, UnknownOnesAreNothing) {
  for (const char* name : {"", "Low", "low ", "huge", "unknown"}) {
    EXPECT_EQ(ParseTier(name), std::nullopt) << name;
    EXPECT_EQ(ParseSubjectType(name), std::nullopt) << name;
    EXPECT_EQ(ParseMonitorStatus(name), std::nullopt) << name;
    EXPECT_EQ(ParseNotificationType(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace vedette::domain
