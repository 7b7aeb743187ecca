// The monitors that blocks of runs make: one of a run and block, whose rows are there once.
#include <gmock/gmock.h>

#include <optional>

#include "config/jobs_config.h"
#include "config/limits_config.h"
#include "store/jobs/claim.h"
#include "store/jobs/end.h"
#include "store/jobs/keeper.h"
#include "store/jobs/record.h"
#include "tests/store/support/tenant_runs.h"
#include "worker/blocks/part_work.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

class ApiRunMonitors : public ApiRuns {
 public:
  static Json MonitorSpecs(const Json& changes = Json::object()) {
    Json specs{{"name", "Watched"},
               {"key_columns", Json::array({"domain"})},
               {"struct", {{"price", "what it costs"}}}};
    for (const auto& [name, value] : changes.items()) specs[name] = value;
    return specs;
  }
  std::string NewMonitorFlow(const Json& specs = MonitorSpecs()) {
    return NewWorkflow(Chain({WebhookSource("COMPANY"), Block("monitor", specs)}));
  }

  // Records of `n` domains, each once.
  static Json Domains(int n) {
    Json records = Json::array();
    for (int i = 0; i < n; ++i) records.push_back({{"domain", std::to_string(i) + ".example"}});
    return records;
  }

  Json MonitorsOf(const std::string& run) {
    const Reply list = Ask("GET", "/monitors/for-run/" + run);
    EXPECT_EQ(list.status, 200) << list.raw.body;
    return list.body;
  }

  // What a worker records for the next part that is due, which it has made. Nothing where none is.
  struct NextPart {
    base::Uuid job_id;
    store::JobChunkRecord record;
  };
  std::optional<NextPart> MakeNextPart() {
    std::vector<store::JobShare> shares;
    for (const auto& due : store::ScanDueJobs(session, {{domain::Lane::kTransform, {}}}, 10).due) {
      shares.push_back({due.lane, due.org_id, due.rank, 1});
    }
    const auto claim = store::ClaimJobChunks(session, shares, base::Uuid::V4(),
                                             std::chrono::milliseconds(30000), {});
    if (claim.chunks.empty()) return std::nullopt;
    const store::ClaimedJobChunk& chunk = claim.chunks.front();
    const auto& block =
        claim.specs.at(chunk.job_id)->blocks.at(static_cast<std::size_t>(chunk.block));
    const auto work = worker::BindPartWork(block.type, block.specs_json);
    worker::PartRequest request;
    request.job_id = chunk.job_id;
    request.block = chunk.block;
    request.part = chunk.part;
    request.part_rows = claim.specs.at(chunk.job_id)->part_rows;
    request.rows_json = chunk.rows_json.value_or("[]");
    request.bytes_max = config.jobs.part_bytes_max;
    request.row_bytes_max = config.limits.row_bytes_max;
    worker::PartTurn turn(clock, worker::kPartTimeMax, std::chrono::nanoseconds::max());
    turn.Begin();
    auto step = std::get<std::shared_ptr<const worker::PartWork>>(*work)->Make(request, turn);
    while (const auto* asked = std::get_if<worker::PartRead>(&step)) {
      const worker::PartCompute next = asked->read(session);
      step = next(turn);
    }
    const auto made = std::get<worker::PartOutput>(step);
    NextPart next{chunk.job_id, {}};
    next.record.job_id = chunk.job_id;
    next.record.lease = chunk.lease;
    next.record.block = chunk.block;
    next.record.part = chunk.part;
    next.record.progress = chunk.progress;
    next.record.rows_done = made.rows_done;
    next.record.row_errors = made.row_errors;
    store::JobPartEnd end;
    end.made = made.parts;
    end.monitor = made.monitor;
    next.record.what = std::move(end);
    return next;
  }
  store::JobRecorded Record(const NextPart& part) {
    return store::RecordJobChunks(session, clock, {part.record}).chunks.at(0);
  }

  // How many rows the monitors have, how many of them are different ones, and what is counted.
  std::string Rows() {
    return Sql(
        "select count(*) || ' ' || count(distinct r.key_hash) || ' ' || "
        "(select sum(row_count) from monitor_sched) from monitor_row r");
  }
};

