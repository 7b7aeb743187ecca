#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>

#include "base/compression.h"
#include "base/crypto.h"
#include "base/json.h"
#include "config/lookup_config.h"
#include "domain/email/find_request.h"
#include "domain/email/suppression.h"
#include "domain/investigation/finding.h"
#include "domain/monitor/row_values.h"
#include "store/email/email_memory.h"
#include "store/jobs/claim.h"
#include "store/jobs/end.h"
#include "store/jobs/read.h"
#include "store/jobs/record.h"
#include "store/monitors/monitors.h"
#include "tests/store/support/jobs_support.h"
#include "tests/store/support/operator_support.h"

// `vedette ctl erase` reaches what it says, and nothing else.
namespace vedette::test {
namespace {

using base::Json;

constexpr const char* kAnn = "ann.zyxwvut@acme.com";
constexpr const char* kFound = R"({"email": [["ann.zyxwvut@acme.com", "OK", "COMPANY"]]})";

class Erasure : public AdminTest {
 protected:
  Erasure()
      : session(config.database, {.name = "test"}, clock, metrics, log),
        org(NewOrganisation()),
        org_id(*base::Uuid::Parse(org)) {}

  // A bulk of Ann, by her address, and Bob.
  base::Uuid NewBulk(const base::Uuid& of) {
    store::NewJob job = NewLookup(of, clock, 2, 0);
    domain::FindRequest request;
    request.rows.push_back({base::Json{{"email", kAnn}, {"own", "value"}}, {}});
    request.rows.push_back({base::Json{{"name", "Bob Example"}, {"domain", "acme.com"}}, {}});
    job.params_json = domain::FindParamsJson(request);
    EXPECT_TRUE(
        std::holds_alternative<store::JobStarted>(store::StartJob(session, clock, job, {10'000})));
    return job.id;
  }
  store::ClaimedJobChunk Claim(const base::Uuid& of) {
    const auto claim = store::ClaimJobChunks(session, {{domain::Lane::kLookup, of, 1, 1}},
                                             base::Uuid::V4(), std::chrono::seconds(30), {});
    return claim.chunks.at(0);
  }
  store::JobRecorded RecordEnd(const base::Uuid& job, const store::ClaimedJobChunk& chunk) {
    store::JobChunkRecord record;
    record.job_id = job;
    record.lease = chunk.lease;
    record.block = chunk.block;
    record.part = chunk.part;
    record.progress = chunk.progress;
    record.rows_done = 2;
    store::JobPartEnd end;
    end.rows_json = std::string("[[") + kFound + R"(],[{"email": []}]])";
    end.row_count = 2;
    record.what = end;
    return store::RecordJobChunks(session, clock, {record}).chunks.at(0);
  }
  // An investigation of Acme and of Ann, each in a part of its own.
  base::Uuid NewInvestigation() {
    store::NewJob job = NewLookup(org_id, clock, 1, 0);
    job.kind = domain::JobKind::kInvestigation;
    job.part_rows = 1;
    const Json seeds = Json::array({domain::SubjectJson({domain::SubjectKind::kDomain, "acme.com"}),
                                    domain::SubjectJson(Ann())});
    job.params_json = base::DumpJson(Json{{"rows", seeds}});
    job.blocks.clear();
    store::NewJobBlock& block = job.blocks.emplace_back();
    block.type = "investigate";
    block.lane = domain::Lane::kResearch;
    block.columns = std::vector<std::string>{"subject"};
    block.parts_total = 2;
    block.part_window = 2;
    block.rows_total = 2;
    job.investigation = store::NewInvestigation{base::DumpJson(seeds), 2, 1, 100, {}, {}};
    EXPECT_TRUE(
        std::holds_alternative<store::JobStarted>(store::StartJob(session, clock, job, {10'000})));
    return job.id;
  }
  static domain::Subject Ann() { return {domain::SubjectKind::kEmail, kAnn}; }
  // The chunks of the investigation, by part.
  std::map<int, store::ClaimedJobChunk> ClaimResearch() {
    const auto claim = store::ClaimJobChunks(session, {{domain::Lane::kResearch, org_id, 1, 9}},
                                             base::Uuid::V4(), std::chrono::seconds(30), {});
    std::map<int, store::ClaimedJobChunk> chunks;
    for (const auto& chunk : claim.chunks) chunks[chunk.part] = chunk;
    return chunks;
  }
  void RecordFindings(const base::Uuid& job, const store::ClaimedJobChunk& chunk,
                      const std::vector<domain::Finding>& found) {
    RecordCells(job, chunk, 1, "[[" + domain::WriteFindings(found) + "]]");
  }
  void RecordCells(const base::Uuid& job, const store::ClaimedJobChunk& chunk, int rows_done,
                   const std::string& rows_json) {
    store::JobChunkRecord record;
    record.job_id = job;
    record.lease = chunk.lease;
    record.block = chunk.block;
    record.part = chunk.part;
    record.progress = chunk.progress;
    record.rows_done = rows_done;
    record.what = store::JobPartEnd{rows_json, 1, {}, {}};
    const auto recorded = store::RecordJobChunks(session, clock, {record});
    EXPECT_EQ(recorded.chunks.at(0), store::JobRecorded::kRecorded);
  }
  void Learn(const base::Uuid& of, const std::string& address, const std::string& person_key = {}) {
    domain::EmailFact fact;
    fact.address = address;
    fact.person_key = person_key;
    fact.provider = "pattern";
    fact.checked_at = clock.Now();
    fact.until = clock.Now() + std::chrono::hours(1);
    store::LearnEmail(session, {domain::EmailLesson{of, {fact}, "acme.com", {}}});
  }
  Json Erase(Json more = Json::object()) {
    Json body{{"email", "Ann.Zyxwvut@ACME.com"}, {"reason", "asked"}};
    body.update(more);
    const Reply reply = Ask("POST", "/admin/v1/erase", body);
    EXPECT_EQ(reply.status, 200) << reply.raw.body;
    return reply.body;
  }
  // How many rows of any table hold the name, whatever its case.
  std::string Left() {
    return Sql(
        "select sum((xpath('/row/c/text()', query_to_xml(format('select count(*) as c from %I t "
        "where t::text ilike ''%%zyxwvut%%''', table_name), false, true, '')))[1]::text::int) "
        "from information_schema.tables where table_schema = 'public' and table_type = 'BASE "
        "TABLE'");
  }
  std::string Count(const std::string& from) { return Sql("select count(*) from " + from); }

  store::Session session;
  const std::string org;
  const base::Uuid org_id;
};

TEST_F(Erasure, OfEndedLookupsAndFactsNothingIsLeftAndOthersStay) {
  const base::Uuid job = NewBulk(org_id);
  EXPECT_EQ(RecordEnd(job, Claim(org_id)), store::JobRecorded::kRecorded);
  Learn(org_id, kAnn);
  Learn(org_id, "bob@acme.com");
  EXPECT_NE(Left(), "0");
  const Json erased = Erase();
  EXPECT_EQ(erased["facts"], 1);
  EXPECT_EQ(erased["jobs"], 1);
  EXPECT_EQ(erased["rows"], 1);
  EXPECT_FALSE(erased.contains("next_cursor"));
  EXPECT_EQ(Left(), "0") << "a dump of the database has no byte of the address";
  EXPECT_EQ(Count("email_fact"), "1");
  EXPECT_EQ(Sql("select params ->> 'rows' from job"),
            R"([{"erased":true},{"name":"Bob Example","domain":"acme.com"}])");
  EXPECT_EQ(Sql("select rows from job_part"), R"([[null],[{"email":[]}]])");
  const Json again = Erase();
  EXPECT_EQ(again["jobs"], 0);
  EXPECT_EQ(again["facts"], 0);
}

TEST_F(Erasure, ARecipientOfChannelsIsNobodyAfterwardsAndCountsAsUnsubscribed) {
  for (const std::string address : {"Ann.Zyxwvut@acme.com", "joann.zyxwvut@acme.com"}) {
    Sql("insert into recipient (id, org_id, digest, address, status) values (gen_random_uuid(), '" +
        org + "', sha256('" + address + "'), '" + address + "', 1)");
  }
  EXPECT_EQ(Erase()["recipients"], 1);
  EXPECT_EQ(Sql("select status from recipient where address is null"), "3");
  EXPECT_EQ(Sql("select address from recipient where address is not null"),
            "joann.zyxwvut@acme.com");
  EXPECT_EQ(Erase()["recipients"], 0);
}

TEST_F(Erasure, AnEntryOfTheAuditStaysWithoutWhatNamedThePerson) {
  Sql("delete from audit");
  for (const std::string address : {"Ann.Zyxwvut@acme.com", "joann.zyxwvut@acme.com"}) {
    Sql("insert into audit (id, actor, action, target, reason, remote_address, principal_kind, "
        "salt) values (gen_random_uuid(), 'user " +
        address + "', 'member.update', 'm', 'asked by " + address + "', '::1', 1, 'salt')");
  }
  EXPECT_EQ(Erase()["audit_entries"], 1);
  EXPECT_EQ(Sql("select count(*) from audit where actor = 'erased' and target = 'erased' and "
                "action = 'member.update' and reason is null and remote_address = 'erased' and "
                "salt is null and erased_at is not null"),
            "1");
  EXPECT_EQ(Sql("select count(*) from audit where reason = 'asked by joann.zyxwvut@acme.com'"),
            "1");
  EXPECT_EQ(Erase()["audit_entries"], 0);
}

// A refused guess is a fact about nobody. Where the person's lookup is erased, the guesses that
// their name makes go with it, and so do other addresses that were found for the name.
TEST_F(Erasure, WhatTheOrganisationKnowsByTheNameGoesWithTheLookup) {
  store::NewJob job = NewLookup(org_id, clock, 2, 0);
  domain::FindRequest request;
  request.rows.push_back({base::Json{{"name", "Ann Zyxwvut"}, {"domain", "acme.com"}}, {}});
  request.rows.push_back({base::Json{{"name", "Bob Example"}, {"domain", "acme.com"}}, {}});
  job.params_json = domain::FindParamsJson(request);
  ASSERT_TRUE(
      std::holds_alternative<store::JobStarted>(store::StartJob(session, clock, job, {10'000})));
  RecordEnd(job.id, Claim(org_id));
  domain::Person ann;
  ann.name = "Ann Zyxwvut";
  ann.domain = "acme.com";
  Learn(org_id, kAnn, domain::PersonKey(ann));
  Learn(org_id, "zann@acme.com", domain::PersonKey(ann));
  Learn(org_id, "azyxwvut@acme.com");
  domain::Person zoe = ann;
  zoe.name = "Zoe Zyxwvut";
  Learn(org_id, "zyxwvut@acme.com", domain::PersonKey(zoe));
  Learn(org_id, "bexample@acme.com");
  const base::Uuid other = *base::Uuid::Parse(NewOrganisation("Other"));
  Learn(other, "azyxwvut@acme.com");
  const Reply dry = Ask("POST", "/admin/v1/erase", Json{{"email", kAnn}, {"dry_run", true}});
  EXPECT_EQ(dry.body["facts"], 3);
  EXPECT_EQ(Count("email_fact"), "6");
  EXPECT_EQ(Erase()["facts"], 3);
  EXPECT_EQ(
      Sql("select string_agg(address, ' ' order by address) from email_fact where org_id = '" +
          org + "'"),
      "bexample@acme.com zyxwvut@acme.com");
  EXPECT_EQ(Count("email_fact"), "3") << "what another organisation guessed is nobody's there";
}

TEST_F(Erasure, OfInvestigationsSeedsSubjectsAndFindingsLoseThePersonAndTheRestIsReadable) {
  const base::Uuid job = NewInvestigation();
  const auto chunks = ClaimResearch();
  ASSERT_EQ(chunks.size(), 2U);
  const domain::Subject acme{domain::SubjectKind::kDomain, "acme.com"};
  domain::Finding told;
  told.provider = "website";
  told.evidence = "mailto:Ann.Zyxwvut@acme.com";
  auto found = domain::RelationTo(job, acme, "names", Ann(), told);
  found.push_back(told);
  found.back().kind = domain::FindingKind::kAttribute;
  found.back().subject = acme;
  found.back().predicate = "title";
  found.back().evidence = "Acme";
  RecordFindings(job, chunks.at(0), found);
  const Json erased = Erase();
  EXPECT_EQ(erased["jobs"], 1);
  EXPECT_EQ(erased["findings"], 2);
  EXPECT_EQ(Left(), "0");
  EXPECT_EQ(Sql("select seeds from investigation"),
            R"([{"type":"domain","value":"acme.com"},{"type":"email","value":null}])");
  const auto findings = store::ListFindings(session, job, 0, 10);
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].object_json.value_or(""), R"({"type":"email","value":null})");
  EXPECT_EQ(findings[0].evidence, "");
  EXPECT_EQ(findings[1].subject_json, R"({"type":"email","value":null})");
  EXPECT_EQ(findings[2].evidence, "Acme");
  // The worker that looked at her at that moment has lost it; what is claimed again is done
  // already.
  EXPECT_EQ(Sql("select count(*) from job_chunk where lease_token is not null"), "0");
  EXPECT_EQ(Erase()["jobs"], 0);
}

// What is left of an investigation is recorded to its end.
TEST_F(Erasure, AnInvestigationGoesOnWithoutThePerson) {
  const base::Uuid job = NewInvestigation();
  Erase();
  const auto chunks = ClaimResearch();
  ASSERT_EQ(chunks.size(), 2U);
  RecordFindings(job, chunks.at(0), {});
  ASSERT_TRUE(chunks.at(1).done_json);
  EXPECT_EQ(base::DumpJson(base::ParseJsonOrThrow(*chunks.at(1).done_json)),
            R"({"rows":[[null]],"later":{}})");
  RecordCells(job, chunks.at(1), 0, "[[null]]");
  EXPECT_EQ(Sql("select status from job"), "2") << "completed";
  EXPECT_EQ(Left(), "0");
}

TEST_F(Erasure, ADryRunCountsAndChangesNothing) {
  const base::Uuid job = NewBulk(org_id);
  RecordEnd(job, Claim(org_id));
  Learn(org_id, kAnn);
  const Reply reply = Ask("POST", "/admin/v1/erase", Json{{"email", kAnn}, {"dry_run", true}});
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.body["facts"], 1);
  EXPECT_EQ(reply.body["rows"], 1);
  EXPECT_EQ(Count("email_fact"), "1");
  EXPECT_EQ(Count("suppression"), "0");
  EXPECT_EQ(Count("audit where action = 'erase'"), "0");
  EXPECT_EQ(Sql("select rows -> 0 ->> 0 is null from job_part"), "f");
}

TEST_F(Erasure, AnOrganisationsOwnLeavesTheOthersAlone) {
  const std::string other = NewOrganisation("Other");
  const base::Uuid other_id = *base::Uuid::Parse(other);
  NewBulk(org_id);
  NewBulk(other_id);
  Learn(org_id, kAnn);
  Learn(other_id, kAnn);
  const Json erased = Erase({{"org_id", org}});
  EXPECT_EQ(erased["jobs"], 1);
  EXPECT_EQ(erased["facts"], 1);
  EXPECT_EQ(Count("job where params::text ilike '%zyxwvut%'"), "1");
  EXPECT_EQ(Sql("select org_id from email_fact"), other);
  EXPECT_EQ(Sql("select org_id from suppression"), org);
  EXPECT_EQ(Ask("POST", "/admin/v1/erase",
                Json{{"email", kAnn}, {"reason", "r"}, {"org_id", base::Uuid::V4().ToString()}})
                .status,
            404);
}

// The worker that has the row at this moment loses it: what it records is dropped, and the row ends
// without being worked on.
TEST_F(Erasure, WhoHoldsTheRowRecordsNothingOfIt) {
  const base::Uuid job = NewBulk(org_id);
  const auto held = Claim(org_id);
  EXPECT_EQ(Erase()["rows"], 1);
  EXPECT_EQ(RecordEnd(job, held), store::JobRecorded::kDropped);
  EXPECT_EQ(Left(), "0");
  const auto next = Claim(org_id);
  ASSERT_TRUE(next.done_json);
  EXPECT_EQ(base::DumpJson(base::ParseJsonOrThrow(*next.done_json)),
            R"({"rows":[[null],null],"later":{}})");
  EXPECT_EQ(Sql("select rows_done from job_block"), "1") << "the erased row counts as done";
  EXPECT_EQ(next.claims, 1) << "the claim that was taken away does not count";
}

// A run's worker has read the rows of the block before: it loses them as well.
TEST_F(Erasure, WhoHoldsRowsOfARunRecordsNothingOfThem) {
  store::NewJob run = NewLookup(org_id, clock, 2, 0);
  run.kind = domain::JobKind::kWorkflow;
  run.blocks.clear();
  for (const char* type : {"webhook", "enrich_lead"}) {
    store::NewJobBlock& block = run.blocks.emplace_back();
    block.type = type;
    block.lane = domain::Lane::kLookup;
    block.parts_total = 1;
    block.part_window = 1;
    block.columns = std::vector<std::string>{"email"};
  }
  run.blocks[0].rows_total = 2;
  run.blocks[1].input = 0;
  run.parts.push_back({std::string("[[\"") + kAnn + "\"],[\"bob@acme.com\"]]", 2});
  ASSERT_TRUE(
      std::holds_alternative<store::JobStarted>(store::StartJob(session, clock, run, {10'000})));
  const auto held = Claim(org_id);
  EXPECT_EQ(Erase()["rows"], 1);
  EXPECT_EQ(RecordEnd(run.id, held), store::JobRecorded::kDropped);
  EXPECT_EQ(Left(), "0");
  const auto next = Claim(org_id);
  EXPECT_FALSE(next.done_json) << "nothing of it was done";
  EXPECT_EQ(next.claims, 1) << "the claim that was taken away does not count";
  EXPECT_EQ(Sql("select rows from job_part where block = 0"), R"([[null],["bob@acme.com"]])");
}

// A row that waits for a provider is put off with its chunk. Where no row waits any more, the chunk
// is due, and the job ends.
TEST_F(Erasure, WhatWaitedForTheRowAloneWaitsNoLonger) {
  const base::Uuid job = NewBulk(org_id);
  const auto put_off = [&](const std::string& later) {
    Sql("update job_chunk set available_at = now() + interval '1 hour', done = '{\"rows\": [null, "
        "null], \"later\": {" +
        later + "}}'");
  };
  const std::string hers = R"("0": {"not_before": 1, "memo": {}})";
  put_off(hers + R"(, "1": {"not_before": 1, "memo": {}})");
  Erase();
  EXPECT_EQ(Sql("select available_at > now() from job_chunk"), "t") << "Bob is waited for";
  Sql("update job set params = replace(params::text, '{\"erased\":true}', '{\"email\":\"" +
      std::string(kAnn) + "\"}')::json");
  put_off(hers);
  EXPECT_EQ(Erase()["jobs"], 1);
  EXPECT_EQ(Sql("select available_at <= now() from job_chunk"), "t");
  EXPECT_EQ(RecordEnd(job, Claim(org_id)), store::JobRecorded::kRecorded);
}

TEST_F(Erasure, AJobThatEndsBeforeItsRowIsWorkedOnShowsNothingOfIt) {
  const base::Uuid job = NewBulk(org_id);
  Erase();
  store::EndJob(session, clock, {}, job, {domain::JobStatus::kCancelled, "a_reason", {}});
  EXPECT_EQ(Left(), "0");
  EXPECT_EQ(Sql("select rows from job_part"), "[[null],null]");
}

TEST_F(Erasure, NobodyLooksThePersonUpAnyMoreAndTheAuditNamesNobody) {
  Erase({{"profile", "https://linkedin.com/in/zyxwvut"}});
  EXPECT_EQ(Count("suppression"), "2");
  EXPECT_EQ(Sql("select string_agg(target, ' ' order by target) from audit where action = 'erase'"),
            "address profile");
  EXPECT_EQ(Left(), "0");
  const Reply list = Ask("GET", "/admin/v1/suppressions?limit=1");
  ASSERT_EQ(list.body["items"].size(), 1U);
  EXPECT_EQ(list.body["items"][0]["reason"], "asked");
  EXPECT_TRUE(list.body["items"][0]["org_id"].is_null());
  const std::string cursor = list.body["next_cursor"];
  const Reply rest = Ask("GET", "/admin/v1/suppressions?limit=1&cursor=" + cursor);
  EXPECT_EQ(rest.body["items"].size(), 1U);
  EXPECT_FALSE(rest.body.contains("next_cursor"));
  EXPECT_NE(rest.body["items"][0]["kind"], list.body["items"][0]["kind"]);
  EXPECT_EQ(Ask("GET", "/admin/v1/suppressions?kind=profile").body["items"].size(), 1U);
  EXPECT_EQ(Ask("GET", "/admin/v1/suppressions?kind=shoe").status, 422);
  EXPECT_EQ(Ask("GET", "/admin/v1/suppressions?cursor=x").status, 400);
}

TEST_F(Erasure, ASuppressionIsRemovedAlsoWhereAnEarlierReleaseStoredIt) {
  const auto keys = domain::PersonSuppressions("Dr. Ann Example", "acme.com");
  ASSERT_GT(keys.size(), 1U);
  store::Suppress(session, clock, keys.back(), {}, "asked", {});
  const Json person{{"name", "Dr. Ann Example"}, {"domain", "acme.com"}};
  const auto removed = [&] {
    return Ask("POST", "/admin/v1/suppressions/remove", person).body["removed"].get<bool>();
  };
  EXPECT_TRUE(removed());
  EXPECT_EQ(Count("suppression"), "0");
  EXPECT_FALSE(removed());
}

// A run keeps the specs of its blocks twice: in its definition, and bound. They stay texts.
TEST_F(Erasure, SpecsOfRunsLoseThePersonAndTheRestStays) {
  NewBulk(org_id);
  // A definition may be as deep as a document of JSON; in the params it is one deeper.
  const std::string deep =
      R"("dataframe_type":"LEAD","deep":)" + std::string(60, '[') + std::string(60, ']') + "}";
  const std::string specs = R"({"webhook_input":"[{\"email\":\"ann.zyxwvut@acme.com\"}]",)" + deep;
  const std::string kept = R"({"webhook_input":"",)" + deep;
  const auto definition = [](const std::string& of) {
    return R"({"definition":{"blocks":[{"block_id":"1","specs":)" + of +
           R"(}],"edges":[]},"dataframe_type":"LEAD"})";
  };
  const auto bound = [](const std::string& of) {
    return R"({"block_id":"1","specs":)" + of + R"(,"columns":["email"]})";
  };
  Sql("update job set kind = 5, params = '" + definition(specs) + "'");
  Sql("update job_block set specs = '" + bound(specs) + "'");
  EXPECT_EQ(Erase({{"dry_run", true}})["jobs"], 1);
  EXPECT_EQ(Sql("select specs from job_block"), bound(specs));
  const Json erased = Erase();
  EXPECT_EQ(erased["jobs"], 1);
  EXPECT_EQ(erased["rows"], 0);
  EXPECT_EQ(Sql("select params from job"), definition(kept));
  EXPECT_EQ(Sql("select specs from job_block"), bound(kept));
  EXPECT_EQ(Erase()["jobs"], 0);
}

TEST_F(Erasure, WhatReceiversAnsweredGoesWhereItNamesThePerson) {
  const auto answered = [&](int attempt, const std::string& answer, const std::string& of) {
    Sql("insert into delivery_attempt (delivery_id, attempt, org_id, job_id, job_status, "
        "event_group_id, type, created_at, attempted_at, delivered, answer, duration_us) values "
        "('" +
        of + "', " + std::to_string(attempt) + ", '" + of + "', '" + of +
        "', 2, gen_random_uuid(), 0, now(), now(), true, '\\x" + base::HexEncode(answer) + "', 1)");
  };
  answered(1, "\xff{\"lead\":{\"email\":\"Ann.Zyxwvut@acme.com\"", org);
  answered(2, "thanks, joann.zyxwvut@acme.com", org);
  answered(3, "https://x.com/?m=ann.zyxwvut%40acme.com", NewOrganisation("Other"));
  EXPECT_EQ(Erase({{"dry_run", true}, {"org_id", org}})["answers"], 1);
  EXPECT_EQ(Count("delivery_attempt where answer is null"), "0");
  EXPECT_EQ(Erase({{"org_id", org}})["answers"], 1);
  EXPECT_EQ(Sql("select attempt from delivery_attempt where answer is null"), "1");
  EXPECT_EQ(Erase()["answers"], 1);
  EXPECT_EQ(Sql("select attempt from delivery_attempt where answer is not null"), "2");
}

TEST_F(Erasure, RowsOfMonitorsAreListedAndLeft) {
  store::NewMonitor monitor;
  monitor.org_id = org_id;
  monitor.name = "contacts";
  monitor.frequency_text = "1d";
  monitor.frequency = std::chrono::days(1);
  monitor.key_columns = {"contact"};
  monitor.struct_json = R"({"price":"price"})";
  const domain::ColumnRoles roles{{"contact"}, {"price"}};
  for (const char* contact : {"Ann <ann.zyxwvut@acme.com>", "joann.zyxwvut@acme.com"}) {
    Json row = Json::object();
    row["contact"] = contact;
    monitor.rows.push_back(domain::SplitRow(row, roles));
  }
  const auto made = store::CreateMonitor(session, clock, monitor);
  monitor.metadata_json = R"({"for":"\u201cann.zyxwvut@acme.com\u201d"})";
  monitor.rows.erase(monitor.rows.begin());
  const auto other = store::CreateMonitor(session, clock, monitor);
  const Json erased = Erase();
  EXPECT_EQ(erased["monitors"], Json::array({other.monitor_id.ToString()}));
  ASSERT_EQ(erased["monitor_rows"].size(), 1U);
  EXPECT_EQ(erased["monitor_rows"][0]["monitor_id"], made.monitor_id.ToString());
  EXPECT_EQ(erased["monitor_rows"][0]["row_id"], made.row_ids.at(0).ToString());
  EXPECT_EQ(Sql("select subject ->> 'contact' from monitor_row where position = 0"),
            "Ann <ann.zyxwvut@acme.com>");
}

// A definition's own records and what schedules give are their owner's, too.
TEST_F(Erasure, WorkflowsAndTheirSchedulesAreListedAndLeft) {
  const auto make = [&](const std::string& address) {
    const std::string id = base::Uuid::V4().ToString();
    Json block = Json::object();
    block["webhook_input"] = base::DumpJson(Json::array({Json{{"email", address}}}));
    Sql("insert into workflow (id, org_id, name, description, definition, caller_kind, caller_id) "
        "values ('" +
        id + "', '" + org + "', 'w', '', '" + base::DumpJson(block) + "', 0, '" + org + "')");
    for (const char* column : {"specs_override", "webhook_payload"}) {
      Sql(std::string("insert into workflow_schedule (id, org_id, workflow_id, name, frequency, "
                      "frequency_s, anchor_at, overlap, catch_up_s, is_active, caller_kind, "
                      "caller_id, next_at, look_at, ") +
          column + ") values (gen_random_uuid(), '" + org + "', '" + id +
          "', 's', '1d', 86400, now(), 0, 0, true, 0, '" + org + "', now(), now(), '" +
          base::DumpJson(Json::array({Json{{"email", address}}})) + "')");
    }
    return id;
  };
  const std::string hers = make("Ann.Zyxwvut@acme.com");
  make("joann.zyxwvut@acme.com");
  for (const bool is_dry : {true, false}) {
    const Json erased = Erase({{"dry_run", is_dry}});
    EXPECT_EQ(erased["workflows"], Json::array({hers}));
    ASSERT_EQ(erased["schedules"].size(), 2U);
    for (const Json& id : erased["schedules"]) {
      EXPECT_EQ(Sql("select workflow_id from workflow_schedule where id = '" +
                    id.get<std::string>() + "'"),
                hers);
    }
  }
  const Json others = Erase({{"org_id", NewOrganisation("Other")}});
  EXPECT_TRUE(others["workflows"].empty() && others["schedules"].empty());
}

// A cursor of another erasure, or of one's own making, would leave out the first call's work.
TEST_F(Erasure, ACursorIsOfItsErasureAloneAndEachCallIsInTheAudit) {
  Json dry{{"email", kAnn}, {"dry_run", true}};
  const auto status = [&](const std::string& kind_and_bound) {
    dry["cursor"] = base::Base64UrlEncode(kind_and_bound + std::string(16, '\0'));
    return Ask("POST", "/admin/v1/erase", dry).status;
  };
  EXPECT_EQ(status("\x01x" + std::string(16, '\0')), 400);
  const auto bound = [&](const std::string& text) {
    const auto target = domain::AddressSuppression(kAnn);
    return "\x01x" + base::Sha256(text + "address" + target->hash).substr(0, 16);
  };
  EXPECT_EQ(status(bound("erase")), 400) << "of no dry run";
  EXPECT_EQ(status(bound("count")), 200);
  EXPECT_EQ(Count("audit where action = 'erase'"), "0");
  const Json cursor{{"cursor", base::Base64UrlEncode(bound("erase") + std::string(16, '\0'))}};
  Erase(cursor);
  EXPECT_EQ(Count("suppression"), "1");
  EXPECT_EQ(Count("audit where action = 'erase' and reason is null"), "1");
  Json other{{"email", kAnn}, {"reason", "r"}, {"org_id", org}};
  other.update(cursor);
  EXPECT_EQ(Ask("POST", "/admin/v1/erase", other).status, 400);
}

// A page that names her goes with its picture and that of its row's last failure; another one of
// the same picture keeps it.
TEST_F(Erasure, SnapshotsWhosePagesNameThePersonGoAndOthersStay) {
  const auto keep = [&](const std::string& text, const std::string& picture, int tick) {
    const std::string id = base::Uuid::V4().ToString();
    const auto hex = [](const std::string& bytes) { return "'\\x" + base::HexEncode(bytes) + "'"; };
    const std::string texts = base::Sha256(text);
    Sql("insert into snapshot_content (org_id, hash, body) values ('" + org + "', " + hex(texts) +
        ", " + hex(base::Compressed(text)) + "), ('" + org + "', " + hex(base::Sha256(picture)) +
        ", " + hex(picture) + ") on conflict do nothing");
    Sql("insert into snapshot (id, org_id, monitor_id, row_id, tick_id, url, is_rendered, "
        "text_hash, text_bytes, picture_hash) values ('" +
        id + "', '" + org + "', gen_random_uuid(), '" + id + "', " + std::to_string(tick) +
        ", 'https://x/', true, " + hex(texts) + ", 1, " + hex(base::Sha256(picture)) + ")");
    Sql("insert into failed_page (row_id, id, org_id, monitor_id, picture) values ('" + id +
        "', gen_random_uuid(), '" + org + "', gen_random_uuid(), 'p')");
    return id;
  };
  const std::string hers = keep("Write to Ann.Zyxwvut@acme.com for prices", "shared", 1);
  keep("# Contact\nann.zyxwvut@acme.com", "her own", 2);
  const std::string others = keep("Write to joann.zyxwvut@acme.com", "shared", 3);
  EXPECT_EQ(Erase({{"dry_run", true}})["snapshots"], 2);
  EXPECT_EQ(Sql("select count(*) from snapshot"), "3");
  EXPECT_EQ(Erase()["snapshots"], 2);
  EXPECT_EQ(Sql("select string_agg(id::text, ' ') from snapshot"), others);
  EXPECT_EQ(Sql("select count(*) from snapshot_content"), "2") << "a text, and a picture";
  EXPECT_EQ(Sql("select string_agg(row_id::text, ' ') from failed_page"), others);
  EXPECT_NE(hers, others);
}

TEST_F(Erasure, FaultsNameTheFieldAndTheRule) {
  const auto fault = [this](const Json& body) {
    const Reply reply = Ask("POST", "/admin/v1/erase", body);
    return std::to_string(reply.status) + " " +
           (reply.status == 422 ? reply.body["detail"][0]["loc"][1].get<std::string>() : "");
  };
  EXPECT_EQ(fault(Json{{"reason", "r"}}), "422 email");
  EXPECT_EQ(fault(Json{{"email", "ann"}, {"reason", "r"}}), "422 email");
  EXPECT_EQ(fault(Json{{"email", kAnn}}), "422 reason");
  EXPECT_EQ(fault(Json{{"email", kAnn}, {"reason", "r"}, {"cursor", "x"}}), "400 ");
  EXPECT_EQ(fault(Json{{"email", kAnn}, {"reason", "r"}, {"colour", 1}}), "422 colour");
}

TEST_F(Erasure, MailServersThatAreLeftAloneAreListedAndReleasedWithAnAudit) {
  Sql("insert into mail_host values ('verify.example google', 2, now() + interval '1 hour', 16, "
      "'550 5.7.1 listed', now())");
  const Json host = Ask("GET", "/admin/v1/email/hosts").body["items"][0];
  EXPECT_EQ(host["key"], "verify.example google");
  EXPECT_EQ(host["reason"], "policy");
  EXPECT_EQ(host["last_reply"], "550 5.7.1 listed");
  EXPECT_TRUE(host["blocked_until"].is_string());
  const Json body{{"key", "verify.example google"}, {"reason", "delisted"}};
  EXPECT_EQ(Ask("POST", "/admin/v1/email/hosts/unblock", body).body["unblocked"], true);
  EXPECT_EQ(Ask("POST", "/admin/v1/email/hosts/unblock", body).body["unblocked"], false);
  EXPECT_EQ(Sql("select target from audit where action = 'email.unblock'"),
            "verify.example google");
  EXPECT_TRUE(Ask("GET", "/admin/v1/email/hosts").body["items"][0]["blocked_until"].is_null());
}

TEST_F(Erasure, BudgetsOfMailServersAreListedWhileTheirWindowIsOpen) {
  Sql("insert into mail_budget values ('domain acme.com', now() - interval '59 minutes', 7), "
      "('domain old.com', now() - interval '61 minutes', 60), ('class verify.example google', "
      "now() - interval '2 minutes', 3), ('hello verify.example', now() - interval '2 hours', 9)");
  const Json items = Ask("GET", "/admin/v1/email/budgets").body["items"];
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0]["key"], "hello verify.example");
  EXPECT_EQ(items[0]["used"], 9);
  EXPECT_EQ(items[0]["max"], config.smtp.per_day);
  EXPECT_EQ(items[1]["key"], "domain acme.com");
  EXPECT_EQ(items[1]["max"], config.smtp.per_domain_hour);
  EXPECT_GT(items[1]["ends_at"], items[1]["window_at"]);
  EXPECT_EQ(Ask("GET", "/admin/v1/email/budgets?limit=1").body["items"].size(), 1U);
  EXPECT_EQ(Ask("GET", "/admin/v1/email/budgets?limit=0").status, 422);
}

}  // namespace
}  // namespace vedette::test
