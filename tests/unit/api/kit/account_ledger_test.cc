// What the database has to do with is in tests/store/api/account_ledger_test.cc; here is what needs
// none.
#include "api/kit/ledger.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/support/ids.h"
#include "tests/support/refusal.h"
#include "tests/unit/api/kit/no_database.h"

namespace vedette::rest {
namespace {

using base::Json;
using vedette::test::Id;

class LedgerTest : public test::NoDatabaseTest {
 protected:
  // What a 422 says is wrong, as "loc type, ...". Who asks the database fails the test.
  std::string Wrong(std::string_view query) {
    const auto reply = vedette::test::RefusalOf([&] {
      ReadLedgerQuery(session, store::Scope{Id(1), {}}, query);
    });
    if (!reply) return "nothing";
    EXPECT_EQ(reply->status, 422) << query;
    std::string all;
    const Json said = base::ParseJsonOrThrow(reply->body);
    for (const Json& item : said["detail"]) {
      all += (all.empty() ? "" : ", ") + item["loc"].back().get<std::string>() + " " +
             item["type"].get<std::string>();
    }
    return all;
  }
};

TEST_F(LedgerTest, AWrongQueryIsRefusedByNameBeforeTheDatabaseIsAsked) {
  const std::pair<const char*, const char*> cases[] = {
      {"since=yesterday", "since datetime_parsing"},
      {"until=2026-11-31", "until datetime_parsing"},
      {"month=2026", "month value_error"},
      {"month=2026-13", "month value_error"},
      {"month=2026-1", "month value_error"},
      {"month=", "month value_error"},
      {"by=week", "by enum"},
      {"by=", "by enum"},
      {"by=Day", "by enum"},
      {"format=xml", "format enum"},
      {"limit=0", "limit greater_than_equal"},
      {"limit=1001", "limit less_than_equal"},
      {"limit=ten", "limit int_parsing"},
      {"days=3", "days extra_forbidden"},
      {"limit=%zz", "query query_parsing"},
      {"by=day&cursor=x", "cursor value_error"},
      {"format=csv&cursor=x", "cursor value_error"},
  };
  for (const auto& [query, wrong] : cases) EXPECT_EQ(Wrong(query), wrong) << query;
}

TEST_F(LedgerTest, EverythingThatIsWrongIsNamedAtOnce) {
  EXPECT_EQ(Wrong("since=x&until=y&by=z&format=csv&limit=-1&team=a"),
            "since datetime_parsing, until datetime_parsing, by enum, limit greater_than_equal, "
            "team extra_forbidden");
}

TEST_F(LedgerTest, AGoodQueryIsForTheDatabaseToEnd) {
  for (const char* query :
       {"", "limit=1", "limit=1000", "month=2026-11", "month=2026-12&by=day",
        "since=2026-11-01T00:00:00Z&until=2026-11-02T00:00:00%2B01:00&format=csv", "cursor=x"}) {
    EXPECT_THROW(ReadLedgerQuery(session, store::Scope{Id(1), {}}, query), store::Unavailable)
        << query;
  }
}

TEST_F(LedgerTest, WithoutADatabaseThereIsNeitherAPageNorTheBeginningOfAStatement) {
  LedgerQuery query;
  query.limit = kLedgerLinesDefault;
  EXPECT_THROW(LedgerPage(session, query), store::Unavailable);
  std::string text;
  EXPECT_THROW(Statement(query)(session, &text), store::Unavailable);
  EXPECT_EQ(text, "") << "a statement that cannot be read must not look like one without lines";
}

TEST_F(LedgerTest, ReservationsNameTheLargestHoldersAndSumTheOthers) {
  store::Reservations held;
  held.checks = {{domain::Tier::kMicro, 250}, {domain::Tier::kHigh, 4'000}};
  held.jobs = {{Id(7), domain::JobKind::kFindEmail, 12'500}};
  held.job_count = 3;
  held.jobs_mc = 20'000;
  const Reply reply = ReservationsReply(held);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body,
            R"({"reserved":24.25,"checks":[{"tier":"micro","reserved":0.25},)"
            R"({"tier":"high","reserved":4}],"jobs":[{"job_id":")" +
                Id(7).ToString() +
                R"(","kind":"find_email","reserved":12.5}],"job_count":3,"jobs_reserved":20})");
}

TEST_F(LedgerTest, WhereNothingIsReservedTheListsAreEmptyAndNotAbsent) {
  EXPECT_EQ(ReservationsReply({}).body,
            R"({"reserved":0,"checks":[],"jobs":[],"job_count":0,"jobs_reserved":0})");
}

}  // namespace
}  // namespace vedette::rest
