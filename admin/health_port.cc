#include "admin/health_port.h"

#include "admin/routes.h"

namespace vedette::admin {

void HealthPort::Handle(std::shared_ptr<net::Exchange> exchange) {
  const net::ServerRequest& request = exchange->request();
  const Route* route = FindRoute(request.method, request.path).route;
  if (route == nullptr || route->access != Route::Access::kHealth) {
    exchange->Send(NotFound("route"));
    return;
  }
  exchange->Send(route->immediate(parts_, Call{request, {}, {}, {}}));
}

}  // namespace vedette::admin
