#include "base/json.h"
#include "domain/workflow/lookup_result.h"

#include <gtest/gtest.h>

#include "domain/email/find_request.h"

namespace vedette::domain {
namespace {

constexpr double kOneCent = 1;  // that a credit is

// The request of these leads, and a cell as the runner of lookups writes it.
std::string Params(std::vector<base::Json> leads) {
  FindRequest request;
  request.rows = MakeFindRows(std::move(leads));
  return FindParamsJson(request);
}
std::string Cell(const std::string& address) {
  return R"({"email":[[")" + address + R"(","OK","COMPANY"]],"personal_email":[],"error":null,)" +
         R"("details":{}})";
}

EndedLookup Single(JobStatus status) {
  EndedLookup lookup;
  lookup.id = *base::Uuid::Parse("019ab6f0-3c00-7000-8000-000000000001");
  lookup.status = status;
  lookup.charged_mc = 5000;
  lookup.params_json = Params({{{"name", "Ada Lovelace"}, {"crm", 1}}});
  lookup.rows_json = "[[" + Cell("a@b.c") + "]]";
  return lookup;
}

EndedLookup Bulk(JobStatus status, const std::optional<std::string>& rows) {
  EndedLookup lookup = Single(status);
  lookup.kind = JobKind::kFindEmailBulk;
  lookup.params_json = Params({{{"name", "Ada Lovelace"}}, {{"name", "Alan Turing"}}});
  lookup.rows_json = rows;
  return lookup;
}

TEST(JobResult, OfASingleIsWhatTheClientSeesOfItsRowWhereItIsCompleted) {
  EXPECT_EQ(base::DumpJson(LookupResult(Single(JobStatus::kCompleted), kOneCent)),
            R"({"name":"Ada Lovelace","crm":1,"email":[["a@b.c","OK","COMPANY"]],)"
            R"("personal_email":[],"error":null,"details":{)"
            R"("task_id":"019ab6f0-3c00-7000-8000-000000000001","charge_amount":5}})");
  EXPECT_TRUE(LookupResult(Single(JobStatus::kFailed), kOneCent).is_null());
  EndedLookup expired = Single(JobStatus::kCompleted);
  expired.rows_json.reset();
  EXPECT_TRUE(LookupResult(expired, kOneCent).is_null());
}

TEST(JobResult, OfAClientThatWaitsHasEveryRowWhateverTheEnd) {
  EXPECT_TRUE(WaitedResult(Single(JobStatus::kFailed), kOneCent)["error"].is_null());
  EndedLookup gone = Single(JobStatus::kCancelled);
  gone.rows_json.reset();
  const auto single = WaitedResult(gone, kOneCent);
  EXPECT_EQ(single["error"], "cancelled");
  EXPECT_EQ(single["name"], "Ada Lovelace");
  EXPECT_EQ(single["details"]["task_id"], gone.id.ToString());
  gone.status = JobStatus::kCompleted;
  EXPECT_EQ(WaitedResult(gone, kOneCent)["error"], "result_expired");
  const auto bulk = WaitedResult(Bulk(JobStatus::kTerminated, std::nullopt), kOneCent);
  ASSERT_EQ(bulk["results"].size(), 2U);
  EXPECT_EQ(bulk["results"][1]["error"], "terminated");
}

TEST(JobResult, OfABulkThatTimedOutARowThatWasNotFinishedHasTheStatusAsItsError) {
  const auto result =
      LookupResult(Bulk(JobStatus::kTimedOut, "[[" + Cell("a@b.c") + "], null]"), kOneCent);
  ASSERT_EQ(result["results"].size(), 2U);
  EXPECT_TRUE(result["results"][0]["error"].is_null());
  EXPECT_EQ(result["results"][1]["error"], "timed_out");
  EXPECT_EQ(result["results"][1]["name"], "Alan Turing");
  EXPECT_EQ(result["charge_amount"], 5);
}

TEST(JobResult, OfABulkThatEndedWithoutARowIsNull) {
  EXPECT_TRUE(LookupResult(Bulk(JobStatus::kCancelled, std::nullopt), kOneCent).is_null());
  EXPECT_TRUE(LookupResult(Bulk(JobStatus::kCancelled, "[null, null]"), kOneCent).is_null());
}

TEST(JobResult, CentsHaveAtMostThreeDecimalsAndRoundHalfAwayFromZero) {
  EXPECT_EQ(base::DumpJson(CentsOf(12'500, kOneCent)), "12.5");
  EXPECT_EQ(base::DumpJson(CentsOf(1, 1.5)), "0.002");
  EXPECT_EQ(base::DumpJson(CentsOf(-1, 1.5)), "-0.002");
  EXPECT_EQ(base::DumpJson(CentsOf(0, kOneCent)), "0");
}

TEST(JobResult, AnEndThatIsNotCompletedHasACodeAndASentence) {
  EXPECT_TRUE(JobErrorOf(JobStatus::kCompleted, {}, {}).is_null());
  EXPECT_TRUE(JobErrorOf(JobStatus::kRunning, {}, {}).is_null());
  EXPECT_EQ(base::DumpJson(JobErrorOf(JobStatus::kFailed, "stalled", "Nobody works.")),
            R"({"error":"stalled","message":"Nobody works."})");
  EXPECT_EQ(JobErrorOf(JobStatus::kCancelled, {}, {})["error"], "cancelled");
}

TEST(JobResult, ACallbackThatIsTooLargeHasNoResult) {
  const EndedLookup lookup = Single(JobStatus::kCompleted);
  const std::string whole = LookupCallbackBody(lookup, kOneCent, 10'000);
  EXPECT_EQ(whole, R"({"task_id":"019ab6f0-3c00-7000-8000-000000000001","task_type":"find_email",)"
                   R"("status":"completed","result":)" +
                       base::DumpJson(LookupResult(lookup, kOneCent)) +
                       R"(,"error":null,)"
                       R"("charge_amount":5,"created_at":"1970-01-01T00:00:00.000000Z",)"
                       R"("finished_at":"1970-01-01T00:00:00.000000Z"})");
  EXPECT_EQ(LookupCallbackBody(lookup, kOneCent, whole.size()), whole);
  const std::string cut = LookupCallbackBody(lookup, kOneCent, whole.size() - 1);
  EXPECT_NE(cut.find(R"("result":null)"), std::string::npos);
}

}  // namespace
}  // namespace vedette::domain
