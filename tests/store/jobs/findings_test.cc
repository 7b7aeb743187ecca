// What the records of investigations keep: every finding once, numbered in the order of commits
// without gaps, within the budgets; and what the next block looks at.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <pqxx/pqxx>
#include <string>
#include <thread>

#include "base/json.h"
#include "domain/investigation/finding.h"
#include "store/jobs/read.h"
#include "store/queries.h"
#include "tests/store/support/jobs_support.h"

namespace vedette::test {
namespace {

using base::Json;
using domain::Finding;
using domain::FindingKind;
using domain::Subject;
using domain::SubjectKind;

constexpr std::int64_t kPrice = 5000;

class FindingsTest : public JobsTest {
 public:
  store::NewJob Investigation(const std::vector<Subject>& seeds, int depth,
                              int findings_max = 1000) const {
    store::NewJob job = Lookup(1);
    job.kind = domain::JobKind::kInvestigation;
    job.part_rows = 1;
    Json rows = Json::array();
    for (const Subject& seed : seeds) rows.push_back(domain::SubjectJson(seed));
    job.params_json = base::DumpJson(Json{{"rows", rows}});
    job.estimate_mc = kPrice * static_cast<std::int64_t>(seeds.size());
    job.blocks.clear();
    for (int block = 0; block < depth; ++block) {
      store::NewJobBlock& made = job.blocks.emplace_back();
      made.type = "investigate";
      made.lane = domain::Lane::kResearch;
      made.price_mc = kPrice;
      made.columns = std::vector<std::string>{"subject"};
      made.parts_total = static_cast<int>(seeds.size());
      made.part_window = made.parts_total;
      if (block == 0) {
        made.rows_total = static_cast<std::int64_t>(seeds.size());
      } else {
        made.input = block - 1;
        made.after_drop = true;
      }
    }
    job.investigation = store::NewInvestigation{
        base::DumpJson(rows), static_cast<int>(seeds.size()), depth, findings_max, {}, {}};
    return job;
  }

  static Subject Domain(const std::string& name) { return {SubjectKind::kDomain, name}; }
  static Finding Attribute(const Subject& subject, const std::string& value) {
    Finding finding;
    finding.kind = FindingKind::kAttribute;
    finding.subject = subject;
    finding.predicate = "dns_text";
    finding.object = domain::FindingObject{"text", value};
    finding.evidence = "TXT " + value;
    finding.provider = "dns";
    return finding;
  }
  static std::vector<Finding> LinkTo(const base::Uuid& id, const Subject& from, const Subject& to) {
    Finding what;
    what.provider = "website";
    what.sources = {"https://a.example/"};
    what.confidence = 5;
    return domain::RelationTo(id, from, "links_to", to, what);
  }

  // The chunk's rows have found these, each row a list.
  static store::JobChunkRecord Ended(const store::ClaimedJobChunk& chunk,
                                     const std::vector<std::vector<Finding>>& rows) {
    auto record =
        PartEnd(chunk, static_cast<int>(rows.size()), static_cast<int>(rows.size()), kPrice);
    Json cells = Json::array();
    for (const auto& row : rows) {
      cells.push_back(Json::array({base::ParseJsonOrThrow(domain::WriteFindings(row))}));
    }
    auto& end = std::get<store::JobPartEnd>(record.what);
    end.rows_json = base::DumpJson(cells);
    end.row_count = static_cast<int>(rows.size());
    return record;
  }

  std::vector<std::string> Listed(const base::Uuid& id) {
    std::vector<std::string> listed;
    for (const auto& finding : store::ListFindings(session, id, 0, 1000)) {
      listed.push_back(std::to_string(finding.seq) + " " + finding.subject_json);
    }
    return listed;
  }
  std::string About(const base::Uuid& id, const std::string& column) {
    return Sql("select " + column + " from investigation where id = '" + id.ToString() + "'");
  }
};

TEST_F(FindingsTest, AFindingIsKeptOnceHoweverOftenItIsFound) {
  const auto job = Investigation({Domain("a.example"), Domain("b.example")}, 1);
  Start(job);
  const auto claim = Claim();
  ASSERT_EQ(claim.chunks.size(), 2U);
  const Finding shared = Attribute(Domain("c.example"), "x");
  const std::vector<Finding> found = {shared, shared, Attribute(Domain("c.example"), "y")};
  RecordJob(job.id, {Ended(claim.chunks[0], {found})});
  RecordJob(job.id, {Ended(claim.chunks[1], {{Attribute(Domain("c.example"), "z"), shared}})});
  const auto findings = store::ListFindings(session, job.id, 0, 100);
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].seq, 1);
  EXPECT_EQ(findings[2].seq, 3);
  EXPECT_EQ(findings[0].id, domain::FindingId(job.id, shared));
  EXPECT_EQ(findings[0].evidence, "TXT x");
  EXPECT_EQ(Job(job.id, "status"), "2");
  EXPECT_EQ(Job(job.id, "charged_mc"), std::to_string(2 * kPrice));
  EXPECT_EQ(About(job.id, "next_seq"), "4");
  ExpectJobMoneyAddsUp();
}

