#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "net/http_server.h"

namespace vedette::app {

// A service that answers 503 until the process is ready for it the first time: before the schema is
// there, no handler could do anything sensible.
class GatedService final : public net::HttpService {
 public:
  using Ready = std::function<bool(std::vector<std::string>* reasons)>;  // any thread

  GatedService(net::HttpService& inner, Ready ready) : inner_(inner), ready_(std::move(ready)) {}

  void Handle(std::shared_ptr<net::Exchange> exchange) override {
    std::vector<std::string> reasons;
    if (ready_(&reasons)) {
      inner_.Handle(std::move(exchange));
      return;
    }
    const base::Json body = {{"error", "unavailable"},
                             {"message", "The service is not ready: " + reasons.front() + "."}};
    exchange->Send(
        {503, {{"Content-Type", "application/json"}, {"Retry-After", "5"}}, base::DumpJson(body)});
  }

  std::size_t BodyBytesMax(std::string_view method, std::string_view path) const override {
    return inner_.BodyBytesMax(method, path);
  }

 private:
  net::HttpService& inner_;
  Ready ready_;
};

}  // namespace vedette::app
