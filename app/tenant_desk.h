#pragma once

#include "admin/admin.h"
#include "api/api.h"

namespace vedette::app {

// The admin port's way to the public API of the same process. Any thread; `api` must outlive this
// object and every call.
class LocalTenantApi final : public admin::TenantApi {
 public:
  explicit LocalTenantApi(api::Api& api) : api_(api) {}
  void Call(Request request, Done done) override;

 private:
  api::Api& api_;
};

}  // namespace vedette::app