TEST_F(FindingsTest, NewEntitiesAreWhatTheNextBlockLooksAtAndACycleEnds) {
  const Subject a = Domain("a.example");
  const Subject b = Domain("b.example");
  const auto job = Investigation({a}, 3);
  Start(job);
  auto claim = Claim();
  auto found = LinkTo(job.id, a, b);
  for (const Subject& other : {a, Subject{SubjectKind::kPerson, "Ada"}}) {
    for (Finding& f : LinkTo(job.id, a, other)) found.push_back(f);
  }
  RecordJob(job.id, {Ended(claim.chunks.at(0), {found})});
  EXPECT_EQ(Sql("select rows::text from job_part where block = 0"),
            R"([[{"type":"domain","value":"b.example"}]])")
      << "neither a seed, nor a person, of whom nothing can be found";
  EXPECT_EQ(Job(job.id, "reserved_mc"), std::to_string(kPrice)) << "for b alone";
  claim = Claim();
  ASSERT_EQ(claim.chunks.size(), 1U);
  EXPECT_EQ(claim.chunks[0].block, 1);
  // b leads back to a and to itself: nothing is new, and the last block has nothing to do.
  auto back = LinkTo(job.id, b, a);
  for (Finding& f : LinkTo(job.id, b, b)) back.push_back(f);
  RecordJob(job.id, {Ended(claim.chunks[0], {back})});
  claim = Claim();
  ASSERT_EQ(claim.chunks.size(), 1U);
  RecordJob(job.id, {Ended(claim.chunks[0], {})});
  EXPECT_EQ(Job(job.id, "status"), "2");
  EXPECT_EQ(Job(job.id, "charged_mc"), std::to_string(2 * kPrice));
  EXPECT_EQ(About(job.id, "subjects"), "2");
  ExpectJobMoneyAddsUp();
}

TEST_F(FindingsTest, WhetherAnEntityIsLookedAtIsSaidByTheProcessThatFoundIt) {
  const Subject a = Domain("a.example");
  const auto job = Investigation({a}, 2);
  Start(job);
  std::vector<Finding> found;
  const auto add = [&](const Subject& to, std::optional<bool> is_expandable) {
    for (Finding& finding : LinkTo(job.id, a, to)) {
      finding.is_expandable = is_expandable;
      found.push_back(finding);
    }
  };
  add({SubjectKind::kCompany, "Acme"}, true);
  add({SubjectKind::kUrl, "https://a.example/"}, false);
  add({SubjectKind::kPhone, "+4930"}, std::nullopt);
  add(Domain("b.example"), std::nullopt);
  RecordJob(job.id, {Ended(Claim().chunks.at(0), {found})});
  EXPECT_EQ(Sql("select rows::text from job_part where block = 0"),
            R"([[{"type":"company","value":"Acme"}],[{"type":"domain","value":"b.example"}]])");
  EXPECT_EQ(Listed(job.id).size(), 8U) << "the others are kept";
  EXPECT_EQ(Job(job.id, "reserved_mc"), std::to_string(2 * kPrice));
}

TEST_F(FindingsTest, AtItsNumberOfFindingsAnInvestigationIsCompleted) {
  const auto job = Investigation({Domain("a.example"), Domain("b.example")}, 2, 3);
  Start(job);
  const auto claim = Claim();
  std::vector<Finding> found;
  for (int i = 0; i < 5; ++i) found.push_back(Attribute(Domain("a.example"), std::to_string(i)));
  RecordJob(job.id, {Ended(claim.chunks.at(0), {found})});
  EXPECT_EQ(Listed(job.id).size(), 3U);
  EXPECT_EQ(Job(job.id, "status"), "2");
  EXPECT_EQ(About(job.id, "budget_reached"), "t");
  EXPECT_NE(store::ListFindings(session, job.id, 2, 1).at(0).evidence.find("ended here"),
            std::string::npos);
  EXPECT_EQ(Job(job.id, "charged_mc"), std::to_string(kPrice));
  EXPECT_EQ(RecordOne(job.id, Ended(claim.chunks.at(1), {found})), store::JobRecorded::kDropped);
  ExpectJobMoneyAddsUp();
}

