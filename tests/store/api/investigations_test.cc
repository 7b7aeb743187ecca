// The routes of investigations: every member, limit and error.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "domain/investigation/finding.h"
#include "store/jobs/claim.h"
#include "store/jobs/keeper.h"
#include "store/jobs/record.h"
#include "tests/store/support/tenant_jobs.h"
#include "tests/support/search_cases.h"

namespace vedette::test {
namespace {

using base::Json;

constexpr const char* kPath = "/v1/atlas/investigations";

class ApiInvestigations : public ApiJobs {
 public:
  static Json Seed(const char* type, const char* value) {
    return {{"type", type}, {"value", value}};
  }
  static Json Body(const Json& changes = Json::object()) {
    Json body{{"seeds", Json::array({Seed("domain", "a.example")})}};
    for (const auto& [name, value] : changes.items()) body[name] = value;
    return body;
  }
  Reply Start(const Json& changes = Json::object(), const Headers& headers = {}) {
    return Ask("POST", kPath, Body(changes), headers);
  }
  Reply Show(const std::string& id, const std::string& rest = "") {
    return Ask("GET", std::string(kPath) + "/" + id + rest);
  }

  using Findings = std::vector<domain::Finding>;

  // What is due of research, by part.
  std::vector<store::ClaimedJobChunk> Claim() {
    const auto scan = store::ScanDueJobs(session, {{domain::Lane::kResearch, {}}}, 1000);
    std::vector<store::JobShare> shares;
    for (const auto& due : scan.due) shares.push_back({due.lane, due.org_id, due.rank, 100});
    auto chunks = store::ClaimJobChunks(session, shares, base::Uuid::V4(),
                                        std::chrono::milliseconds(30000), {})
                      .chunks;
    std::sort(chunks.begin(), chunks.end(),
              [](const auto& a, const auto& b) { return a.part < b.part; });
    return chunks;
  }

  // Ends the part. Each of its rows has found these, or could not be looked at.
  void End(const store::ClaimedJobChunk& chunk, const std::vector<std::optional<Findings>>& rows) {
    store::JobChunkRecord record;
    record.job_id = chunk.job_id;
    record.lease = chunk.lease;
    record.block = chunk.block;
    record.part = chunk.part;
    record.progress = chunk.progress;
    record.rows_done = static_cast<int>(rows.size());
    Json cells = Json::array();
    for (const auto& row : rows) {
      ++(row ? record.rows_charged : record.row_errors);
      cells.push_back(
          Json::array({base::ParseJsonOrThrow(domain::WriteFindings(row.value_or(Findings())))}));
    }
    record.charge_mc = std::int64_t{5000} * record.rows_charged;
    if (record.row_errors > 0) record.last_error = "overloaded: No room.";
    record.what = store::JobPartEnd{base::DumpJson(cells), static_cast<int>(rows.size()), {}, {}};
    const auto recorded = store::RecordJobChunks(session, clock, {record});
    EXPECT_EQ(recorded.chunks.at(0), store::JobRecorded::kRecorded);
  }

  static domain::Finding Text(const std::string& value) {
    domain::Finding finding;
    finding.kind = domain::FindingKind::kAttribute;
    finding.subject = {domain::SubjectKind::kDomain, "a.example"};
    finding.predicate = "dns_text";
    finding.object = domain::FindingObject{"text", value};
    finding.evidence = "TXT";
    finding.provider = "dns";
    finding.confidence = 10;
    return finding;
  }
  // What leads from a.example to the other domain.
  static Findings LinkTo(const std::string& investigation, const std::string& to) {
    domain::Finding what;
    what.provider = "website";
    what.sources = {"https://a.example/"};
    return domain::RelationTo(*base::Uuid::Parse(investigation),
                              {domain::SubjectKind::kDomain, "a.example"}, "links_to",
                              {domain::SubjectKind::kDomain, to}, what);
  }

