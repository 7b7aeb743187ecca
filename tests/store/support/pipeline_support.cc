#include "tests/store/support/pipeline_support.h"

#include <fmt/format.h>

#include <chrono>
#include <pqxx/pqxx>
#include <thread>

namespace vedette::test {
namespace {

constexpr std::chrono::seconds kDeadline{60};
constexpr std::chrono::milliseconds kLookAgain{5};

}  // namespace

PipelineTest::PipelineTest()
    : config(database.config()),
      session(config, {.name = "test"}, clock, metrics,
              base::Logger(base::LogLevel::kError, base::LogFormat::kText)),
      org(NewOrganisation(1'000'000)) {}

std::string PipelineTest::Sql(const std::string& statement) {
  pqxx::connection connection(database.url());
  pqxx::work tx(connection);
  const auto result = tx.exec(statement);
  tx.commit();
  return result.empty() || result[0].empty() || result[0][0].is_null() ? "" : result[0][0].c_str();
}

base::Uuid PipelineTest::NewOrganisation(std::int64_t balance_mc) {
  const base::Uuid id = base::Uuid::V4();
  Sql(fmt::format(
      "insert into organisation (id, name, features) values ('{0}', 'o', '{{monitors}}');"
      "insert into account (org_id, balance_mc) values ('{0}', {1})",
      id.ToString(), balance_mc));
  if (balance_mc > 0) {
    Sql(fmt::format(
        "insert into credit_entry (org_id, amount_mc, reason) values ('{}', {}, 'seed')",
        id.ToString(), balance_mc));
  }
  return id;
}

base::Uuid PipelineTest::NewTeam(std::optional<std::int64_t> limit_mc) {
  const base::Uuid id = base::Uuid::V4();
  Sql(fmt::format(
      "insert into team (id, org_id, name, spend_limit_mc) values ('{}', '{}', 't', {})",
      id.ToString(), org.ToString(), limit_mc ? std::to_string(*limit_mc) : "null"));
  return id;
}

base::Uuid PipelineTest::NewMonitor(const MonitorOptions& options) {
  const base::Uuid id = base::Uuid::V7(clock);
  const std::string org_id = options.org.value_or(org).ToString();
  const std::string team =
      options.team ? fmt::format("'{}'", options.team->ToString()) : std::string("null");
  std::string endpoint = "null";
  std::string url = "null";
  if (!options.webhook_url.empty()) {
    url = fmt::format("'{}'", options.webhook_url);
    endpoint = fmt::format(
        "'{}'",
        Sql(fmt::format("insert into endpoint (id, org_id, scheme, host, port) values ('{}', '{}', "
                        "'http', '{}', 80) "
                        "on conflict (org_id, scheme, host, port) do update set host = "
                        "excluded.host returning id",
                        base::Uuid::V4().ToString(), org_id, options.webhook_url.substr(7))));
  }
  Sql(fmt::format(
      "insert into monitor (id, org_id, team_id, name, frequency, tier, subject_type, status, "
      "key_columns, struct, webhook_url, webhook_event_types, endpoint_id) values ('{0}', '{1}', "
      "{2}, "
      "'m', '1h', 1, 0, 2, '{{domain}}', '{{\"price\": \"css:.p\"}}', {6}, '{{0,1,2}}', {7});"
      "insert into monitor_sched (monitor_id, org_id, team_id, tier, live, frequency_s, anchor_at, "
      "next_run_at, row_count, active_row_count) values ('{0}', '{1}', {2}, 1, true, {3}, {4}, "
      "{4}, "
      "{5}, {5});"
      "insert into monitor_row (monitor_id, position, id, org_id, key_hash, subject, baseline) "
      "select '{0}', n, gen_random_uuid(), '{1}', decode(md5(n::text), 'hex'), '{{\"domain\": "
      "\"a\"}}', "
      "'{{}}' from generate_series(0, {5} - 1) n;"
      "insert into state_block (monitor_id, block, outcomes) select '{0}', n / 256, "
      "decode(repeat('00', least({5} - n, 256)), 'hex') from generate_series(0, {5} - 1, 256) n",
      id.ToString(), org_id, team, options.frequency_s, options.due, options.rows, url, endpoint));
  return id;
}

store::MaterialiseResult PipelineTest::Cut() {
  return store::MaterialiseDueTicks(session, clock, limits);
}

store::Claim PipelineTest::ClaimAll(int chunks_max) {
  std::vector<store::ClaimShare> shares;
  for (const auto& due : store::ScanDueOrganisations(session, {}, 1000).due) {
    shares.push_back({due.org_id, chunks_max, 1'000'000});
  }
  return store::ClaimChunks(session, shares, base::Uuid::V4(), lease, prices, kCarefulFrom);
}

std::vector<store::ChunkRecord> PipelineTest::FinishAll(const store::Claim& claim,
                                                        domain::Outcome outcome) {
  std::vector<store::ChunkRecord> records;
  for (const auto& chunk : claim.chunks) {
    store::ChunkRecord& record = records.emplace_back();
    record.lease = {chunk.id, chunk.lease_token};
    record.org_id = chunk.org_id;
    record.team_id = chunk.team_id;
    record.tier = chunk.tier;
    record.large = chunk.large;
    record.price_mc = chunk.price_mc;
    record.finished = true;
    for (const auto& part : chunk.parts) {
      store::OutcomeRange range{
          part.part.monitor_id, part.part.tick_id, part.part.first, {}, claim.now};
      std::string all;
      for (std::size_t i = 0; i < part.rows.size(); ++i) {
        const domain::Outcome o = part.decided[i].value_or(outcome);
        all.push_back(static_cast<char>(o));
        range.outcomes.push_back(part.rows[i].done ? 0 : static_cast<char>(o));
        if (!part.rows[i].done && domain::IsCompleted(o)) ++record.completed;
      }
      record.ranges.push_back(range);
      record.parts.push_back({part.part, all, claim.specs.at(part.part.monitor_id)});
    }
  }
  return records;
}

store::RecordResult PipelineTest::Record(const std::vector<store::ChunkRecord>& records) {
  return store::RecordChecks(session, records, lease);
}

void PipelineTest::ExpectMoneyAddsUp() {
  EXPECT_EQ(
      Sql("select count(*) from account a where a.balance_mc + "
          "(select coalesce(sum(reserved_mc), 0) from chunk c where c.org_id = a.org_id) <> "
          "(select coalesce(sum(amount_mc), 0) from credit_entry e where e.org_id = a.org_id)"),
      "0");
}

void PipelineTest::Until(const std::string& what, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "waited in vain until " << what;
    std::this_thread::sleep_for(kLookAgain);
  }
}

void PipelineTest::Eventually(const std::string& statement, const std::string& expected) {
  pqxx::connection connection(database.url());
  pqxx::nontransaction look(connection);
  std::string last;
  Until(statement + " is " + expected, [&] {
    const auto result = look.exec(statement);
    last = result.empty() || result[0][0].is_null() ? "" : result[0][0].c_str();
    return last == expected;
  });
  EXPECT_EQ(last, expected);
}

double PipelineTest::Series(const std::string& name_and_labels) {
  const std::string text = metrics.Expose();
  const auto at = text.find("\n" + name_and_labels + " ");
  return at == std::string::npos ? 0 : std::stod(text.substr(at + name_and_labels.size() + 2));
}

}  // namespace vedette::test
