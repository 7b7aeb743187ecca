#include "api/operator/admin_json.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "api/operator/job_json.h"
#include "tests/support/ids.h"

namespace vedette::admin {
namespace {

using vedette::test::Id;

TEST(Shapes, AnOrganisationShowsCreditsAndItsTeams) {
  store::Organisation org;
  org.id = Id(1);
  org.name = "Acme";
  org.features = {"monitors"};
  org.balance_mc = 1500;
  org.reserved_mc = 2000;
  org.charged_mc = 1;
  org.teams = {{Id(2), "red", std::nullopt, 500}, {Id(3), "blue", 0, 0}};
  const base::Json json = OrganisationJson(org);
  EXPECT_EQ(json["balance"], 1.5);
  EXPECT_EQ(json["reserved"], 2);
  EXPECT_EQ(json["charged"], 0.001);
  EXPECT_EQ(json["teams"][0]["spend_limit"], nullptr);
  EXPECT_EQ(json["teams"][0]["spent"], 0.5);
  EXPECT_EQ(json["teams"][1]["spend_limit"], 0);
}

TEST(Shapes, WhatAReceiverAnsweredIsTextWhateverItsBytes) {
  store::DeliveryDetail detail;
  store::DeliveryAttemptView attempt;
  attempt.answer = "<script>\xff\xfe";
  attempt.duration = std::chrono::microseconds(1500);
  detail.attempts.push_back(attempt);
  const base::Json json =
      base::ParseJsonOrThrow(base::DumpJson(DeliveryDetailJson(detail)))["history"][0];
  EXPECT_EQ(json["answer"], "<script>\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(json["status_code"], nullptr);
  EXPECT_EQ(json["duration_ms"], 1.5);
}

store::MemberView MemberServing(const std::vector<std::string>& lanes,
                                const char* counters = "{}") {
  store::MemberView member;
  member.lanes = lanes;
  member.counters = counters;
  return member;
}

TEST(JobShapes, ALaneIsServedByLiveMembersThatStay) {
  store::JobOverview jobs;
  jobs.lanes = {{domain::Lane::kSmtp, 3, 0, 1, std::chrono::seconds(90)},
                {domain::Lane::kResearch, 0, 2, 0, {}}};
  auto leaving = MemberServing({"smtp"});
  leaving.draining = true;
  auto silent = MemberServing({"smtp"});
  silent.heartbeat_age = std::chrono::seconds(31);
  const base::Json json =
      JobsOverviewJson(jobs, {leaving, silent, MemberServing({"lookup", "research"})});
  EXPECT_EQ(json["lanes"][0]["lane"], "smtp");
  EXPECT_EQ(json["lanes"][0]["members"], 0);
  EXPECT_EQ(json["lanes"][0]["oldest_due_age_ms"], 90'000);
  EXPECT_EQ(json["lanes"][1]["members"], 1);
  EXPECT_EQ(json["lanes"][1]["oldest_due_age_ms"], nullptr);
}

TEST(JobShapes, PlacesAreThoseOfAllMembersThatTellOfThem) {
  const std::vector<store::MemberView> members{
      MemberServing({}, R"({"waits": {"used": 5, "max": 1024}})"),
      MemberServing({}, R"({"waits": {"used": 0, "max": 0}})"), MemberServing({})};
  const base::Json json = WaitsOverviewJson({}, members);
  EXPECT_EQ(json["used"], 5);
  EXPECT_EQ(json["max"], 1024);
  EXPECT_EQ(MemberJobsJson(members[0])["waits"]["used"], 5);
  EXPECT_EQ(MemberJobsJson(members[2])["waits"], nullptr) << "it has not counted yet";
}

}  // namespace
}  // namespace vedette::admin
