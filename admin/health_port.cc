#include "admin/health_port.h"

#include "admin/routes.h"
#include "rest/answer.h"

namespace vedette::admin {

void HealthPort::HandleWhole(std::shared_ptr<net::Exchange> exchange) {
  const net::ServerRequest& request = exchange->request();
  const auto match = Router().Find(request.method, request.path);
  const bool known = match && match->route->access == Route::Access::kHealth;
  rest::Reply reply =
      known ? match->route->immediate(parts_, Call{request, {}, {}, {}}) : rest::NotFound("route");
  exchange->Send(rest::ToResponse(std::move(reply), {{"Cache-Control", "no-store"}}));
}

}  // namespace vedette::admin
