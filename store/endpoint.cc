#include "store/endpoint_sql.h"

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

}  // namespace vedette::store
