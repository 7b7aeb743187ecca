#pragma once

#include <memory>
#include <string_view>

#include "admin/handlers.h"
#include "net/http_server.h"

namespace vedette::admin {

// Health and metrics alone ([health] listen), for processes without the admin role and for networks
// that close the admin port. Everything in `parts` must outlive it. Answers on the server's thread.
class HealthPort final : public net::WholeBodyService {
 public:
  explicit HealthPort(Parts parts) : parts_(parts) {}

  void HandleWhole(std::shared_ptr<net::Exchange> exchange) override;
  std::size_t BodyBytesMax(std::string_view, std::string_view) const override { return 0; }

 private:
  const Parts parts_;
};

}  // namespace vedette::admin