  // Claims what is due and ends it, each part's one row with `count` attributes.
  void Research(int count) {
    for (const store::ClaimedJobChunk& chunk : Claim()) {
      Findings found;
      for (int i = 0; i < count; ++i) found.push_back(Text(std::to_string(i)));
      End(chunk, {found});
    }
  }
};

TEST_F(ApiInvestigations, AStartReservesTheSeedsAndAnswersAtOnce) {
  const Reply started = Start(
      {{"name", "n"},
       {"seeds", Json::array({Seed("email", " Ada@A.example "), Seed("domain", "B.example")})},
       {"depth", 2},
       {"credits_max", 50}});
  ASSERT_EQ(started.status, 200) << started.raw.body;
  EXPECT_EQ(started.body["status"], "RUNNING");
  EXPECT_EQ(started.body["task_id"], started.body["investigation_id"]);
  EXPECT_EQ(started.body["already_started"], false);
  EXPECT_EQ(started.body["estimated_cost_cents"], 10);
  const Reply shown = Show(started.body["investigation_id"]);
  ASSERT_EQ(shown.status, 200) << shown.raw.body;
  EXPECT_EQ(shown.body["name"], "n");
  EXPECT_EQ(shown.body["seeds"],
            Json::array({Seed("email", "ada@a.example"), Seed("domain", "b.example")}));
  EXPECT_EQ(shown.body["depth"], 2);
  EXPECT_EQ(shown.body["findings_max"], 1000);
  EXPECT_EQ(shown.body["credits_max"], 50);
  EXPECT_EQ(shown.body["status"], "running");
  EXPECT_EQ(shown.body["findings_count"], 0);
  EXPECT_EQ(shown.body["subjects_examined"], 0);
  EXPECT_EQ(shown.body["budget_reached"], false);
  for (const char* name :
       {"status_reason", "error", "charge_amount", "started_at", "completed_at"}) {
    EXPECT_TRUE(shown.body.contains(name) && shown.body[name].is_null()) << name;
  }
  EXPECT_EQ(Sql("select reserved_mc from job"), "10000");
  EXPECT_EQ(Sql("select subjects_max from investigation"), "10");
}

TEST_F(ApiInvestigations, FindingsComePageByPageUntilNothingWillFollow) {
  const std::string id = Start().body["investigation_id"];
  Reply page = Show(id, "/findings");
  EXPECT_EQ(page.body["items"], Json::array());
  EXPECT_TRUE(page.body["next_cursor"].is_null());
  EXPECT_FALSE(page.body["complete"].get<bool>());
  const std::string from_start = page.body["resume_cursor"];
  Research(120);
  std::set<std::string> ids;
  std::string cursor = from_start;
  for (int pages = 0; pages < 3; ++pages) {
    page = Show(id, "/findings?cursor=" + cursor);
    for (const Json& item : page.body["items"]) ids.insert(item["id"]);
    EXPECT_EQ(page.body["complete"], pages == 2);
    EXPECT_EQ(page.body["next_cursor"].is_null(), pages == 2);
    cursor = page.body["resume_cursor"];
  }
  EXPECT_EQ(ids.size(), 120U);
  page = Show(id, "/findings?limit=1");
  const Json& item = page.body["items"][0];
  EXPECT_EQ(item["kind"], "attribute");
  EXPECT_EQ(item["subject"], Seed("domain", "a.example"));
  EXPECT_EQ(item["predicate"], "dns_text");
  EXPECT_EQ(item["object"], Seed("text", "0"));
  EXPECT_EQ(item["confidence"], 10);
  EXPECT_EQ(item["provider"], "dns");
  EXPECT_EQ(item["sources"], Json::array());
  EXPECT_EQ(item["derived_from"], Json::array());
  EXPECT_EQ(item["evidence"], "TXT");
  EXPECT_TRUE(item["created_at"].is_string());
  const Reply shown = Show(id);
  EXPECT_EQ(shown.body["status"], "completed");
  EXPECT_EQ(shown.body["findings_count"], 120);
  EXPECT_EQ(shown.body["subjects_examined"], 1);
  EXPECT_EQ(shown.body["charge_amount"], 5);
  const Reply status = Ask("GET", "/job-status/" + id);
  EXPECT_EQ(status.body["task_type"], "investigation");
  EXPECT_EQ(status.body["result"], (Json{{"investigation_id", id}, {"findings_count", 120}}));
  EXPECT_TRUE(status.body["error"].is_null());
}

TEST_F(ApiInvestigations, WhatIsNotGivenHasItsDefaultOrIsNull) {
  const Reply shown = Show(Start({{"name", nullptr}, {"depth", nullptr}}).body["task_id"]);
  EXPECT_TRUE(shown.body["name"].is_null());
  EXPECT_TRUE(shown.body["credits_max"].is_null());
  EXPECT_EQ(shown.body["depth"], 1);
  EXPECT_EQ(shown.body["findings_max"], 1000);
  EXPECT_EQ(shown.body["subjects_failed"], 0);
}

TEST_F(ApiInvestigations, ARelationAndItsEntityHaveEveryMember) {
  const std::string id = Start({{"depth", 2}}).body["investigation_id"];
  End(Claim().at(0), {LinkTo(id, "b.example")});
  const Reply page = Show(id, "/findings");
  ASSERT_EQ(page.body["items"].size(), 2U) << page.raw.body;
  EXPECT_FALSE(page.body["complete"].get<bool>()) << "b.example is to be looked at";
  Json relation = page.body["items"][0];
  Json entity = page.body["items"][1];
  for (Json* item : {&relation, &entity}) {
    EXPECT_TRUE((*item)["created_at"].is_string());
    item->erase("created_at");
  }
  EXPECT_EQ(relation["id"], base::Uuid::V5(*base::Uuid::Parse(id),
                                           "relation|domain:a.example|links_to|domain:b.example")
                                .ToString());
  const auto expected = [](const Json& own_id, const char* kind, const char* domain,
                           const char* predicate, const Json& object, const Json& derived_from) {
    return Json{{"id", own_id},
                {"kind", kind},
                {"subject", Seed("domain", domain)},
                {"predicate", predicate},
                {"object", object},
                {"confidence", nullptr},
                {"evidence", nullptr},
                {"sources", Json::array({"https://a.example/"})},
                {"provider", "website"},
                {"derived_from", derived_from}};
  };
  EXPECT_EQ(relation, expected(relation["id"], "relation", "a.example", "links_to",
                               Seed("domain", "b.example"), Json::array()));
  EXPECT_EQ(entity, expected(entity["id"], "entity", "b.example", "found", nullptr,
                             Json::array({relation["id"]})));
}

// What a client sees where one of the subjects could not be looked at.
TEST_F(ApiInvestigations, ASubjectThatCouldNotBeLookedAtIsCountedAndCostsNothing) {
  const std::string id =
      Start({{"seeds", Json::array({Seed("domain", "a.example"), Seed("domain", "b.example")})}})
          .body["investigation_id"];
  End(Claim().at(0), {Findings{Text("x")}, std::nullopt});
  const Reply shown = Show(id);
  EXPECT_EQ(shown.body["status"], "completed");
  EXPECT_TRUE(shown.body["error"].is_null());
  EXPECT_EQ(shown.body["subjects_examined"], 2);
  EXPECT_EQ(shown.body["subjects_failed"], 1);
  EXPECT_EQ(shown.body["findings_count"], 1);
  EXPECT_EQ(shown.body["charge_amount"], 5);
  EXPECT_EQ(Sql("select reserved_mc from job"), "0");
  EXPECT_EQ(Sql("select balance_mc from account"), "995000");
}

TEST_F(ApiInvestigations, WhereTheMoneyEndsWhatWasFoundIsKeptAndPaid) {
  Sql("update account set balance_mc = 5000");
  const std::string id = Start({{"depth", 2}}).body["investigation_id"];
  End(Claim().at(0), {LinkTo(id, "b.example")});
  const Reply shown = Show(id);
  EXPECT_EQ(shown.body["status"], "failed");
  EXPECT_EQ(shown.body["status_reason"], "insufficient_credits");
  EXPECT_EQ(shown.body["error"]["error"], "insufficient_credits");
  EXPECT_EQ(shown.body["findings_count"], 2);
  EXPECT_EQ(shown.body["subjects_examined"], 1);
  EXPECT_EQ(shown.body["subjects_failed"], 0);
  EXPECT_EQ(shown.body["charge_amount"], 5);
  EXPECT_TRUE(shown.body["completed_at"].is_string());
  const Reply page = Show(id, "/findings");
  EXPECT_EQ(page.body["items"].size(), 2U);
  EXPECT_TRUE(page.body["complete"].get<bool>()) << "nothing will follow";
  const Reply status = Ask("GET", "/job-status/" + id);
  EXPECT_EQ(status.body["error"], shown.body["error"]);
  EXPECT_EQ(status.body["result"], (Json{{"investigation_id", id}, {"findings_count", 2}}));
  EXPECT_EQ(Sql("select balance_mc from account"), "0");
  EXPECT_TRUE(Claim().empty()) << "b.example is not looked at";
}

TEST_F(ApiInvestigations, AtItsDeadlineWhatWasFoundIsKeptAndTheRestGivenBack) {
  Json seeds = Json::array();
  for (const char* name : {"a.example", "b.example", "c.example", "d.example", "e.example"}) {
    seeds.push_back(Seed("domain", name));
  }
  const std::string id = Start({{"seeds", seeds}}).body["investigation_id"];
  const auto parts = Claim();
  ASSERT_EQ(parts.size(), 2U) << "four seeds, and one";
  End(parts[0], {Findings{Text("x")}, Findings(), Findings(), Findings()});
  Sql("update job set deadline_at = now() - interval '1 second'");
  EXPECT_EQ(store::EndOverdueJobs(session, clock).jobs.size(), 1U);
  const Reply shown = Show(id);
  EXPECT_EQ(shown.body["status"], "timed_out");
  EXPECT_EQ(shown.body["error"]["error"], "deadline_exceeded");
  EXPECT_EQ(shown.body["findings_count"], 1);
  EXPECT_EQ(shown.body["subjects_examined"], 4);
  EXPECT_EQ(shown.body["charge_amount"], 20);
  EXPECT_TRUE(Show(id, "/findings").body["complete"].get<bool>());
  EXPECT_EQ(Sql("select balance_mc from account"), "980000");
}

// The injection corpus: as a seed, as what is found, and as a cursor.
TEST_F(ApiInvestigations, ANastyTextIsASeedAndAFindingLikeAnyOtherAndNoCursor) {
  Json seeds = Json::array();
  Findings found;
  for (const std::string& text : NastyTexts()) {
    domain::Finding finding = Text(text);
    finding.evidence = text;
    finding.predicate = text;
    found.push_back(finding);
    const auto read = domain::ReadSubject(domain::SubjectKind::kCompany, text);
    const auto* subject = std::get_if<domain::Subject>(&read);
    if (subject != nullptr && seeds.size() < 10) seeds.push_back(Seed("company", text.c_str()));
  }
  ASSERT_EQ(seeds.size(), 10U);
  const std::string id = Start({{"seeds", seeds}}).body["investigation_id"];
  EXPECT_EQ(Show(id).body["seeds"], seeds);
  End(Claim().at(0), {found, Findings(), Findings(), Findings()});
  const Reply page = Show(id, "/findings");
  ASSERT_EQ(page.body["items"].size(), NastyTexts().size());
  for (std::size_t i = 0; i < NastyTexts().size(); ++i) {
    const Json& item = page.body["items"][i];
    EXPECT_EQ(item["predicate"], NastyTexts()[i]);
    EXPECT_EQ(item["object"], Seed("text", NastyTexts()[i].c_str()));
    if (NastyTexts()[i].empty()) continue;
    EXPECT_EQ(item["evidence"], NastyTexts()[i]);
    std::string escaped;
    for (const char c : NastyTexts()[i]) {
      escaped += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    }
    EXPECT_EQ(Show(id, "/findings?cursor=" + escaped).error(), "invalid_cursor") << escaped;
  }
}

TEST_F(ApiInvestigations, WhatIsWrongWithAPageIsSaid) {
  const std::string id = Start().body["investigation_id"];
  const std::string other = Start().body["investigation_id"];
  EXPECT_EQ(Show(id, "/findings?limit=0").status, 422);
  EXPECT_EQ(Show(id, "/findings?limit=51").status, 422);
  EXPECT_EQ(Show(id, "/findings?cursor=" + std::string(2049, 'x')).status, 422);
  EXPECT_EQ(Show(id, "/findings?cursor=" + std::string(2048, 'x')).error(), "invalid_cursor");
  std::string wide;  // as many characters, of two bytes each
  for (int i = 0; i < 2048; ++i) wide += "%C3%A9";
  EXPECT_EQ(Show(id, "/findings?cursor=" + wide).error(), "invalid_cursor");
  EXPECT_EQ(Show(id, "/findings?page=2").status, 422);
  for (const char* whole : {"1", "50"}) {
    EXPECT_EQ(Show(id, std::string("/findings?limit=") + whole).status, 200);
  }
  EXPECT_EQ(Show(id, "/findings?cursor=nonsense").error(), "invalid_cursor");
  const std::string foreign = Show(other, "/findings").body["resume_cursor"];
  EXPECT_EQ(Show(id, "/findings?cursor=" + foreign).error(), "invalid_cursor");
  EXPECT_EQ(Show("none", "/findings").status, 404);
  EXPECT_EQ(Show(base::Uuid::V4().ToString()).status, 404);
  const std::string lookup = Ask("POST", "/find-email-async", One()).body["task_id"];
  EXPECT_EQ(Show(lookup).status, 404) << "a job of another kind";
}

TEST_F(ApiInvestigations, WhatHasTheWrongFormIsA422) {
  const auto refused = [&](const Json& changes) {
    const Reply reply = Start(changes);
    EXPECT_EQ(reply.status, 422) << changes;
    return reply.status == 422 ? reply.loc() + " " + reply.type() : "";
  };
  const auto seeds = [](const Json& seed) { return Json{{"seeds", Json::array({seed})}}; };
  EXPECT_EQ(refused({{"seeds", nullptr}}), R"(["body","seeds"] missing)");
  EXPECT_EQ(refused({{"seeds", "x"}}), R"(["body","seeds"] list_type)");
  EXPECT_EQ(refused({{"seeds", Json::array()}}), R"(["body","seeds"] too_short)");
  EXPECT_EQ(refused({{"seeds", std::vector<Json>(11, Seed("person", "x"))}}),
            R"(["body","seeds"] too_long)");
  EXPECT_EQ(refused(seeds("x")), R"(["body","seeds",0] dict_type)");
  EXPECT_EQ(refused(seeds({{"type", "domain"}})), R"(["body","seeds",0,"value"] missing)");
  EXPECT_EQ(refused(seeds({{"type", 5}, {"value", "x"}})),
            R"(["body","seeds",0,"type"] string_type)");
  EXPECT_EQ(refused(seeds(Seed("car", "x"))), R"(["body","seeds",0,"type"] enum)");
  EXPECT_EQ(refused(seeds(Seed("domain", "x"))), R"(["body","seeds",0,"value"] value_error)");
  EXPECT_EQ(refused(seeds(Seed("url", "ftp://x"))), R"(["body","seeds",0,"value"] value_error)");
  EXPECT_EQ(
      refused({{"seeds", Json::array({Seed("domain", "a.example"), Seed("domain", "A.example")})}}),
      R"(["body","seeds",1] duplicate)");
  Json coloured = Seed("domain", "a.example");
  coloured["colour"] = "red";
  EXPECT_EQ(refused(seeds(coloured)), R"(["body","seeds",0,"colour"] extra_forbidden)");
  EXPECT_EQ(refused(seeds(Seed("person", std::string(501, 'x').c_str()))),
            R"(["body","seeds",0,"value"] value_error)");
  EXPECT_EQ(refused(seeds(Seed("person", " "))), R"(["body","seeds",0,"value"] value_error)");
  EXPECT_EQ(refused({{"depth", 0}}), R"(["body","depth"] greater_than_equal)");
  EXPECT_EQ(refused({{"name", std::string(201, 'x')}}), R"(["body","name"] string_too_long)");
  EXPECT_EQ(refused({{"depth", 4}}), R"(["body","depth"] less_than_equal)");
  EXPECT_EQ(refused({{"findings_max", 0}}), R"(["body","findings_max"] greater_than_equal)");
  EXPECT_EQ(refused({{"findings_max", 10001}}), R"(["body","findings_max"] less_than_equal)");
  EXPECT_EQ(refused({{"name", ""}}), R"(["body","name"] string_too_short)");
  EXPECT_EQ(refused({{"webhook_url", "https://a.example/"}}),
            R"(["body","webhook_url"] extra_forbidden)");
  EXPECT_EQ(Start({{"credits_max", 0}}).status, 422);
  EXPECT_THAT(Start({{"credits_max", 4}}).raw.body,
              testing::HasSubstr("at least the seeds, which cost 5"));
  EXPECT_EQ(Start(seeds({{"type", "domain"}})).body["detail"].size(), 1U) << "one fault";
}

TEST_F(ApiInvestigations, TheLargestRequestIsTakenAndEveryTypeIsASeed) {
  Json seeds = Json::array({Seed("email", "a@a.example"), Seed("domain", "a.example"),
                            Seed("company", "Acme"), Seed("url", "https://a.example/"),
                            Seed("phone", "+4930123456"), Seed("ip", "192.0.2.7")});
  while (seeds.size() < 10) {
    seeds.push_back(Seed("person", (std::string(499, 'x') + std::to_string(seeds.size())).c_str()));
  }
  const Reply started = Start({{"name", std::string(200, 'n')},
                               {"seeds", seeds},
                               {"depth", 3},
                               {"findings_max", 10000},
                               {"credits_max", 50}});
  ASSERT_EQ(started.status, 200) << started.raw.body;
  const Reply shown = Show(started.body["investigation_id"]);
  EXPECT_EQ(shown.body["seeds"], seeds);
  EXPECT_EQ(shown.body["findings_max"], 10000);
  EXPECT_EQ(Sql("select count(*) from job_block"), "3");
  EXPECT_EQ(Sql("select min(parts_total) from job_block"), "3") << "at most four seeds a part";
}

TEST_F(ApiInvestigations, SeedsThatNobodyLooksAtAreNotReserved) {
  const Reply started =
      Start({{"seeds", Json::array({Seed("person", "Ada"), Seed("phone", "+4930")})}});
  ASSERT_EQ(started.status, 200) << started.raw.body;
  EXPECT_EQ(started.body["estimated_cost_cents"], 0);
}

TEST_F(ApiInvestigations, SeedsThatNobodyLooksAtTakeNothingOfTheCredits) {
  Json seeds = Json::array({Seed("person", "Ada"), Seed("phone", "+4930")});
  EXPECT_EQ(Start({{"seeds", seeds}, {"credits_max", 1}}).status, 200) << "they cost nothing";
  seeds.push_back(Seed("domain", "a.example"));
  EXPECT_THAT(Start({{"seeds", seeds}, {"credits_max", 4}}).raw.body,
              testing::HasSubstr("at least the seeds, which cost 5"));
  const Reply started = Start({{"seeds", seeds}, {"credits_max", 10}});
  ASSERT_EQ(started.status, 200) << started.raw.body;
  EXPECT_EQ(Sql("select subjects_max - subjects from investigation where id = '" +
                started.body["investigation_id"].get<std::string>() + "'"),
            "1")
      << "which pays for a subject that is found";
}

TEST_F(ApiInvestigations, FiveAreOpenAtOnceAndTheSixthIsRefused) {
  std::string first;
  for (int i = 0; i < 5; ++i) {
    const Reply started = Start();
    ASSERT_EQ(started.status, 200) << started.raw.body;
    if (first.empty()) first = started.body["task_id"];
  }
  const Reply sixth = Start();
  EXPECT_EQ(sixth.status, 429);
  EXPECT_EQ(sixth.error(), "too_many_deep_searches");
  EXPECT_EQ(sixth.Header("Retry-After"), "5");
  Sql("update account set balance_mc = 0");
  EXPECT_EQ(Start().status, 402) << "money is checked first";
  Sql("update account set balance_mc = 1000000");
  const Tenant other = NewTenant("other");
  GiveCredits(other.org_id, 5000);
  EXPECT_EQ(Start({}, {{"x-api-key", other.key}}).status, 200) << "five of each organisation";
  const Reply cancelled = Ask("POST", "/job-status/" + first + "/cancel", Json::object());
  EXPECT_EQ(cancelled.body["status"], "cancelled");
  EXPECT_EQ(Show(first).body["status_reason"], "cancelled_by_client");
  EXPECT_TRUE(Show(first, "/findings").body["complete"].get<bool>());
  EXPECT_EQ(Start().status, 200);
}

TEST_F(ApiInvestigations, AKeyThatIsRepeatedStartsNothingAndWhatCannotBePaidNeither) {
  const Headers key{{"idempotency-key", "k"}};
  const Reply first = Start({}, key);
  const Reply again = Start({}, key);
  EXPECT_EQ(again.body["already_started"], true);
  EXPECT_EQ(again.body["investigation_id"], first.body["investigation_id"]);
  EXPECT_EQ(Start({{"depth", 2}}, key).status, 422);
  Sql("update account set balance_mc = 0");
  const Reply poor = Start();
  EXPECT_EQ(poor.status, 402);
  EXPECT_EQ(poor.error(), "insufficient_credits");
  EXPECT_EQ(Sql("select count(*) from investigation"), "1");
}

}  // namespace
}  // namespace vedette::test
