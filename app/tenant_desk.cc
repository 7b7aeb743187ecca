#include "app/tenant_desk.h"

#include <memory>
#include <utility>
#include <vector>

namespace vedette::app {
namespace {

// A request that came through no socket, with its body whole. What is served so is answered at
// once, never in pieces.
class InnerExchange final : public net::Exchange {
 public:
  InnerExchange(net::ServerRequest request, admin::TenantApi::Done done)
      : request_(std::move(request)), done_(std::move(done)) {}

  const net::ServerRequest& request() const override { return request_; }
  void DropBody() override { request_.body.clear(); }
  void Send(net::ServerResponse response) override {
    if (done_) std::exchange(done_, nullptr)(std::move(response));
  }
  void Begin(int, std::vector<std::pair<std::string, std::string>>) override {
    Send({500, {}, R"({"error":"internal","message":"this answer is too long for this port"})"});
  }
  void Write(std::string, std::function<void(bool)> then) override { then(false); }
  void End() override {}

 private:
  net::ServerRequest request_;
  admin::TenantApi::Done done_;  // empty once it has been called
};

}  // namespace

void LocalTenantApi::Call(Request request, Done done) {
  net::ServerRequest inner;
  inner.method = std::move(request.method);
  inner.target = request.path;
  inner.path = std::move(request.path);
  inner.headers = {{"content-type", "application/json"}};
  inner.body = std::move(request.body);
  inner.remote_address = std::move(request.remote_address);
  api_.HandleFor(std::make_shared<InnerExchange>(std::move(inner), std::move(done)), request.org_id,
                 request.actor);
}

}  // namespace vedette::app
