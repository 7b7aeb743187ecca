// What the routes of workflows and runs hold of memory: rows that are made of a payload, and
// answers that are read slowly or not at all (G11).
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "api/kit/list_stream.h"
#include "api/tenant/call.h"
#include "tests/store/support/stalled_exchange.h"
#include "tests/store/support/tenant_runs.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

class ApiRunMemory : public ApiRuns {
 public:
  // The records that take the least to say and the most to hold: one with every column, then some
  // that have the last one alone.
  static std::string SparseRecords(int count) {
    std::string text = "[{";
    for (int i = 0; i < 1024; ++i) text += fmt::format("{}\"c{}\":1", i == 0 ? "" : ",", i);
    text += '}';
    for (int i = 1; i < count; ++i) text += R"(,{"c1023":1})";
    return text + ']';
  }
  Reply Start(const std::string& workflow, const std::string& body) {
    net::ServerRequest request = Request("POST", "/workflows/run?workflow_id=" + workflow, {});
    request.body = body;
    return AskRaw(std::move(request));
  }
  // A workflow whose webhook_input has so many of the sparse records.
  std::string WithSample(int count) {
    return NewWorkflow(Chain(
        {Block("webhook", {{"dataframe_type", "LEAD"}, {"webhook_input", SparseRecords(count)}}),
         Block("dedupe")}));
  }

  // A client sends no credential where it reads a file.
  net::ServerRequest Asking(const std::string& target) {
    net::ServerRequest request = Request("GET", target, {});
    if (target.starts_with("/storage")) request.headers.clear();
    return request;
  }
  std::shared_ptr<StalledExchange> Stall(const std::string& target) {
    const auto exchange = std::make_shared<StalledExchange>(Asking(target));
    api.Handle(exchange);
    return exchange;
  }
  // The address of the only file of the run.
  std::string FileOf(const std::string& run, const std::string& format, const Headers& who = {}) {
    const Reply links =
        Ask("GET", "/workflows/runs/" + run + "/results/download-links?format=" + format, who);
    const auto url = links.body[0]["download_url"].get<std::string>();
    return url.substr(url.find("/storage"));
  }
  // A run that is completed with its start: its rows are what it was given.
  std::string Given(const Json& records) {
    return RunRows(NewWorkflow(Chain(Json::array({WebhookSource()}))), records);
  }
  // Rows of 1,024 columns, whose names have 200 characters each.
  static Json LongNames(int rows) {
    constexpr int kColumns = 1024;
    constexpr int kInARecord = 256;
    Json records = Json::array();
    for (int first = 0; first < kColumns; first += kInARecord) {
      Json& record = records.emplace_back(Json::object());
      for (int i = first; i < first + kInARecord; ++i) record[fmt::format("{:0>200}", i)] = i;
    }
    while (static_cast<int>(records.size()) < rows) {
      records.push_back({{fmt::format("{:0>200}", kColumns - 1), records.size()}});
    }
    return records;
  }
  // Takes what the organisation may have of the budget, to the last few KiB.
  static void Fill(base::ByteBudget::Holding* held) {
    for (std::size_t bytes = std::size_t{16} << 20; bytes >= 1024; bytes /= 2) {
      while (held->TryTake(bytes)) {
      }
    }
  }
};

TEST_F(ApiRunMemory, G11_APayloadOfFewBytesAndManyCellsIsA422ThatNamesTheLimit) {
  const std::string workflow = NewWorkflow(Chain({WebhookSource(), Block("dedupe")}));
  const Reply refused = Start(workflow, R"({"webhook_payload":)" + SparseRecords(3000) + "}");
  EXPECT_EQ(refused.status, 422) << refused.raw.body.substr(0, 500);
  EXPECT_EQ(refused.loc() + " " + refused.type(), R"(["body","webhook_payload",1953] too_long)");
  EXPECT_EQ(refused.body["detail"].size(), 1U) << "said once";
  EXPECT_THAT(refused.raw.body, HasSubstr("Records times columns should be at most 2000000"));
  EXPECT_EQ(Sql("select count(*) from job"), "0");
  EXPECT_EQ(Start(workflow, R"({"webhook_payload":)" + SparseRecords(50) + "}").status, 200);
}

TEST_F(ApiRunMemory, G11_AWebhookInputOfManyCellsIsA400ThatNamesTheLimit) {
  const Reply refused = Start(WithSample(3000), "");
  EXPECT_EQ(refused.status, 400) << refused.raw.body.substr(0, 500);
  EXPECT_EQ(refused.error(), "invalid_webhook_input");
  EXPECT_THAT(refused.message(), HasSubstr("Records times columns should be at most 2000000"));
  EXPECT_EQ(Sql("select count(*) from job"), "0");
}

