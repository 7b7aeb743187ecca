#include "app/service/role_parts.h"

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
       {&api, &search, &admin, &scheduler, &worker, &jobs, &delivery, &render, &fleet}) {
    if (*pool) (*pool)->Stop();
  }
}

}  // namespace vedette::app
