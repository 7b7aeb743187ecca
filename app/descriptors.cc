#include "app/descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

#include "net/http_client.h"

namespace vedette::app {
namespace {

constexpr std::int64_t kRest = 128;
// Beside the pools of the roles: the one for the fleet's state, and the one that listens.
constexpr std::int64_t kOwnDatabaseConnections = 2;

std::int64_t Outgoing(int connections_max, int per_host_max) {
  config::NetConfig net;
  net.connections_max = connections_max;
  net.connections_per_host_max = per_host_max;
  return net::HttpClient::OpenConnectionsMax(net);
}

}  // namespace

DescriptorNeed NeedOfDescriptors(const config::Config& config, const std::set<Role>& roles) {
  const auto has = [&](Role role) { return roles.contains(role); };
  const config::DatabaseConfig& db = config.database;
  DescriptorNeed need;
  need.database = kOwnDatabaseConnections;
  need.rest = kRest;
  if (has(Role::kApi)) {
    need.servers += config.api.connections_max;
    need.database += db.api_connections + db.search_connections;
  }
  if (has(Role::kAdmin)) {
    need.servers += config.admin.connections_max;
    need.database += db.admin_connections;
  }
  if (!config.health.listen.empty()) need.servers += config.admin.connections_max;
  if (has(Role::kScheduler)) need.database += db.scheduler_connections;
  if (has(Role::kWorker)) {
    need.outgoing += Outgoing(config.net.connections_max, config.worker.per_host_max) +  // pages
                     Outgoing(config.net.connections_max, config.net.connections_max);   // services
    need.database += db.worker_connections + db.jobs_connections;
  }
  // The API sends the tests of webhooks through the same client.
  if (has(Role::kDelivery) || has(Role::kApi)) {
    need.outgoing += Outgoing(config.delivery.in_flight_max + config.delivery.slow_in_flight_max,
                              config.net.connections_per_host_max);
  }
  if (has(Role::kDelivery)) need.database += db.delivery_connections;
  return need;
}

void ProvideDescriptors(const DescriptorNeed& need, const base::Logger& log) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const auto limit = static_cast<std::int64_t>(
      std::min<rlim_t>(files.rlim_cur, std::numeric_limits<std::int64_t>::max()));
  const base::Logger::Fields fields = {{"limit", limit},
                                       {"needed", need.total()},
                                       {"servers", need.servers},
                                       {"outgoing", need.outgoing},
                                       {"database", need.database}};
  if (limit < need.total()) {
    log.Warn(
        "file descriptors may run out: raise the hard limit (ulimit -Hn, LimitNOFILE) or lower "
        "connections_max",
        fields);
  } else {
    log.Info("file descriptors suffice", fields);
  }
}

}  // namespace vedette::app
