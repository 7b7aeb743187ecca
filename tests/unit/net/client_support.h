#pragma once

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "net/http_client.h"
#include "tests/unit/net/support.h"

// An outgoing client and the servers it meets, for the tests of net/http_client.
namespace vedette::net::test {

// The configuration of a client that may reach them, and of one that may not.
const config::NetConfig& NetConfig();
const config::NetConfig& WithoutAllow();

// A client on its loop; Fetch waits for the answer.
class Client {
 public:
  explicit Client(const config::NetConfig& config = NetConfig(),
                  milliseconds per_host_gap = milliseconds(0),
                  HttpClient::OnLimit on_limit = nullptr) {
    loop_.Run([&] {
      client_ = std::make_unique<HttpClient>(loop_.loop, config, per_host_gap, std::move(on_limit));
    });
  }
  ~Client() {
    loop_.Run([&] { client_.reset(); });
  }

  std::future<HttpResponse> Begin(HttpRequest request) {
    auto result = std::make_shared<std::promise<HttpResponse>>();
    auto future = result->get_future();
    loop_.loop.Post([this, result, r = std::move(request)]() mutable {
      client_->Send(std::move(r), [result](HttpResponse a) { result->set_value(std::move(a)); });
    });
    return future;
  }
  HttpResponse Fetch(HttpRequest request) { return Begin(std::move(request)).get(); }
  HttpResponse Get(const std::string& url) {
    HttpRequest request;
    request.url = url;
    return Fetch(std::move(request));
  }

  HttpClient& raw() { return *client_; }
  LoopThread& loop() { return loop_; }

 private:
  LoopThread loop_;
  std::unique_ptr<HttpClient> client_;
};

inline std::string Local(int port, const std::string& rest = "/") {
  return "http://127.0.0.1:" + std::to_string(port) + rest;
}

// Reads one request, then lets `answer` write.
inline RawServer::Serve After(std::function<void(Socket&)> answer) {
  return [answer = std::move(answer)](Socket& socket) {
    try {
      socket.ReceiveUntil("\r\n\r\n");
    } catch (const std::runtime_error&) {
      return;
    }
    answer(socket);
  };
}

inline RawServer::Serve Says(const std::string& text) {
  return After([text](Socket& socket) { socket.Send(text); });
}

// Answers every request of a connection, until the client leaves.
inline void SaysOkEachTime(Socket& socket) {
  for (;;) {
    try {
      socket.ReceiveUntil("\r\n\r\n");
    } catch (const std::runtime_error&) {
      return;
    }
    socket.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  }
}

// Serves what it was asked with, as text.
struct Mirror {
  Mirror()
      : service([this](std::shared_ptr<Exchange> exchange) {
          const ServerRequest& r = exchange->request();
          std::string text = r.method + " " + r.target + "\n";
          for (const auto& [name, value] : r.headers) {
            text += name + ": " + value + "\n";
          }
          {
            const std::lock_guard lock(mutex);
            most = std::max(most, ++under_way);
          }
          exchange->Send({200, {{"X-One", "1"}}, text + "\n" + r.body});
          const std::lock_guard lock(mutex);
          --under_way;
        }),
        server(ServerConfig(), service, Silent()) {
    server.Start();
  }
  int port() const { return server.port(); }

  std::mutex mutex;
  int under_way = 0;
  int most = 0;
  FunctionService service;
  HttpServer server;
};

}  // namespace vedette::net::test