TEST_F(FindingsTest, OverItsCreditsAnInvestigationKeepsEntitiesAndLooksAtNoneOfThem) {
  auto job = Investigation({Domain("a.example")}, 2);
  job.investigation->credits_mc_max = 3 * kPrice;
  job.investigation->subjects_max = 3;
  Start(job);
  std::vector<Finding> found;
  for (const char* name : {"b.example", "c.example", "d.example", "e.example"}) {
    for (Finding& f : LinkTo(job.id, Domain("a.example"), Domain(name))) found.push_back(f);
  }
  RecordJob(job.id, {Ended(Claim().chunks.at(0), {found})});
  EXPECT_EQ(Listed(job.id).size(), 8U);
  EXPECT_EQ(Sql("select row_count from job_part where block = 0"), "2");
  EXPECT_EQ(About(job.id, "budget_reached"), "t");
  RecordJob(job.id, {Ended(Claim().chunks.at(0), {{}, {}})});
  EXPECT_EQ(Job(job.id, "status"), "2");
  EXPECT_EQ(Job(job.id, "charged_mc"), std::to_string(3 * kPrice)) << "to the millicredit";
  ExpectJobMoneyAddsUp();
}

TEST_F(FindingsTest, RowsOfAPartThatGoesOnAreKeptOnceAndTheirEntitiesAreLookedAtWithThePart) {
  auto job = Investigation({Domain("a.example")}, 2);
  Start(job);
  const auto chunk = Claim().chunks.at(0);
  const auto found = LinkTo(job.id, Domain("a.example"), Domain("b.example"));
  const Json cell = base::ParseJsonOrThrow(domain::WriteFindings(found));
  const Json done{{"rows", Json::array({Json::array({cell})})}, {"later", Json::object()}};
  EXPECT_EQ(RecordOne(job.id, Progress(chunk, base::DumpJson(done), 1, kPrice)),
            store::JobRecorded::kRecorded);
  EXPECT_EQ(Listed(job.id).size(), 2U) << "readable before the part has ended";
  auto end = Ended(chunk, {found});
  end.progress = 1;
  end.rows_charged = 0;
  end.charge_mc = 0;
  RecordJob(job.id, {end});
  EXPECT_EQ(Listed(job.id).size(), 2U);
  EXPECT_EQ(Sql("select row_count from job_part where block = 0"), "1");
}

