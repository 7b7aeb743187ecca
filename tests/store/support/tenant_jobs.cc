#include "tests/store/support/tenant_jobs.h"

#include <fmt/format.h>

#include <thread>

#include "store/jobs/claim.h"
#include "store/jobs/record.h"

namespace vedette::test {
namespace {

using base::Json;

config::Environment WithoutRateLimit(config::Environment environment) {
  environment.emplace("VEDETTE_LIMITS_REQUESTS_PER_MINUTE", "0");
  return environment;
}

// Waits with a deadline for `holds`.
void WaitFor(const std::function<bool()>& holds, const std::string& what) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(150);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("never: " + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

ApiJobs::ApiJobs(config::Environment environment, const Adjust& adjust)
    : ApiTest(WithoutRateLimit(std::move(environment)), adjust),
      session(config.database, {.name = "worker"}, clock, metrics, log) {
  signals.Listen(store::Signal::kJob, [this] { loop.Post([this] { waits->Look(); }); });
  signals.Start();
  ServeLanes("{checks,lookup}");
  GiveCredits(acme.org_id, 1'000'000);
}

ApiJobs::~ApiJobs() {
  signals.Stop();
}

Json ApiJobs::One(const Json& changes) {
  Json body{{"lead", {{"name", "Ada Lovelace"}, {"domain", "example.com"}, {"crm", 42}}}};
  for (const auto& [name, value] : changes.items()) body[name] = value;
  return body;
}

Json ApiJobs::Many(int leads) {
  Json body{{"leads", Json::array()}};
  for (int i = 0; i < leads; ++i) {
    body["leads"].push_back({{"name", fmt::format("Ada {}", i)}, {"domain", "example.com"}});
  }
  return body;
}

Json ApiJobs::Cell(const std::string& address, const std::string& error) {
  Json cell{{"email", Json::array()},
            {"personal_email", Json::array()},
            {"error", nullptr},
            {"details", {{"reason", nullptr}, {"charged", error.empty()}}}};
  if (error.empty()) cell["email"].push_back({address, "OK", "COMPANY"});
  if (!error.empty()) cell["error"] = error;
  return cell;
}

void ApiJobs::ServeLanes(const std::string& lanes) {
  Sql("delete from member; insert into member (id, roles, version, host, pid, lanes, heartbeat_at) "
      "values (gen_random_uuid(), '{worker}', 'v', 'h', 1, '" +
      lanes + "', now() + interval '1 hour')");
}

void ApiJobs::GiveCredits(const std::string& org_id, std::int64_t mc) {
  Sql(fmt::format(
      "insert into account (org_id, balance_mc) values ('{0}', {1}) on conflict "
      "(org_id) do update set balance_mc = account.balance_mc + {1};"
      "insert into credit_entry (org_id, amount_mc, reason) values ('{0}', {1}, 'seed')",
      org_id, mc));
}

std::shared_ptr<ApiExchange> ApiJobs::Send(const std::string& target, const Json& body,
                                           const Headers& headers) {
  net::ServerRequest request = Request("POST", target, headers);
  request.headers.emplace_back("content-type", "application/json");
  request.body = base::DumpJson(body);
  return Begin(std::move(request));
}

ApiTest::Reply ApiJobs::Take(const std::shared_ptr<ApiExchange>& exchange) {
  Reply reply;
  reply.raw = exchange->Wait();
  reply.status = reply.raw.status;
  if (base::ParseJson(reply.raw.body, &reply.body)) reply.body = Json::object();
  return reply;
}

std::string ApiJobs::JobOf(int jobs) {
  Until("select count(*) from job", std::to_string(jobs));
  return Sql("select id from job order by id desc limit 1");
}

void ApiJobs::Until(const std::string& statement, const std::string& value) {
  WaitFor([&] { return Sql(statement) == value; }, statement + " is " + value);
}

void ApiJobs::UntilParked(int n) {
  const std::string line = fmt::format("\nvedette_waits {}\n", n);
  WaitFor([&] { return metrics.Expose().find(line) != std::string::npos; }, line);
}

void ApiJobs::Work(const std::string& address, const std::string& error, std::int64_t charge_mc) {
  std::vector<store::JobShare> shares;
  for (const auto& due : store::ScanDueJobs(session, {{domain::Lane::kLookup, {}}}, 1000).due) {
    shares.push_back({due.lane, due.org_id, due.rank, 100});
  }
  const auto claim = store::ClaimJobChunks(session, shares, base::Uuid::V4(),
                                           std::chrono::milliseconds(30000), {});
  for (const store::ClaimedJobChunk& chunk : claim.chunks) {
    const int rows = std::stoi(
        Sql("select rows_total from job_block where job_id = '" + chunk.job_id.ToString() + "'"));
    Json cells = Json::array();
    for (int i = 0; i < rows; ++i) cells.push_back(Json::array({Cell(address, error)}));
    store::JobChunkRecord record;
    record.job_id = chunk.job_id;
    record.lease = chunk.lease;
    record.progress = chunk.progress;
    record.rows_done = rows;
    record.row_errors = error.empty() ? 0 : rows;
    record.rows_charged = charge_mc > 0 ? rows : 0;
    record.charge_mc = rows * charge_mc;
    store::JobPartEnd end{base::DumpJson(cells), rows, {}, {}};
    if (rows == 1 && !error.empty()) end.error_code = error;
    record.what = std::move(end);
    const auto recorded = store::RecordJobChunks(session, clock, {record});
    for (const store::Signal signal : recorded.raise) signals.Raise(signal);
  }
}

}  // namespace vedette::test