TEST_F(ApiRunMemory, G11_RowsOfAWebhookInputWaitForTheirRoomOrAreRefused) {
  const std::string workflow = WithSample(1900);
  const auto other = Stall(FileOf(Given(LongNames(10)), "ndjson"));
  other->First();
  ASSERT_TRUE(other->stalled());
  Fill(&other->held());
  ASSERT_TRUE(other->held().Take(std::size_t{1} << 20, [] {})) << "one is let through at a time";
  const Reply refused = Start(workflow, "");
  EXPECT_EQ(refused.status, 503) << refused.raw.body;
  EXPECT_EQ(refused.Header("Retry-After"), "5");
  EXPECT_THAT(refused.message(), HasSubstr("nothing was changed or charged"));
  EXPECT_EQ(Sql("select count(*) from job"), "1") << "the other's";
  other->Leave();
  other->held() = {};
  EXPECT_EQ(Start(workflow, "").status, 200);
}

TEST_F(ApiRunMemory, G11_NamesOfColumnsWaitForTheirRoomAsEveryBlockOfARunKeepsThem) {
  std::string record = "{";
  for (int i = 0; i < 250; ++i) record += fmt::format("{}\"{:0>200}\":1", i == 0 ? "" : ",", i);
  Json blocks = Json::array(
      {Block("webhook", {{"dataframe_type", "LEAD"}, {"webhook_input", record + "}"}})});
  for (int i = 0; i < 45; ++i) blocks.push_back(Block("dedupe"));
  const std::string workflow = NewWorkflow(Chain(blocks));
  const auto other = Stall(FileOf(Given(LongNames(10)), "ndjson"));
  other->First();
  Fill(&other->held());
  ASSERT_TRUE(other->held().Take(std::size_t{1} << 20, [] {}));
  EXPECT_EQ(Start(workflow, "").status, 503);
  EXPECT_EQ(Sql("select count(*) from job"), "1") << "the other's";
  other->Leave();
  other->held() = {};
  EXPECT_EQ(Start(workflow, "").status, 200);
}

