#include "store/endpoint.h"

#include "store/endpoint_sql.h"
#include "store/sql.h"

namespace vedette::store {

// Not by ON CONFLICT DO UPDATE: that would hold the endpoint's row against everybody else until the
// commit.
base::Uuid EnsureEndpoint(Transaction& tx, const base::Clock& clock, const base::Uuid& org_id,
                          const EndpointAddress& address) {
  const auto find = [&] {
    return tx.Exec<"endpoint_find">("org_id"_a = org_id, "scheme"_a = address.scheme,
                                    "host"_a = address.host, "port"_a = address.port,
                                    "path"_a = address.path);
  };
  if (const auto known = ReadFirst<base::Uuid>(find())) return *known;
  tx.Exec<"endpoint_insert">("id"_a = base::Uuid::V7(clock), "org_id"_a = org_id,
                             "scheme"_a = address.scheme, "host"_a = address.host,
                             "port"_a = address.port, "path"_a = address.path);
  return ReadOne<base::Uuid>(find());
}

void ReadTargets(const pqxx::result& rows, DeliveryTargets* targets) {
  for (const auto& row : rows) {
    base::Uuid monitor_id;
    DeliveryTarget target;
    Columns(row).Into("id"_a = &monitor_id, "webhook_url"_a = &target.url,
                      "endpoint_id"_a = &target.endpoint_id, "metadata"_a = &target.metadata);
    (*targets)[monitor_id] = std::move(target);
  }
}

}  // namespace vedette::store
