#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/http_server.h"

namespace vedette::test {

// A request with a body; without a content type where `type` is empty.
inline net::ServerRequest Request(std::string body, std::string type = "application/json") {
  net::ServerRequest request;
  if (!type.empty()) request.headers = {{"content-type", std::move(type)}};
  request.body = std::move(body);
  return request;
}

// Keeps one answer. The test plays the client that leaves.
class FakeExchange final : public net::Exchange {
 public:
  explicit FakeExchange(net::ServerRequest request) : request_(std::move(request)) {}

  const net::ServerRequest& request() const override { return request_; }
  void DropBody() override { request_.body.clear(); }
  void WhenGone(std::function<void()> then) override { gone = std::move(then); }
  void Send(net::ServerResponse response) override { answer = std::move(response); }
  void Begin(int status, std::vector<std::pair<std::string, std::string>> headers) override {
    answer = net::ServerResponse{status, std::move(headers), {}};
  }
  void Write(std::string piece, std::function<void(bool)> then) override {
    answer->body += piece;
    then(true);
  }
  void End() override {}

  // The header's value; empty without one.
  std::string Header(const std::string& name) const {
    for (const auto& [key, value] : answer->headers) {
      if (key == name) return value;
    }
    return {};
  }

  std::optional<net::ServerResponse> answer;
  std::function<void()> gone;

 private:
  net::ServerRequest request_;
};

}  // namespace vedette::test