TEST_F(ApiRunMemory, G11_ALargePayloadIsStoredByStatementsOfBoundedBytes) {
  Json records = Json::array();
  for (int i = 0; i < 160; ++i) records.push_back({{"n", i}, {"text", std::string(60'000, 'a')}});
  RunRows(NewWorkflow(Chain({WebhookSource(), Block("dedupe")})), records);
  EXPECT_EQ(Sql("select concat_ws(' ', count(*), min(part), max(part), sum(row_count), "
                "sum(json_array_length(rows))) from job_part"),
            "18 0 17 160 160");
  EXPECT_THAT(metrics.Expose(),
              HasSubstr("vedette_db_query_seconds_count{query=\"run_parts_give\"} 2\n"))
      << "9.6 MB, of which the statement that inserts the run has the first 4 MiB";
  EXPECT_EQ(Sql("select status from job"), "0");
}

TEST_F(ApiRunMemory, G11_AFileWhoseColumnsHaveLongNamesComesInPiecesOfBoundedBytes) {
  constexpr int kRows = 30;
  const std::string run = Given(LongNames(kRows));
  const Reply file = AskRaw(Asking(FileOf(run, "ndjson")));
  ASSERT_EQ(file.status, 200);
  EXPECT_GT(file.raw.body.size(), std::size_t{kRows} * 1024 * 200) << "names are in each line";
  EXPECT_LT(file.raw.piece_bytes_max, rest::kPieceBytes + 1024) << "and one cell";
  std::istringstream lines(file.raw.body);
  int rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    const Json object = base::ParseJsonOrThrow(line);
    ASSERT_EQ(object.size(), 1024U);
    const int last = rows < 3 ? -1 : rows == 3 ? 1023 : rows;
    EXPECT_EQ(object.at(fmt::format("{:0>200}", 1023)), last < 0 ? Json() : Json(last)) << rows;
  }
  EXPECT_EQ(rows, kRows);
  const Reply csv = AskRaw(Asking(FileOf(run, "csv")));
  EXPECT_EQ(std::count(csv.raw.body.begin(), csv.raw.body.end(), '\n'), kRows + 1);
}

TEST_F(ApiRunMemory, G11_AFileThatNobodyReadsHoldsLittleAndAnOrganisationFewOfThem) {
  const std::string path = FileOf(Given(LongNames(30)), "ndjson");
  std::vector<std::shared_ptr<StalledExchange>> stalled;
  for (std::size_t i = 0; i < api::kDownloadsOpenMax / 2; ++i) {
    stalled.push_back(Stall(path));
    EXPECT_EQ(stalled.back()->First().status, 200);
    ASSERT_TRUE(stalled.back()->stalled());
    EXPECT_EQ(stalled.back()->held().bytes(), rest::kStreamBytes);
  }
  const Reply refused = AskRaw(Asking(path));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.error(), "too_many_downloads");
  EXPECT_EQ(refused.Header("Retry-After"), "5");

  const Headers theirs{{"x-api-key", NewTenant("other").key}};
  const Reply made = Ask("POST", "/workflows/create_workflow",
                         Json{{"workflow_name", "flow"},
                              {"workflow_definition", Chain(Json::array({WebhookSource()}))}},
                         theirs);
  const Reply run = Ask("POST", "/workflows/run?workflow_id=" + made.body["id"].get<std::string>(),
                        Json{{"webhook_payload", LongNames(10)}}, theirs);
  const std::string their_file = FileOf(run.body["job_id"].get<std::string>(), "ndjson", theirs);
  EXPECT_EQ(AskRaw(Asking(their_file)).status, 200) << "another organisation is served";

  stalled.back()->Leave();
  stalled.pop_back();
  EXPECT_EQ(AskRaw(Asking(path)).status, 200) << "a place is given back with its client";
  for (const auto& exchange : stalled) exchange->Leave();
}

TEST_F(ApiRunMemory, G11_WhatTheBudgetHasNoRoomToKeepOfAFileIsReadAgain) {
  Json records = Json::array();
  for (int i = 0; i < 9; ++i) records.push_back({{"n", i}, {"text", std::string(60'000, 'a')}});
  for (int i = 9; i < 27; ++i) records.push_back({{"n", i}, {"text", std::string(65'000, 'b')}});
  const std::string path = FileOf(Given(records), "ndjson");
  ASSERT_EQ(Sql("select count(*) from job_part"), "3");
  const auto slow = Stall(path);
  slow->First();
  const auto other = Stall(path);
  other->First();
  Fill(&other->held());
  std::string whole;
  for (const Json& record : records) whole += base::DumpJson(record) + '\n';
  EXPECT_EQ(slow->ReadOn(), whole) << "part by part, with and without room for what is left";
  other->Leave();
}

TEST_F(ApiRunMemory, AFileWhoseRowsAreDroppedWhileItIsReadEndsWithoutItsLastChunk) {
  Json records = Json::array();
  for (int i = 0; i < 27; ++i) records.push_back({{"n", i}, {"text", std::string(60'000, 'a')}});
  const std::string path = FileOf(Given(records), "csv");
  ASSERT_EQ(Sql("select count(*) from job_part"), "3");
  const auto slow = Stall(path);
  slow->First();
  ASSERT_TRUE(slow->stalled());
  Sql("delete from job_part where part > 0 returning 1");
  slow->Resume();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (slow.use_count() > 1 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(slow.use_count(), 1) << "nobody writes any more";
  EXPECT_FALSE(slow->ended()) << "the client would take a part of the rows for all of them";
}

TEST_F(ApiRunMemory, G11_TheListOfWorkflowsIsSentInPieces) {
  NewWorkflow(Chain(Json::array({WebhookSource()})));
  Sql("insert into workflow (id, org_id, name, description, definition, caller_kind, caller_id, "
      "created_at) select gen_random_uuid(), org_id, 'flow ' || n, repeat('d', 10000), definition, "
      "caller_kind, caller_id, created_at - n * interval '1 second' from workflow, "
      "generate_series(1, 99) n");
  const Reply list = Ask("GET", "/workflows");
  ASSERT_EQ(list.status, 200);
  ASSERT_EQ(list.body.size(), 100U);
  for (std::size_t i = 1; i < 100; ++i) {
    EXPECT_EQ(list.body[i]["name"], fmt::format("flow {}", i)) << "newest first";
  }
  EXPECT_GT(list.raw.pieces, 3);
  EXPECT_LT(list.raw.piece_bytes_max, rest::kPieceBytes + rest::kPageBytes);
  const auto unread = Stall("/workflows");
  unread->First();
  EXPECT_TRUE(unread->stalled());
  EXPECT_EQ(unread->held().bytes(), rest::kStreamBytes);
  unread->Leave();
}

TEST_F(ApiRunMemory, G11_TheListOfRunsTakesItsBytesFromTheBudget) {
  const std::string workflow = NewWorkflow(Chain(Json::array({WebhookSource()})));
  for (int i = 0; i < 40; ++i) RunRows(workflow, Json::array({Json{{"n", 1}}}));
  const auto other = Stall(FileOf(Given(LongNames(10)), "ndjson"));
  other->First();
  Fill(&other->held());
  const Reply refused = Ask("GET", "/workflows/runs");
  EXPECT_EQ(refused.status, 503) << refused.raw.body.size();
  EXPECT_EQ(refused.Header("Retry-After"), "5");
  other->Leave();
  other->held() = {};
  EXPECT_EQ(Ask("GET", "/workflows/runs").body.size(), 41U);
}

}  // namespace
}  // namespace vedette::test
