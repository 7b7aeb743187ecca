#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "net/http_server.h"

// How answers reach the server's thread. Internal to the server.
namespace vedette::net {

class HttpConnection;

// The way to the server's thread. Exchanges outlive the server at times (a slow handler), so they
// hold this rather than the server. Any thread.
class Mailbox {
 public:
  explicit Mailbox(boost::asio::io_context& io) : io_(&io) {}

  // False once closed: `f` is dropped. Whatever was taken before is run before the server ends.
  template <typename F>
  bool Post(F&& f) {
    const std::lock_guard lock(mutex_);
    if (io_ == nullptr) {
      return false;
    }
    boost::asio::post(*io_, std::forward<F>(f));
    return true;
  }

  void Close() {
    const std::lock_guard lock(mutex_);
    io_ = nullptr;
  }

  bool closed() {
    const std::lock_guard lock(mutex_);
    return io_ == nullptr;
  }

 private:
  std::mutex mutex_;
  boost::asio::io_context* io_;
};

// The Exchange that handlers see. It knows its connection weakly and touches it on the server's
// thread only; `sequence` tells the connection which of its requests is answered.
class HttpExchange final : public Exchange {
 public:
  HttpExchange(std::shared_ptr<Mailbox> mailbox, std::weak_ptr<HttpConnection> connection,
               std::uint64_t sequence, ServerRequest request);
  ~HttpExchange() override;

  const ServerRequest& request() const override { return request_; }
  void Read(std::function<void(BodyPiece)> then) override;
  void Gather(std::chrono::milliseconds wait_max, std::function<void(Gathered)> then) override;
  void DropBody() override { request_.body = std::string(); }
  void WhenGone(std::function<void()> then) override;
  void Send(ServerResponse response) override;
  void Begin(int status, std::vector<std::pair<std::string, std::string>> headers) override;
  void Write(std::string piece, std::function<void(bool)> then) override;
  void End() override;

 private:
  //   open --Send--> answered
  //     +--Begin--> streaming --End--> answered
  enum class State { kOpen, kStreaming, kAnswered };
  bool Move(State from, State to);

  const std::shared_ptr<Mailbox> mailbox_;
  const std::weak_ptr<HttpConnection> connection_;
  const std::uint64_t sequence_;
  ServerRequest request_;  // changed by the server's thread while a body is gathered
  std::atomic<State> state_{State::kOpen};
};

}  // namespace vedette::net
