#include "app/service/role_parts.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <set>

#include "app/probe_set.h"
#include "config/database_config.h"
#include "config/parts.h"
#include "config/search_config.h"

namespace vedette::app {
namespace {

config::DatabaseConfig Pooled(config::DatabaseConfig database) {
  if (database.pooled_url.empty()) return database;
  database.url = database.pooled_url;
  database.is_pooled = true;
  return database;
}

}  // namespace

Pools::Pools(const config::Config& config, const Duties& duties, const base::Clock& clock,
             metrics::Metrics& metrics, const base::Logger& log)
    : pooled(Pooled(config.database)) {
  const config::DatabaseConfig& db = config.database;
  const auto pool_of = [&](const config::DatabaseConfig& database, const char* name,
                           int connections, bool keyed_plans) {
    return std::make_unique<store::Pool>(database,
                                         store::SessionOptions{name, keyed_plans, &config.testing},
                                         connections, clock, metrics, log.For("store"));
  };
  const auto pool = [&](const char* name, int connections, bool keyed_plans) {
    return pool_of(db, name, connections, keyed_plans);
  };
  fleet = pool("fleet", 1, false);
  if (pooled.is_pooled && (duties.Has(Role::kApi) || duties.Has(Role::kAdmin))) {
    pooler = pool_of(pooled, "pooler", 1, false);
  }
  if (duties.Has(Role::kApi)) api = pool_of(pooled, "api", db.api_connections, false);
  if (duties.Has(Role::kApi) && config.search.backend == "postgres") {
    // A count takes a millisecond or as long as it may.
    const store::SessionOptions options{"search", false, &config.testing, true};
    search = std::make_unique<store::Pool>(pooled, options, db.search_connections, clock, metrics,
                                           log.For("store"));
  }
  if (duties.Has(Role::kAdmin)) admin = pool_of(pooled, "admin", db.admin_connections, false);
  if (duties.Has(Role::kScheduler)) scheduler = pool("scheduler", db.scheduler_connections, true);
  if (duties.checks()) worker = pool("worker", db.worker_connections, true);
  if (!duties.job_lanes().empty()) jobs = pool("jobs", db.jobs_connections, true);
  if (duties.Has(Role::kDelivery)) delivery = pool("delivery", db.delivery_connections, true);
  const bool reads = duties.Has(Role::kWorker) || duties.Has(Role::kApi);
  if (duties.Has(Role::kBrowser) || (reads && HandsRenderingOver(config))) {
    render = pool("render", kRenderConnections, true);
  }
}

void Pools::Stop() {
  for (auto* pool :
       {&api, &search, &admin, &scheduler, &worker, &jobs, &delivery, &render, &pooler, &fleet}) {
    if (*pool) (*pool)->Stop();
  }
}

void DrainParts(base::EventLoop& loop, const base::Logger& log, std::chrono::milliseconds limit,
                const std::vector<DrainedPart>& parts) {
  struct Left {
    std::mutex mutex;
    std::condition_variable changed;
    std::set<std::string_view> names;  // guarded by mutex
  };
  auto left = std::make_shared<Left>();
  for (const DrainedPart& part : parts) left->names.insert(part.name);
  loop.Post([left, parts] {
    for (const DrainedPart& part : parts) {
      part.drain([left, name = part.name] {
        std::lock_guard lock(left->mutex);
        left->names.erase(name);
        left->changed.notify_one();
      });
    }
  });
  std::unique_lock lock(left->mutex);
  if (left->changed.wait_for(lock, limit, [&] { return left->names.empty(); })) return;
  log.Warn("draining goes on without what waits for the database",
           {{"parts", fmt::format("{}", fmt::join(left->names, ","))}});
}

}  // namespace vedette::app