// The end of a million findings costs what their beginning does.
TEST_F(FindingsTest, APageIsOneRangeOfAnIndex) {
  const auto job = Investigation({Domain("a.example")}, 1);
  Start(job);
  Sql(fmt::format(
      "insert into finding (investigation_id, seq, id, org_id, kind, subject, predicate, evidence, "
      "sources, provider, derived_from, block, part) select i.id, n, gen_random_uuid(), i.org_id, "
      "1, '{{\"type\": \"domain\", \"value\": \"a.example\"}}', 'dns_text', '', '[]', 'dns', "
      "'{{}}', 0, "
      "0 from investigation i, generate_series(1, 5000) n where i.id = '{}'",
      job.id.ToString()));
  Sql("analyze finding");
  pqxx::connection connection(database.url());
  pqxx::work work(connection);
  work.exec("prepare page as " + store::QueryText("findings_page"));
  std::string plan;
  for (const auto& row :
       work.exec(fmt::format("explain execute page('{}', 4900, 50)", job.id.ToString()))) {
    plan += std::string(row[0].c_str()) + "\n";
  }
  EXPECT_NE(plan.find("Index Scan using finding_pkey"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("Sort"), std::string::npos) << plan;
  EXPECT_EQ(store::ListFindings(session, job.id, 4900, 50).back().seq, 4950);
}

TEST_F(FindingsTest, FindingsGoWithTheirJob) {
  const auto job = Investigation({Domain("a.example")}, 1);
  Start(job);
  RecordJob(job.id, {Ended(Claim().chunks.at(0), {{Attribute(Domain("a.example"), "x")}})});
  EXPECT_EQ(Job(job.id, "status"), "2");
  Sql("update job set created_at = now() - interval '3 days', started_at = now() - interval '3 "
      "days', finished_at = now() - interval '25 hours'");
  const store::JobRetention longer{std::chrono::hours(26), std::chrono::hours(48)};
  EXPECT_EQ(store::RetireJobs(session, longer), 0);
  EXPECT_EQ(Listed(job.id).size(), 1U);
  const store::JobRetention over{std::chrono::hours(24), std::chrono::hours(48)};
  EXPECT_EQ(store::RetireJobs(session, over), 1);
  EXPECT_EQ(Listed(job.id).size(), 0U);
  EXPECT_EQ(Sql("select count(*) from investigation"), "0");
}

// Why numbers are taken under the lock of the investigation: with a sequence a reader of pages, as
// the one of the race below, skips what commits late.
TEST_F(FindingsTest, WithNumbersOfASequenceAReaderWouldSkip) {
  const auto job = Investigation({Domain("a.example")}, 1);
  Start(job);
  Sql("create sequence finding_seq");
  const std::string insert = fmt::format(
      "insert into finding (investigation_id, seq, id, org_id, kind, subject, predicate, evidence, "
      "sources, provider, derived_from, block, part) select i.id, nextval('finding_seq'), "
      "gen_random_uuid(), i.org_id, 1, '{{\"type\": \"domain\", \"value\": \"a.example\"}}', "
      "'dns_text', '', '[]', 'dns', '{{}}', 0, 0 from investigation i where i.id = '{}'",
      job.id.ToString());
  pqxx::connection first(database.url());
  pqxx::connection second(database.url());
  pqxx::work late(first);
  late.exec(insert);
  pqxx::work early(second);
  early.exec(insert);
  early.commit();
  const auto page = store::ListFindings(session, job.id, 0, 50);
  ASSERT_EQ(page.size(), 1U);
  EXPECT_EQ(page[0].seq, 2) << "not the next number: the race's reader calls it skipped";
  late.commit();
  EXPECT_TRUE(store::ListFindings(session, job.id, page[0].seq, 50).empty())
      << "and it never comes";
}

// Findings in all: VEDETTE_TEST_FINDINGS says how many, such as a million, which takes minutes.
int FindingsAskedFor(int usual) {
  const char* asked = std::getenv("VEDETTE_TEST_FINDINGS");
  return asked == nullptr ? usual : std::atoi(asked);
}

// Eight writers and a reader that pages while they write.
TEST_F(FindingsTest, PagesSkipAndRepeatNothingWhileWritersRace) {
  constexpr int kWriters = 8;
  constexpr int kFindings = 25;
  const int kRecords = FindingsAskedFor(2000) / kWriters / kFindings;
  const auto kAll = static_cast<std::size_t>(kWriters * kRecords * kFindings);
  if (kAll > 10'000) {  // more than a client may ask for
    Sql("alter table investigation drop constraint investigation_findings_max_check");
  }
  std::vector<Subject> seeds;
  for (int i = 0; i < kWriters; ++i) seeds.push_back(Domain("s" + std::to_string(i) + ".example"));
  const auto job = Investigation(seeds, 1, static_cast<int>(kAll) + 1);
  Start(job);
  const auto claim = Claim();
  ASSERT_EQ(claim.chunks.size(), static_cast<std::size_t>(kWriters));
  std::atomic<int> writing = kWriters;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      const auto own = OtherSession();
      const auto& chunk = claim.chunks[static_cast<std::size_t>(w)];
      for (int n = 0; n < kRecords; ++n) {
        std::vector<Finding> found;
        for (int i = 0; i < kFindings; ++i) {
          found.push_back(Attribute(seeds[static_cast<std::size_t>(w)],
                                    std::to_string(n) + "/" + std::to_string(i)));
        }
        const Json cell = base::ParseJsonOrThrow(domain::WriteFindings(found));
        const Json done{{"rows", Json::array({Json::array({cell})})}, {"later", Json::object()}};
        auto record = Progress(chunk, base::DumpJson(done));
        record.progress = n;
        const auto result = store::RecordJobChunks(*own, clock, {record});
        EXPECT_EQ(result.chunks.at(0), store::JobRecorded::kRecorded);
      }
      --writing;
    });
  }
  std::set<base::Uuid> seen;
  std::int64_t last = 0;
  for (bool ended = false; !ended || seen.size() < kAll;) {
    ended = writing == 0;
    const auto page = store::ListFindings(session, job.id, last, 50);
    for (const auto& finding : page) {
      EXPECT_EQ(finding.seq, last + 1) << "skipped, or late";
      last = finding.seq;
      EXPECT_TRUE(seen.insert(finding.id).second) << "repeated";
    }
    if (ended && page.empty()) break;
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(seen.size(), kAll);
}

}  // namespace
}  // namespace vedette::test
