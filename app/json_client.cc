#include "app/json_client.h"

#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include <fmt/format.h>

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

namespace {

constexpr std::size_t kAnswerBytesMax = 64 << 20;

// The words of an error body, in any of the shapes that the APIs have.
std::string Reason(const JsonClient::Answer& answer) {
  const base::Json& body = answer.body;
  if (body.is_object()) {
    for (const char* key : {"message", "detail", "error"}) {
      if (!body.contains(key)) continue;
      return body[key].is_string() ? body[key].get<std::string>() : base::DumpJson(body[key]);
    }
  }
  return answer.text.substr(0, 300);
}

}  // namespace

JsonClient::JsonClient(BlockingHttp& http, std::string base,
                       std::pair<std::string, std::string> credential)
    : http_(http), base_(std::move(base)), credential_(std::move(credential)) {}

JsonClient::Answer JsonClient::Send(const std::string& method, const std::string& path,
                                    const std::optional<std::string>& content_type,
                                    std::string text) {
  net::HttpRequest request;
  request.method = method;
  request.url = base_ + path;
  request.headers.push_back(credential_);
  if (content_type) {
    request.headers.emplace_back("Content-Type", *content_type);
    request.body = std::move(text);
  }
  request.trust = net::Trust::kOperator;
  request.timeout = method == "GET" ? kReadTimeout : kWorkTimeout;
  request.body_bytes_max = kAnswerBytesMax;
  net::HttpResponse response = http_.Send(std::move(request));
  if (response.error_class != net::HttpErrorClass::kNone) {
    throw RequestFailed(
        0, fmt::format("{}: {} {}{} failed: {}", net::HttpErrorClassName(response.error_class),
                       method, base_, path, response.error));
  }
  Answer answer{.status = response.status, .body = nullptr, .text = std::move(response.body)};
  if (base::ParseJson(answer.text, &answer.body, {.keep_numbers = true})) answer.body = nullptr;
  return answer;
}

base::Json JsonClient::Taken(const std::string& method, const std::string& path, Answer answer) {
  if (answer.status < 200 || answer.status > 299) {
    throw RequestFailed(answer.status, fmt::format("{} {} was answered {}: {}", method, path,
                                                   answer.status, Reason(answer)));
  }
  return std::move(answer.body);
}

JsonClient::Answer JsonClient::Call(const std::string& method, const std::string& path,
                                    const std::optional<base::Json>& body) {
  if (!body) return Send(method, path, std::nullopt, {});
  return Send(method, path, "application/json", base::DumpJson(*body));
}

base::Json JsonClient::Expect(const std::string& method, const std::string& path,
                              const std::optional<base::Json>& body) {
  return Taken(method, path, Call(method, path, body));
}

base::Json JsonClient::Upload(const std::string& path, const std::string& content_type,
                              const std::string& text) {
  return Taken("POST", path, Send("POST", path, content_type, text));
}

}  // namespace vedette::app
