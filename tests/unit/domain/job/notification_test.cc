#include "domain/job/webhook.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/json.h"

namespace vedette::domain {
namespace {

Notification Example() {
  Notification n;
  n.delivery_id = *base::Uuid::Parse("0192f0c1-0000-7000-8000-000000000001");
  n.org_id = *base::Uuid::Parse("0192f0c1-0000-7000-8000-000000000002");
  n.endpoint_id = *base::Uuid::Parse("0192f0c1-0000-7000-8000-000000000003");
  n.about = CheckNotice{*base::Uuid::Parse("0192f0c1-0000-7000-8000-000000000004"),
                        *base::Uuid::Parse("0192f0c1-0000-7000-8000-000000000005"),
                        {}};
  n.event_group_id = *base::Uuid::Parse("9b0fd5b7-d2c7-548f-bf2d-33c56e3984ef");
  n.created_at = base::ParseTimestamp("2026-11-21T09:30:00.000042Z");
  n.url = "https://hooks.example.com/in?token=not-for-the-body";
  return n;
}

// docs/webhooks.md: `monitor_id` is the row's id, whatever its name says.
TEST(Notification, TheBodyIsCompactWithTheFiveKeysInOrderAndTheRowAsMonitorId) {
  EXPECT_EQ(NotificationBody(Example()),
            R"({"type":"monitor.field.changed",)"
            R"("monitor_id":"0192f0c1-0000-7000-8000-000000000005",)"
            R"("event_group_id":"9b0fd5b7-d2c7-548f-bf2d-33c56e3984ef",)"
            R"("metadata":null,)"
            R"("created_at":"2026-11-21T09:30:00.000042Z"})");
}

TEST(Notification, TheTypeIsTheEventsName) {
  for (const NotificationType type : {NotificationType::kChanged, NotificationType::kCompleted,
                                      NotificationType::kFailed, NotificationType::kTest}) {
    Notification n = Example();
    n.type = type;
    EXPECT_EQ(base::ParseJsonOrThrow(NotificationBody(n))["type"], NotificationTypeName(type));
  }
}

TEST(Notification, MetadataComesBackAsItWasGiven) {
  const std::vector<std::string> given = {
      R"({})",
      R"({"z":1,"a":2,"m":{"z":[1,2.5,true,null],"a":{"b":{"c":"d"}}}})",
      "{\"name\":\"Zo\u00eb \u4f8b \U0001F680\",\"quote\":\"\\\"\\\\\\n\"}",
      R"({"big":9007199254740993,"negative":-1,"small":0.1,"whole":1.0,"e":1E+2})",
  };
  for (const std::string& metadata : given) {
    Notification n = Example();
    std::get<CheckNotice>(n.about).metadata = metadata;
    const std::string body = NotificationBody(n);
    EXPECT_NE(body.find(",\"metadata\":" + metadata + ",\"created_at\":"), std::string::npos)
        << body;
  }
}

TEST(Notification, WhiteSpaceAroundMetadataDoesNotReachTheBody) {
  Notification n = Example();
  std::get<CheckNotice>(n.about).metadata = "{ \"a\" :\n [ 1 , 2 ] }";
  EXPECT_NE(NotificationBody(n).find(R"("metadata":{"a":[1,2]})"), std::string::npos);
  std::get<CheckNotice>(n.about).metadata =
      "{ \"a \\\" b\\\\\" : \" \\t, c\" }\r\n\t";  // inside of strings it stays
  EXPECT_NE(NotificationBody(n).find(R"("metadata":{"a \" b\\":" \t, c"})"), std::string::npos);
}

TEST(Notification, CreatedAtHasMicrosecondsAlsoWhenTheyAreZero) {
  Notification n = Example();
  n.created_at = base::ParseTimestamp("2026-11-21T09:30:00Z");
  EXPECT_NE(NotificationBody(n).find(R"("created_at":"2026-11-21T09:30:00.000000Z")"),
            std::string::npos);
}

// A retry builds its body anew: receivers compare what they got twice.
TEST(Notification, G3TheSameNotificationHasTheSameBytes) {
  Notification n = Example();
  std::get<CheckNotice>(n.about).metadata = R"({"b":1,"a":[{"y":1,"x":2}]})";
  EXPECT_EQ(NotificationBody(n), NotificationBody(n));
}

TEST(Notification, ACallbackOfABlockSaysHowItsRunEnded) {
  Notification n = Example();
  n.type = NotificationType::kFindEmail;
  n.about = JobNotice{n.delivery_id, {}, JobStatus::kFailed};
  EXPECT_EQ(EventTypeHeader(n), "find_email");
  n.type = NotificationType::kOutgoingWebhook;
  n.about = JobNotice{n.delivery_id, 3, JobStatus::kFailed};
  EXPECT_EQ(EventTypeHeader(n), "outgoing_webhook.failed");
}

TEST(Notification, APendingOneSaysWhatItWaitsFor) {
  EXPECT_EQ(WaitOf(false, 0, std::nullopt), DeliveryWait::kTurn);
  EXPECT_EQ(WaitOf(false, 2, "http_status: the receiver answered 500"), DeliveryWait::kRetry);
  EXPECT_EQ(WaitOf(false, 2, "signing: the signing secret cannot be read"),
            DeliveryWait::kSigningSecret);
  for (const int attempts : {0, 2}) {
    EXPECT_EQ(WaitOf(true, attempts, "timeout: no answer"), DeliveryWait::kReceiver)
        << "whatever came of its own attempts";
  }
  EXPECT_EQ(DeliveryWaitName(DeliveryWait::kTurn), "turn");
  EXPECT_EQ(DeliveryWaitName(DeliveryWait::kSigningSecret), "signing_secret");
}

}  // namespace
}  // namespace vedette::domain
