#include "app/blocking_http.h"

#include <future>
#include <thread>
#include <utility>

#include "config/net_config.h"

namespace vedette::app {

struct BlockingHttp::Impl {
  explicit Impl(const config::NetConfig& config)
      : client(std::make_unique<net::HttpClient>(loop, config)), thread([this] { loop.Run(); }) {}
  ~Impl() {
    loop.Post([this] {
      client->CancelAll();
      client.reset();
    });
    loop.Stop();
    thread.join();
  }

  base::EventLoop loop;
  std::unique_ptr<net::HttpClient> client;  // lives and ends on the loop's thread
  std::thread thread;
};

BlockingHttp::BlockingHttp(const config::NetConfig& config)
    : impl_(std::make_unique<Impl>(config)) {}

BlockingHttp::~BlockingHttp() = default;

net::HttpResponse BlockingHttp::Send(net::HttpRequest request) {
  auto answer = std::make_shared<std::promise<net::HttpResponse>>();
  auto future = answer->get_future();
  impl_->loop.Post([this, answer, request = std::move(request)]() mutable {
    impl_->client->Send(std::move(request), [answer](net::HttpResponse response) {
      answer->set_value(std::move(response));
    });
  });
  return future.get();
}

}  // namespace vedette::app
