// Notifications for channels: written with the check, claimed, tried, replayed, and left alone by
// processes that know no channels.
#include "store/channels/channels.h"

#include <set>

#include "config/security_config.h"
#include "domain/job/job.h"
#include "store/channels/digests.h"
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
  // Whether deliverers are to look.
  bool Check(const std::vector<base::Uuid>& channels) {
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
    return Record(records).tells_channels;
  }

  store::DeliveryClaim Claim() {
    const base::FairShares<base::Uuid> room(100, 0.1);
    return store::ClaimDeliveries(session, {}, base::Uuid::V4(),
                                  {200, 10, room, room, room, 3, std::chrono::seconds(30), lease},
                                  {}, {});
  }

  base::Uuid NewMail(std::vector<std::string> addresses) {
    store::NewChannel channel;
    channel.name = "n";
    channel.kind = domain::ChannelKind::kEmail;
    channel.addresses = std::move(addresses);
    channel.events = {NotificationType::kChanged};
    channel.digest = "none";
    return store::CreateChannel(session, clock, org, channel, Audit()).value().id;
  }

  void Settle(const store::LeasedDelivery& d, AttemptEnd end,
              const std::string& error = "http_status: 500") {
    store::AttemptRecord a;
    a.end = end;
    a.notification = d.notification;
    a.lease_token = d.lease_token;
    a.attempt = d.attempts + 1;
    a.attempted_at = clock.Now();
    a.status_code = end == AttemptEnd::kDelivered ? 200 : 500;
    if (end != AttemptEnd::kDelivered) a.error = error;
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
  void ExpectNamesChannelAlone(const base::Uuid& channel, std::string_view type) {
    const auto listed = List();
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_EQ(domain::DeliveredTypeName(listed[0].type, listed[0].names_channel), type);
    EXPECT_EQ(listed[0].channel_id, channel);
    EXPECT_FALSE(listed[0].monitor_id || listed[0].row_id) << "there is no such monitor";
  }
};

TEST_F(ChannelDeliveryTest, EachChannelThatWantsItIsToldOfACheckAndNoOther) {
  const auto wants = NewChannel("a.example");
  const auto other = NewChannel("b.example", {NotificationType::kFailed});
  const auto suspended = NewChannel("c.example");
  Sql("update channel set status = 2 where id = '" + suspended.ToString() + "'");
  EXPECT_TRUE(Check({wants, other, suspended}));
  const auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 1U);
  const auto& n = claim.deliveries[0].notification;
  EXPECT_EQ(std::get<domain::CheckNotice>(n.about).channel_id, wants);
  const auto messages = store::ReadChannelMessages(session, {n}, {});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages.begin()->second.url, "http://a.example/");
  EXPECT_TRUE(messages.begin()->second.news.monitor_name);
}

TEST_F(ChannelDeliveryTest, EachConfirmedRecipientOfAnEmailHasADeliveryOfItsOwn) {
  const auto channel = NewMail({"ann@acme.example", "bob@acme.example", "eve@acme.example"});
  Sql("update recipient set status = 1 where address <> 'eve@acme.example'");
  EXPECT_EQ(Claim().deliveries.size(), 3U) << "their owners are asked";
  Sql("delete from delivery");
  Check({channel});
  const auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 2U);
  std::set<std::string> told;
  for (const auto& d : claim.deliveries) {
    const auto messages = store::ReadChannelMessages(session, {d.notification}, {});
    told.insert(messages.at(d.notification.delivery_id).recipient.value().address);
  }
  EXPECT_EQ(told, (std::set<std::string>{"ann@acme.example", "bob@acme.example"}));
  EXPECT_NE(claim.deliveries[0].notification.delivery_id,
            claim.deliveries[1].notification.delivery_id);
}

TEST_F(ChannelDeliveryTest, ARecipientWhomTheRelayRefusesForGoodIsSuspendedWithTheAttempt) {
  const auto channel = NewMail({"ann@acme.example"});
  Sql("update recipient set status = 1");
  Sql("delete from delivery");
  Check({channel});
  Settle(Claim().deliveries.at(0), AttemptEnd::kDead, "hard_bounce: refused (550 5.1.1)");
  EXPECT_EQ(Sql("select status || status_reason from recipient"),
            "2hard_bounce: refused (550 5.1.1)");
  const auto shown = store::GetChannel(session, {org, std::nullopt}, channel);
  EXPECT_EQ(shown->status, domain::ChannelStatus::kSuspended);
}

TEST_F(ChannelDeliveryTest, ADigestTellsWhatWaitedOnceAndAnEmptyOneIsNotSent) {
  const auto channel = NewChannel("a.example");
  Sql("update channel set digest = 'hourly', digest_at = now() - interval '1 minute'");
  EXPECT_EQ(store::CutDigests(session, clock), 1);
  EXPECT_TRUE(Claim().deliveries.empty()) << "nothing waited";
  EXPECT_EQ(Sql("select digest_at > now() from channel"), "t");
  EXPECT_FALSE(Check({channel}));
  EXPECT_TRUE(Claim().deliveries.empty()) << "it waits";
  EXPECT_EQ(store::CutDigests(session, clock), 0) << "it is not due";
  Sql("update channel set digest_at = now()");
  EXPECT_EQ(store::CutDigests(session, clock), 1);
  EXPECT_EQ(store::CutDigests(session, clock), 0);
  const auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 1U);
  const auto& n = claim.deliveries[0].notification;
  EXPECT_EQ(domain::EventTypeHeader(n), "channel.digest");
  ExpectNamesChannelAlone(channel, "channel.digest");
  const auto messages = store::ReadChannelMessages(session, {n}, {});
  const domain::ChannelNews& news = messages.at(n.delivery_id).news;
  EXPECT_EQ(news.digest.value().notifications, 1);
  EXPECT_EQ(news.digest->labels.size(), news.events.size());
  Settle(claim.deliveries[0], AttemptEnd::kDelivered);
  Sql("update channel set digest_at = now()");
  EXPECT_EQ(store::CutDigests(session, clock), 1);
  EXPECT_TRUE(Claim().deliveries.empty()) << "told once";
}