TEST_F(ApiRunMonitors, ARunMakesAMonitorOfItsRows) {
  const std::string workflow = NewWorkflow(
      Chain({WebhookSource("COMPANY"),
             Block("monitor", MonitorSpecs({{"webhook_url", "https://hooks.example.com/a"},
                                            {"frequency", "2h"},
                                            {"metadata", {{"list", 7}}}}))}));
  const std::string run =
      RunRows(workflow, Json::parse(R"([{"domain": "a.example", "price": 5, "note": {"deep": [1]}},
                                {"domain": " "}, {"domain": "b.example"},
                                {"domain": "a.example ", "price": 6}])"));
  const Worker worker(*this);
  const Json live = Ended(run);
  ASSERT_EQ(live["overall_status"], "completed") << live;
  const Json monitors = MonitorsOf(run);
  ASSERT_EQ(monitors.size(), 1U);
  const Json& monitor = monitors[0];
  EXPECT_EQ(monitor["status"], "active");
  EXPECT_EQ(monitor["name"], "Watched");
  EXPECT_EQ(monitor["frequency"], "2h");
  EXPECT_EQ(monitor["tier"], "low");
  EXPECT_EQ(monitor["subject_type"], "company") << "as the rows of the run are";
  EXPECT_EQ(monitor["metadata"], (Json{{"list", 7}}));
  EXPECT_EQ(monitor["webhook_url"], "https://hooks.example.com/a");
  EXPECT_EQ(monitor["webhook_event_types"].size(), 3U);
  EXPECT_EQ(monitor["row_count"], 2);
  const Json rows =
      Ask("GET", "/monitors/" + monitor["id"].get<std::string>() + "/rows").body["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["subject"], (Json{{"domain", "a.example"}}));
  EXPECT_EQ(rows[0]["baseline"], (Json{{"price", 5}}));
  EXPECT_EQ(Sql("select context from monitor_row where context is not null"),
            R"({"note":"{\"deep\":[1]}"})");
  const std::string file = File(run);
  EXPECT_THAT(file, HasSubstr("domain,price,note,monitor_row_id,monitor_error\r\n"));
  EXPECT_THAT(file, HasSubstr("," + rows[0]["id"].get<std::string>() + ",\r\n"));
  EXPECT_THAT(file, HasSubstr("missing_key_value: "));
  EXPECT_THAT(file, HasSubstr("duplicate_key: "));
  EXPECT_EQ(Ask("GET", "/workflows/runs").body[0]["metrics"]["row_errors"], 2);
  EXPECT_EQ(Sql("select count(*) from delivery"), "0") << "its receiver is told of checks alone";
  EXPECT_EQ(Sql("select live and next_run_at <= now() from monitor_sched"), "t")
      << "its first tick is due";
}

TEST_F(ApiRunMonitors, G1_AMonitorStartsWithTheLastPartAndAReplayAddsNothing) {
  const std::string run = RunRows(NewMonitorFlow(), Domains(300));
  const auto first = MakeNextPart();
  ASSERT_TRUE(first);
  EXPECT_EQ(MonitorsOf(run), Json::array()) << "its first part makes it";
  EXPECT_EQ(Record(*first), store::JobRecorded::kRecorded);
  EXPECT_EQ(Rows(), "256 256 256");
  const Json starting = MonitorsOf(run);
  ASSERT_EQ(starting.size(), 1U);
  EXPECT_EQ(starting[0]["status"], "starting");
  const std::string id = starting[0]["id"];
  EXPECT_EQ(Ask("POST", "/monitors/" + id + "/trigger", Json::object()).status, 409);
  EXPECT_EQ(Record(*first), store::JobRecorded::kDropped) << "its chunk is gone";
  EXPECT_EQ(Rows(), "256 256 256");
  const auto second = MakeNextPart();
  ASSERT_TRUE(second);
  EXPECT_EQ(Record(*second), store::JobRecorded::kRecorded);
  EXPECT_EQ(Rows(), "300 300 300");
  const Json active = MonitorsOf(run);
  ASSERT_EQ(active.size(), 1U);
  EXPECT_EQ(active[0]["id"], id);
  EXPECT_EQ(active[0]["status"], "active");
  EXPECT_EQ(Live(run)["overall_status"], "completed");
}

TEST_F(ApiRunMonitors, G1_APartThatWasMadeBeforeACrashIsMadeAgainAsItWas) {
  const std::string run = RunRows(NewMonitorFlow(), Domains(300));
  ASSERT_EQ(Record(*MakeNextPart()), store::JobRecorded::kRecorded);
  const auto lost = MakeNextPart();  // its worker dies between the parts
  ASSERT_TRUE(lost);
  Sql("update job_chunk set available_at = now()");
  const auto again = MakeNextPart();
  ASSERT_TRUE(again);
  EXPECT_EQ(std::get<store::JobPartEnd>(again->record.what).monitor->row_ids,
            std::get<store::JobPartEnd>(lost->record.what).monitor->row_ids);
  EXPECT_EQ(Record(*again), store::JobRecorded::kRecorded);
  EXPECT_EQ(Record(*lost), store::JobRecorded::kDropped);
  EXPECT_EQ(Rows(), "300 300 300");
  EXPECT_EQ(MonitorsOf(run).size(), 1U);
}

TEST_F(ApiRunMonitors, WorkersDeathsLoseAndDoubleNoRow) {
  std::string csv = "domain\n";
  for (int i = 0; i < 3'000; ++i) csv += std::to_string(i % 2'500) + ".example\n";
  const std::string workflow = NewWorkflow(Chain(
      {Block("read_csv", {{"dataframe_type", "COMPANY"}}), Block("monitor", MonitorSpecs())}));
  const std::string run =
      Run(workflow, Json{{"specs_override", {{"resource_handle_id", Upload(csv)}}}});
  const std::string ended = "select finished_at is not null from job where id = '" + run + "'";
  for (int death = 0; death < 8 && Sql(ended) != "t"; ++death) {
    Worker victim(*this);
    Until("select (select count(*) from job_part) > " + std::to_string(4 * death) +
              " or exists (select from job where finished_at is not null)",
          "t");
    victim.Kill();
    Sql("update job_chunk set available_at = now() where lease_token is not null");
  }
  const Worker survivor(*this);
  ASSERT_EQ(Ended(run)["overall_status"], "completed");
  EXPECT_EQ(Rows(), "2500 2500 2500");
  const Json monitors = MonitorsOf(run);
  ASSERT_EQ(monitors.size(), 1U);
  EXPECT_EQ(monitors[0]["status"], "active");
  EXPECT_EQ(Sql("select string_agg(distinct (position < 2500)::text, ',') from monitor_row"),
            "true");
}

TEST_F(ApiRunMonitors, ARunThatEndsEarlyFailsItsMonitorAndSaysWhy) {
  const std::string run = RunRows(NewMonitorFlow(), Domains(300));
  ASSERT_EQ(Record(*MakeNextPart()), store::JobRecorded::kRecorded);
  const auto late = MakeNextPart();
  ASSERT_EQ(Ask("POST", "/workflows/cancel?job_id=" + run).status, 200);
  const Json monitors = MonitorsOf(run);
  ASSERT_EQ(monitors.size(), 1U);
  EXPECT_EQ(monitors[0]["status"], "failed");
  EXPECT_THAT(monitors[0]["disabled_reason"].get<std::string>(), HasSubstr(run));
  EXPECT_THAT(monitors[0]["disabled_reason"].get<std::string>(), HasSubstr("cancelled"));
  EXPECT_EQ(Record(*late), store::JobRecorded::kDropped);
  EXPECT_EQ(Rows(), "256 256 256");
  EXPECT_EQ(Sql("select live from monitor_sched"), "f");
}

TEST_F(ApiRunMonitors, ADeadlineFailsItsMonitorAndACancelAfterTheEndDoesNot) {
  const std::string late = RunRows(NewMonitorFlow(), Domains(300));
  ASSERT_EQ(Record(*MakeNextPart()), store::JobRecorded::kRecorded);
  const auto outcome = store::EndJob(
      session, clock, {}, *base::Uuid::Parse(late),
      {domain::JobStatus::kTimedOut, std::string(domain::kReasonDeadlineExceeded), "too late"});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(MonitorsOf(late)[0]["status"], "failed");
  EXPECT_THAT(MonitorsOf(late)[0]["disabled_reason"].get<std::string>(), HasSubstr("failed"));
  const std::string whole = RunRows(NewMonitorFlow(), Domains(2));
  ASSERT_EQ(Record(*MakeNextPart()), store::JobRecorded::kRecorded);
  EXPECT_EQ(Ask("POST", "/workflows/cancel?job_id=" + whole).body["status"], "completed");
  EXPECT_EQ(MonitorsOf(whole)[0]["status"], "active");
}

// A process of a version that knows no such blocks ends the run, and nothing else.
TEST_F(ApiRunMonitors, TheKeeperFailsAMonitorThatAnOlderVersionLeftStarting) {
  const std::string run = RunRows(NewMonitorFlow(), Domains(300));
  ASSERT_EQ(Record(*MakeNextPart()), store::JobRecorded::kRecorded);
  // Monitors of clients say of themselves what run they are of, and any word will do.
  Sql("insert into monitor (id, org_id, name, frequency, tier, subject_type, status, key_columns, "
      "struct, run_id) select gen_random_uuid(), org_id, name, frequency, tier, subject_type, 0, "
      "key_columns, struct, r from monitor, unnest(array['" +
      run + "', 'any word']) r");
  EXPECT_EQ(store::FailMonitorsLeft(session), 0) << "the run goes on";
  Sql("delete from job_chunk");
  Sql("update job set status = 3, status_reason = 'block_failed', reserved_mc = 0, "
      "finished_at = now()");
  EXPECT_EQ(store::FailMonitorsLeft(session), 1);
  EXPECT_EQ(Sql("select string_agg(status::text, ',' order by status desc) from monitor"), "1,0,0")
      << "those of clients are waiting for what they asked for";
  EXPECT_EQ(Sql("select disabled_reason from monitor where status = 1"),
            "the run " + run + " ended as failed before all of its rows were here");
  EXPECT_EQ(store::FailMonitorsLeft(session), 0);
}

TEST_F(ApiRunMonitors, AMonitorThatIsCompleteSurvivesTheEndOfItsRun) {
  Json definition = Chain({WebhookSource("COMPANY"), Block("monitor", MonitorSpecs()),
                           Block("dedupe"), Block("select_columns")});
  definition["blocks"][3]["specs"]["columns"] = Json::array({Json{{"name", "domain"}}});
  definition["edges"][1]["from_block_id"] = "1";  // beside the monitor
  const std::string run = RunRows(NewWorkflow(definition), Domains(2));
  std::optional<NextPart> of_monitor;
  while (!of_monitor || of_monitor->record.block != 1) {
    of_monitor = MakeNextPart();
    ASSERT_TRUE(of_monitor);
  }
  ASSERT_EQ(Record(*of_monitor), store::JobRecorded::kRecorded);
  EXPECT_EQ(Ask("POST", "/workflows/cancel?job_id=" + run).body["status"], "cancelled");
  EXPECT_EQ(MonitorsOf(run)[0]["status"], "active");
}

TEST_F(ApiRunMonitors, EachBlockMakesItsOwnAndOneWithoutRowsFails) {
  const Json none{{"conditions", Json::array({Json{{"column", "domain"}, {"op", "is_empty"}}})}};
  Json definition =
      Chain({WebhookSource("COMPANY"), Block("monitor", MonitorSpecs({{"name", "first"}})),
             Block("filter", none), Block("monitor", MonitorSpecs({{"name", "second"}}))});
  definition["edges"][1]["from_block_id"] = "1";
  const std::string run = RunRows(NewWorkflow(definition), Domains(3));
  const Worker worker(*this);
  ASSERT_EQ(Ended(run)["overall_status"], "completed");
  std::map<std::string, std::string> statuses;
  for (const Json& monitor : MonitorsOf(run)) statuses[monitor["name"]] = monitor["status"];
  EXPECT_EQ(statuses,
            (std::map<std::string, std::string>{{"first", "active"}, {"second", "failed"}}));
  EXPECT_EQ(Ask("GET", "/monitors/for-run/" + run + "?status=failed").body.size(), 1U);
}

TEST_F(ApiRunMonitors, RunsNeedTheFeaturesOfMonitors) {
  Sql("update organisation set features = '{}'");
  const Reply without = Ask("POST", "/workflows/run?workflow_id=" + NewMonitorFlow(),
                            Json{{"webhook_payload", Domains(1)}});
  EXPECT_EQ(without.status, 403);
  EXPECT_EQ(without.error(), "feature_not_enabled");
  Sql("update organisation set features = '{monitors}'");
  for (const Json& specs : {Json{{"frequency", "5m"}}, Json{{"tier", "high"}}}) {
    EXPECT_EQ(Ask("POST", "/workflows/run?workflow_id=" + NewMonitorFlow(MonitorSpecs(specs)),
                  Json{{"webhook_payload", Domains(1)}})
                  .status,
              403);
  }
  EXPECT_EQ(Sql("select count(*) from job"), "0");
}

TEST_F(ApiRunMonitors, AForeignRunsMonitorsAreNotListed) {
  const std::string run = RunRows(NewMonitorFlow(), Domains(1));
  ASSERT_EQ(Record(*MakeNextPart()), store::JobRecorded::kRecorded);
  ASSERT_EQ(MonitorsOf(run).size(), 1U);
  const Tenant other = NewTenant("other");
  EXPECT_EQ(Ask("GET", "/monitors/for-run/" + run, Headers{{"x-api-key", other.key}}).raw.body,
            "[]");
}

}  // namespace
}  // namespace vedette::test
