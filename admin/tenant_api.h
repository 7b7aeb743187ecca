#pragma once

#include <functional>
#include <string>

#include "base/uuid.h"
#include "net/http_server.h"

namespace vedette::admin {

// The public API of this process, as the operator uses it for an organisation: what makes and
// changes a monitor is judged there, by the same rules as a client's request. Built by app, because
// the admin port must not include the API.
class TenantApi {
 public:
  struct Request {
    base::Uuid org_id;
    std::string actor;  // the admin token's name
    std::string method;
    std::string path;
    std::string body;  // JSON
    std::string remote_address;
  };
  using Done = std::function<void(net::ServerResponse)>;
  virtual ~TenantApi() = default;

  // Returns at once; `done` runs at most once, on any thread. It does not run where the process
  // stops before.
  virtual void Call(Request request, Done done) = 0;
};

}  // namespace vedette::admin
