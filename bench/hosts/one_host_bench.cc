// What a request costs where many are under way to one host:
//   bench_one_host URL COUNT IN_FLIGHT [follow]
// The next request is sent as soon as one is answered. With `follow`, IN_FLIGHT are wanted at once,
// and as many are under way as the host's answers say. Prints one line of JSON, as
// bench_bare_sender does, with the last limit.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "config/net_config.h"
#include "net/http_client.h"

namespace {

using namespace vedette;

double Seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && !(argc == 5 && std::string_view(argv[4]) == "follow")) return 2;
  const std::string url = argv[1];
  const long count = std::atol(argv[2]);
  const int in_flight = std::atoi(argv[3]);
  config::NetConfig config{};
  config.connect_timeout_ms = std::chrono::seconds(30);
  config.connections_max = in_flight;
  config.connections_per_host_max = in_flight;
  base::EventLoop loop;
  int limit = in_flight;
  net::HttpClient::OnLimit follow;
  if (argc == 5) follow = [&limit](const std::string&, int now) { limit = now; };
  net::HttpClient client(loop, config, std::chrono::milliseconds(0), follow);
  long sent = 0;
  long ended = 0;
  long failed = 0;
  const std::function<void()> send = [&] {
    ++sent;
    net::HttpRequest request;
    request.url = url;
    request.trust = net::Trust::kOperator;
    request.timeout = std::chrono::seconds(60);
    client.Send(std::move(request), [&](const net::HttpResponse& response) {
      if (response.status != 200) ++failed;
      if (++ended == count) {
        loop.Stop();
      } else if (sent < count) {
        send();
      }
    });
  };
  const auto began = std::chrono::steady_clock::now();
  loop.Post([&] {
    while (sent < count && sent < in_flight) send();
  });
  loop.Run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf(
      "{\"count\": %ld, \"failed\": %ld, \"seconds\": %.4f, \"user_s\": %.4f, \"kernel_s\": "
      "%.4f, \"limit\": %d}\n",
      count, failed, took.count(), Seconds(used.ru_utime), Seconds(used.ru_stime), limit);
  return failed == 0 ? 0 : 1;
}
