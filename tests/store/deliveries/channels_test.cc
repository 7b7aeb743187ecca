// Notifications for channels: written with the check, claimed, tried, replayed, and left alone by
// processes that know no channels.
#include "store/channels/channels.h"
#include "domain/job/job.h"
#include "store/channels/news.h"
#include "store/deliveries/deliveries.h"
#include "store/deliveries/delivery_views.h"
#include "tests/store/support/pipeline_support.h"

namespace vedette::test {
namespace {

using domain::AttemptEnd;
using domain::NotificationType;

class ChannelDeliveryTest : public PipelineTest {
 public:
  base::Uuid NewChannel(const std::string& host,
                        std::vector<NotificationType> events = {NotificationType::kChanged}) {
    store::NewChannel channel;
    channel.name = "n";
    channel.url.emplace();
    channel.url->webhook = {"http://" + host + "/", {"http", host, 80, "/"}};
    channel.events = std::move(events);
    channel.digest = "none";
    return store::CreateChannel(session, clock, org, channel, Audit()).value().id;
  }

  static store::AuditEntry Audit() {
    store::AuditEntry audit;
    audit.actor = "test";
    audit.action = "test";
    return audit;
  }

  // Records a check of a monitor that names these, and has no webhook_url.
  void Check(const std::vector<base::Uuid>& channels) {
    const auto monitor = NewMonitor({.rows = 1});
    std::string ids;
    for (const base::Uuid& id : channels) ids += (ids.empty() ? "" : ",") + id.ToString();
    Sql("update monitor set channel_ids = '{" + ids + "}' where id = '" + monitor.ToString() + "'");
    Cut();
    const auto claim = ClaimAll();
    EXPECT_EQ(claim.specs.at(monitor)->channel_ids, channels);
    auto records = FinishAll(claim, domain::Outcome::kChanged);
    const auto& part = claim.chunks[0].parts[0];
    const base::Uuid row = part.rows[0].row_id;
    for (const base::Uuid& channel : channels) {
      records[0].channel_deliveries.push_back({base::Uuid::V7(clock), channel, org, monitor, row,
                                               domain::EventGroupId(row, part.part.tick_id),
                                               NotificationType::kChanged});
    }
    Record(records);
  }

  store::DeliveryClaim Claim() {
    const base::FairShares<base::Uuid> room(100, 0.1);
    return store::ClaimDeliveries(
        session, {}, base::Uuid::V4(),
        {200, 10, 10, room, room, room, 3, std::chrono::seconds(30), lease}, {}, {});
  }

  void Settle(const store::LeasedDelivery& d, AttemptEnd end) {
    store::AttemptRecord a;
    a.end = end;
    a.notification = d.notification;
    a.lease_token = d.lease_token;
    a.attempt = d.attempts + 1;
    a.attempted_at = clock.Now();
    a.status_code = end == AttemptEnd::kDelivered ? 200 : 500;
    if (end != AttemptEnd::kDelivered) a.error = "http_status: 500";
    store::SettleAttempts(session, {a}, false, 3, std::chrono::seconds(30));
  }

  std::string ForOldProcesses() {
    return Sql("select count(*) from delivery where state in (0, 1)");
  }
  std::vector<store::DeliveryView> List(std::optional<domain::DeliveryState> state = {}) {
    store::DeliveryQuery query;
    query.state = state;
    query.limit = 10;
    return store::ListDeliveries(session, query);
  }
};

TEST_F(ChannelDeliveryTest, EachChannelThatWantsItIsToldOfACheckAndNoOther) {
  const auto wants = NewChannel("a.example");
  const auto other = NewChannel("b.example", {NotificationType::kFailed});
  const auto suspended = NewChannel("c.example");
  Sql("update channel set status = 2 where id = '" + suspended.ToString() + "'");
  Check({wants, other, suspended});
  const auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 1U);
  const auto& n = claim.deliveries[0].notification;
  EXPECT_EQ(std::get<domain::CheckNotice>(n.about).channel_id, wants);
  const auto messages = store::ReadChannelMessages(session, {n}, {});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages.begin()->second.url, "http://a.example/");
  EXPECT_TRUE(messages.begin()->second.news.monitor_name);
}

TEST_F(ChannelDeliveryTest, WhatIsForAChannelIsLeftAloneByProcessesThatKnowNone) {
  Check({NewChannel("a.example")});
  EXPECT_EQ(ForOldProcesses(), "0") << "pending";
  EXPECT_EQ(List().at(0).state, domain::DeliveryState::kPending);
  Settle(Claim().deliveries.at(0), AttemptEnd::kDead);
  EXPECT_EQ(ForOldProcesses(), "0") << "dead";
  EXPECT_TRUE(List(domain::DeliveryState::kPending).empty());
  const auto dead = List(domain::DeliveryState::kDead);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_TRUE(dead[0].channel_id);
  EXPECT_EQ(store::ReplayDelivery(session, clock, dead[0].id, Audit()),
            store::ReplayOutcome::kDone);
  EXPECT_EQ(ForOldProcesses(), "0") << "replayed";
  Settle(Claim().deliveries.at(0), AttemptEnd::kDelivered);
  EXPECT_EQ(store::SendDeliveryNow(session, clock, dead[0].id, Audit()),
            store::SendNowOutcome::kResent);
  EXPECT_EQ(ForOldProcesses(), "0") << "sent again";
  EXPECT_EQ(Claim().deliveries.size(), 1U);
}

TEST_F(ChannelDeliveryTest, WhatWaitsFollowsAChannelToItsNewAddressAndEndsWithIt) {
  const auto channel = NewChannel("a.example");
  Check({channel});
  store::ChannelChange change;
  change.url.emplace();
  change.url->webhook = {"http://b.example/", {"http", "b.example", 80, "/"}};
  store::UpdateChannel(session, clock, org, channel, change, Audit());
  EXPECT_TRUE(Claim().deliveries.empty()) << "it moves along";
  const auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 1U);
  EXPECT_EQ(claim.deliveries[0].notification.url, "http://b.example/");
  Sql("update delivery set available_at = now()");
  store::DeleteChannel(session, clock, org, channel, Audit());
  EXPECT_TRUE(Claim().deliveries.empty());
  const auto dead = List(domain::DeliveryState::kDead);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].last_error.value_or("").substr(0, 15), "channel_deleted");
}

}  // namespace
}  // namespace vedette::test