TEST_F(ChannelDeliveryTest, WhatWaitsForAChannelThatLeavesItsDigestIsTold) {
  const auto channel = NewChannel("a.example");
  Sql("update channel set digest = 'weekly', digest_at = now() + interval '1 day'");
  Check({channel});
  store::ChannelChange change;
  change.digest = "none";
  store::UpdateChannel(session, clock, org, channel, change, Audit());
  EXPECT_EQ(store::CutDigests(session, clock), 1);
  EXPECT_EQ(Claim().deliveries.size(), 1U);
  EXPECT_EQ(Sql("select digest_at > now() from channel"), "t") << "one last look";
  Sql("update channel set digest_at = now()");
  EXPECT_EQ(store::CutDigests(session, clock), 1);
  EXPECT_EQ(Sql("select digest_at is null from channel"), "t");
}

TEST_F(ChannelDeliveryTest, AnOrganisationIsToldOfItselfOnceAnOccurrence) {
  const std::string balance = "update account set balance_mc = ";
  const auto channel = NewChannel("a.example", {NotificationType::kCompleted});
  store::SetNoticeChannels(session, clock, org, {channel}, Audit());
  Sql(balance + "1000");
  EXPECT_EQ(store::TellNotices(session, clock, 1000), 0) << "it pays a check";
  Sql(balance + "999");
  EXPECT_EQ(store::TellNotices(session, clock, 1000), 1);
  EXPECT_EQ(store::TellNotices(session, clock, 1000), 0) << "it is the same occurrence";
  const auto claim = Claim();
  ASSERT_EQ(claim.deliveries.size(), 1U);
  const auto& n = claim.deliveries[0].notification;
  EXPECT_EQ(domain::EventTypeHeader(n), "account.notice");
  ExpectNamesChannelAlone(channel, "account.notice");
  const auto messages = store::ReadChannelMessages(session, {n}, {});
  const domain::ChannelNews& news = messages.at(n.delivery_id).news;
  EXPECT_EQ(news.notice.value().kind, domain::NoticeKind::kBalance);
  EXPECT_EQ(news.notice->about, org);
  Settle(claim.deliveries[0], AttemptEnd::kDelivered);
  Sql(balance + "5000");
  EXPECT_EQ(store::TellNotices(session, clock, 1000), 0);
  EXPECT_EQ(Sql("select count(*) from notice where ended_at is not null"), "1");
  Sql(balance + "0");
  EXPECT_EQ(store::TellNotices(session, clock, 1000), 1) << "the next occurrence";
  EXPECT_EQ(Claim().deliveries.size(), 1U);
}

TEST_F(ChannelDeliveryTest, ItIsToldOfTeamsReceiversAndMonitorsAndOfNobodyElsesThings) {
  Sql("update account set balance_mc = 1000000");
  const auto monitor = NewMonitor({.rows = 1});
  const std::string of_org = "'" + org.ToString() + "'";
  Sql("insert into team (id, org_id, name, spend_limit_mc) values (gen_random_uuid(), " + of_org +
      ", 'Sales', 10), (gen_random_uuid(), " + of_org + ", 'Others', null)");
  Sql("insert into team (id, org_id, name, spend_limit_mc, deleted_at) values "
      "(gen_random_uuid(), " +
      of_org + ", 'Gone', 10, now())");
  Sql("insert into endpoint (id, org_id, scheme, host, port, failures, failing_since, failed_at) "
      "values (gen_random_uuid(), " +
      of_org + ", 'https', 'down.example', 443, 9, now() - interval '49 hours', now())");
  Sql("update monitor_sched set failing_since = now() - interval '25 hours' where monitor_id = '" +
      monitor.ToString() + "'");
  EXPECT_EQ(store::TellNotices(session, clock, 1000), 0) << "nobody asked";
  store::SetNoticeChannels(session, clock, org, {NewChannel("a.example")}, Audit());
  EXPECT_EQ(store::TellNotices(session, clock, 1000), 3);
  EXPECT_EQ(Sql("select string_agg(kind::text, ',' order by kind) from notice"), "1,2,3");
  EXPECT_EQ(Sql("select subject from notice where kind = 2"), "https://down.example:443");
  EXPECT_EQ(Claim().deliveries.size(), 3U);
  store::SetNoticeChannels(session, clock, org, {}, Audit());
  EXPECT_EQ(store::TellNotices(session, clock, 1000), 0);
  EXPECT_EQ(Sql("select count(*) from notice where ended_at is null"), "0");
}

TEST_F(ChannelDeliveryTest, AnOrganisationIsToldOfItselfSoOftenADayAndNoMore) {
  store::SetNoticeChannels(session, clock, org, {NewChannel("a.example")}, Audit());
  Sql("update account set balance_mc = 1000000");
  Sql("insert into team (id, org_id, name, spend_limit_mc) select gen_random_uuid(), '" +
      org.ToString() + "', 'team ' || n, 0 from generate_series(1, " +
      std::to_string(domain::kNoticesPerDay + 5) + ") n");
  EXPECT_EQ(store::TellNotices(session, clock, 1), domain::kNoticesPerDay);
  EXPECT_EQ(store::TellNotices(session, clock, 1), 0);
  Sql("update notice set created_at = now() - interval '25 hours'");
  EXPECT_EQ(store::TellNotices(session, clock, 1), 5) << "the rest, when there is room";
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
