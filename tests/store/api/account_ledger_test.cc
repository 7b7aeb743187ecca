// The account that a customer reads: balance, reservations, ledger, statement
// (docs/authentication.md, G4).
#include <gmock/gmock.h>

#include "api/kit/ledger.h"
#include "store/accounts/ledger.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::ElementsAre;
using testing::HasSubstr;

class ApiLedger : public ApiTest {
 public:
  // A line of acme's, with its part of the balance, made at this time.
  void Line(const std::string& at, std::int64_t amount_mc, const std::string& columns,
            const std::string& values) {
    Sql("insert into credit_entry (org_id, amount_mc, created_at" + columns + ") values ('" +
        acme.org_id + "', " + std::to_string(amount_mc) + ", '" + at + "'" + values + ")");
    Sql("update account set balance_mc = balance_mc + " + std::to_string(amount_mc) +
        " where org_id = '" + acme.org_id + "'");
  }
  void Booking(const std::string& at, std::int64_t mc, const std::string& reason) {
    Line(at, mc, ", reason", ", '" + reason + "'");
  }
  void Checks(const std::string& at, std::int64_t mc, int checks, const std::string& team = "") {
    Line(at, -mc, ", checks, tier, team_id",
         ", " + std::to_string(checks) + ", 1, " + (team.empty() ? "null" : "'" + team + "'"));
  }
  // Two months with a line on some days.
  void Fill() {
    Booking("2026-09-30T23:59:59Z", 100'000, "first");
    Booking("2026-10-01T00:00:00Z", 50'000, "=second");
    Checks("2026-10-01T10:00:00Z", 1'000, 2);
    Checks("2026-10-01T11:00:00Z", 500, 1);
    Checks("2026-10-31T23:59:59.999999Z", 250, 1);
    Checks("2026-11-01T00:00:00Z", 125, 1);
  }
  Json Ledger(const std::string& query) {
    const Reply reply = Ask("GET", "/credits/ledger?" + query);
    EXPECT_EQ(reply.status, 200) << reply.raw.body;
    return reply.body;
  }
};

TEST_F(ApiLedger, G4_BalanceAndWhatIsReservedAreTheTotalOfItsLines) {
  Fill();
  const Json lead{{"lead", {{"name", "Ada Lovelace"}, {"domain", "engines.example"}}}};
  ASSERT_LT(Ask("POST", "/find-email-async", lead).status, 300);
  const Json credits = Ask("GET", "/credits").body;
  EXPECT_GT(credits["reserved"].get<double>(), 0);
  EXPECT_EQ(Ledger("")["closing"].get<double>(),
            credits["credits"].get<double>() + credits["reserved"].get<double>());
  const Json held = Ask("GET", "/credits/reservations").body;
  EXPECT_EQ(held["reserved"], credits["reserved"]);
  EXPECT_EQ(held["jobs_reserved"], credits["reserved"]);
  ASSERT_EQ(held["job_count"], 1);
  EXPECT_EQ(held["jobs"][0]["kind"], "find_email");
  EXPECT_EQ(held["jobs"][0]["job_id"], Sql("select id from job"));
  EXPECT_EQ(held["checks"], Json::array());
  // What admitted checks hold.
  Sql("insert into chunk (id, org_id, tier, available_at, monitor_ids, tick_ids, firsts, ends, "
      "due_at, row_count, "
      "reserved_mc, price_mc, month) values (gen_random_uuid(), '" +
      acme.org_id + "', 2, now(), '{}', '{}', '{}', '{}', now(), 1, 750, 750, '2026-11-01')");
  Sql("update account set balance_mc = balance_mc - 750 where org_id = '" + acme.org_id + "'");
  const Json both = Ask("GET", "/credits/reservations").body;
  EXPECT_EQ(both["checks"], Json::array({Json{{"tier", "medium"}, {"reserved", 0.75}}}));
  const Json after = Ask("GET", "/credits").body;
  EXPECT_EQ(both["reserved"], after["reserved"]);
  EXPECT_EQ(Ledger("")["closing"].get<double>(),
            after["credits"].get<double>() + after["reserved"].get<double>());
}

TEST_F(ApiLedger, IsReadByPagesThatAddUp) {
  Fill();
  std::vector<std::int64_t> amounts;
  std::string cursor;
  double total = 0;
  int pages = 0;
  for (;;) {
    const Json page = Ledger("limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor));
    EXPECT_EQ(page["opening"].get<double>(), total);
    for (const Json& line : page["lines"]) {
      total += line["amount"].get<double>();
      EXPECT_EQ(line["total"].get<double>(), total);
      amounts.push_back(std::llround(line["amount"].get<double>() * 1000));
    }
    EXPECT_EQ(page["closing"].get<double>(), total);
    ++pages;
    if (!page.contains("next_cursor")) break;
    cursor = page["next_cursor"];
  }
  EXPECT_EQ(pages, 3);
  EXPECT_THAT(amounts, ElementsAre(100'000, 50'000, -1'000, -500, -250, -125));
  const Json line = Ledger("")["lines"][2];
  EXPECT_EQ(line["kind"], "checks");
  EXPECT_EQ(line["item"], "low");
  EXPECT_EQ(line["units"], 2);
  EXPECT_EQ(line["at"], "2026-10-01T10:00:00.000000Z");
}

TEST_F(ApiLedger, ACursorIsOfTheTimesThatItsPageWasAskedFor) {
  Fill();
  const auto goes_on = [&](const std::string& query, const Json& page) {
    return Ask("GET",
               "/credits/ledger?" + query + "&cursor=" + page["next_cursor"].get<std::string>());
  };
  const Json all = Ledger("limit=1");
  const Json october = Ledger("limit=1&month=2026-10");
  EXPECT_EQ(goes_on("limit=5", all).status, 200) << "pages may have other lengths";
  EXPECT_EQ(goes_on("month=2026-10", october).body["opening"], 150);
  EXPECT_EQ(goes_on("since=2026-10-01T00:00:00Z&until=2026-11-01T00:00:00Z", october).status, 200)
      << "the same times in other words";
  for (const char* other :
       {"month=2020-01", "since=2026-10-01T00:00:00Z", "until=2026-10-01T00:00:00Z"}) {
    EXPECT_EQ(goes_on(other, all).error(), "invalid_cursor") << other;
    EXPECT_EQ(goes_on(other, october).error(), "invalid_cursor") << other;
  }
  EXPECT_EQ(goes_on("limit=5", october).error(), "invalid_cursor");
}

TEST_F(ApiLedger, AMonthHasItsLinesAndNoOthers) {
  Fill();
  const Json october = Ledger("month=2026-10");
  EXPECT_EQ(october["since"], "2026-10-01T00:00:00.000000Z");
  EXPECT_EQ(october["until"], "2026-11-01T00:00:00.000000Z");
  EXPECT_EQ(october["lines"].size(), 4U);
  EXPECT_EQ(october["opening"], 100);
  EXPECT_EQ(october["closing"], 148.25);
  EXPECT_EQ(Ledger("since=2026-10-01T00:00:00Z&until=2026-11-01T00:00:00Z"), october);
  EXPECT_EQ(Ledger("since=2026-11-01T00:00:00%2B00:00")["opening"], october["closing"]);
}

TEST_F(ApiLedger, ATimeThatHasOnlyBegunHasNoLines) {
  Fill();
  for (const char* time : {"month=2100-01", "since=2100-01-01T00:00:00Z"}) {
    const Json page = Ledger(time);
    EXPECT_EQ(page["since"], "2100-01-01T00:00:00.000000Z") << time;
    EXPECT_EQ(page["until"], page["since"]) << time;
    EXPECT_EQ(page["lines"], Json::array()) << time;
    EXPECT_EQ(page["closing"], page["opening"]) << time;
  }
  const std::string edge = ",2100-01-01T00:00:00.000000Z,";
  const std::string csv = Ask("GET", "/credits/ledger?format=csv&month=2100-01").raw.body;
  EXPECT_THAT(csv, HasSubstr(edge + "opening,"));
  EXPECT_THAT(csv, HasSubstr(edge + "closing,"));
  EXPECT_EQ(
      Ask("GET", "/credits/ledger?since=2026-10-02T00:00:00Z&until=2026-10-01T00:00:00Z").loc(),
      R"(["query","since"])");
}

TEST_F(ApiLedger, ByDayItSumsWhatIsOfOneKindAndTier) {
  Fill();
  const Json days = Ledger("by=day&month=2026-10");
  ASSERT_EQ(days["lines"].size(), 3U);
  EXPECT_EQ(days["lines"][0]["kind"], "booking");
  EXPECT_EQ(days["lines"][1]["amount"], -1.5);
  EXPECT_EQ(days["lines"][1]["units"], 3);
  EXPECT_TRUE(days["lines"][1]["entry"].is_null());
  EXPECT_EQ(days["lines"][2]["at"], "2026-10-31T00:00:00.000000Z");
  EXPECT_EQ(days["closing"], 148.25);
  EXPECT_EQ(Ask("GET", "/credits/ledger?by=day&since=2020-01-01T00:00:00Z").loc(),
            R"(["query","since"])")
      << "longer than 366 days";
  const Reply last = Ask("GET", "/credits/ledger?by=day");
  ASSERT_EQ(last.status, 200) << "without a time it is the last 366 days: " << last.raw.body;
  EXPECT_EQ(Ask("GET", "/credits/ledger?by=day&since=" + last.body["since"].get<std::string>())
                .body["lines"],
            last.body["lines"]);
  EXPECT_EQ(last.body["since"].get<std::string>().substr(10), "T00:00:00.000000Z");
}

TEST_F(ApiLedger, AStatementIsTheSameBytesEachTimeAndGuardsFormulas) {
  Fill();
  const Reply reply = Ask("GET", "/credits/ledger?format=csv&month=2026-10");
  EXPECT_EQ(reply.Header("Content-Type"), "text/csv; charset=utf-8");
  const std::string& csv = reply.raw.body;
  EXPECT_THAT(csv,
              testing::StartsWith("entry,at,kind,amount,total,units,item,team_id,job_id,reason\r\n"
                                  ",2026-10-01T00:00:00.000000Z,opening,,100,,,,,\r\n"));
  EXPECT_THAT(csv, testing::EndsWith(",2026-11-01T00:00:00.000000Z,closing,,148.25,,,,,\r\n"));
  EXPECT_THAT(csv, HasSubstr(",booking,50,150,0,,,,'=second\r\n"));
  EXPECT_EQ(Ask("GET", "/credits/ledger?format=csv&month=2026-10").raw.body, csv);
  EXPECT_THAT(Ask("GET", "/credits/ledger?format=csv&by=day&month=2026-10").raw.body,
              HasSubstr(",checks,-1.5,148.5,3,low,,,\r\n"));
}

TEST_F(ApiLedger, ALongStatementComesInPiecesWithoutALineLostOrTwice) {
  Booking("2026-09-01T00:00:00Z", 100'000'000, "first");
  Sql("insert into credit_entry (org_id, amount_mc, checks, tier, created_at) select '" +
      acme.org_id +
      "', -1, 1, n % 4, timestamptz '2026-09-01T00:00:01Z' + n * interval '1 second' from "
      "generate_series(1, 12345) n");
  const Reply reply = Ask("GET", "/credits/ledger?format=csv");
  EXPECT_GT(reply.raw.pieces, 1);
  EXPECT_EQ(reply.Header("Content-Type"), "text/csv; charset=utf-8");
  EXPECT_EQ(std::count(reply.raw.body.begin(), reply.raw.body.end(), '\n'), 12'345 + 1 + 3);
  EXPECT_THAT(reply.raw.body, HasSubstr(",closing,,99987.655,"));
}

TEST_F(ApiLedger, WhatIsYoungerThanTwoMinutesIsNotThereYet) {
  Booking(
      Sql("select to_char(now() - interval '119 seconds', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"),
      1'000, "young");
  EXPECT_EQ(Ledger("until=2100-01-01T00:00:00Z")["lines"].size(), 0U);
  Sql("update credit_entry set created_at = created_at - interval '2 seconds'");
  EXPECT_EQ(Ledger("")["lines"].size(), 1U);
}

TEST_F(ApiLedger, G8_ATeamReadsItsOwnLinesAndAnotherOrganisationNone) {
  const std::string team = NewTeam(acme.org_id);
  Fill();
  Checks("2026-10-02T00:00:00Z", 300, 1, team);
  const std::string key = NewKey(acme.org_id, team);
  const Json own = Ask("GET", "/credits/ledger", Headers{{"x-api-key", key}}).body;
  ASSERT_EQ(own["lines"].size(), 1U);
  EXPECT_EQ(own["lines"][0]["team_id"], team);
  EXPECT_EQ(own["closing"], -0.3);
  const Tenant other = NewTenant("other");
  const Json foreign = Ask("GET", "/credits/ledger", Headers{{"x-api-key", other.key}}).body;
  EXPECT_EQ(foreign["lines"], Json::array());
  EXPECT_EQ(foreign["closing"], 0);
  // A cursor is of the account that it was made for.
  const std::string cursor = Ledger("limit=1")["next_cursor"];
  EXPECT_EQ(
      Ask("GET", "/credits/ledger?cursor=" + cursor, Headers{{"x-api-key", other.key}}).status,
      400);
}

TEST_F(ApiLedger, WhatIsWrongWithAQueryIsNamed) {
  for (const auto& [query, loc] : {std::pair("since=yesterday", "since"),
                                   {"until=x", "until"},
                                   {"month=2026", "month"},
                                   {"month=2026-13", "month"},
                                   {"month=2026-10&since=x", "since"},
                                   {"month=2026-10&since=2026-10-01T00:00:00Z", "since"},
                                   {"month=2026-10&until=2026-11-01T00:00:00Z", "until"},
                                   {"month=0001-01", "month"},
                                   {"by=day&until=0001-01-01T00:00:00Z", "until"},
                                   {"by=week", "by"},
                                   {"format=xml", "format"},
                                   {"limit=0", "limit"},
                                   {"limit=1001", "limit"}}) {
    const Reply reply = Ask("GET", std::string("/credits/ledger?") + query);
    EXPECT_EQ(reply.status, 422) << query;
    EXPECT_EQ(reply.loc(), "[\"query\",\"" + std::string(loc) + "\"]");
  }
  EXPECT_EQ(Ask("GET", "/credits/ledger?cursor=x").status, 400);
}

}  // namespace
}  // namespace vedette::test
