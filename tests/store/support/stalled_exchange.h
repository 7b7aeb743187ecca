#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "net/http_server.h"

namespace vedette::test {

// Plays a client that reads the first piece of its answer and nothing of what follows, until the
// test says so. Any thread.
class StalledExchange final : public net::Exchange {
 public:
  explicit StalledExchange(net::ServerRequest request) : request_(std::move(request)) {}

  const net::ServerRequest& request() const override { return request_; }
  void Send(net::ServerResponse response) override { Answered(std::move(response)); }
  void Begin(int status, std::vector<std::pair<std::string, std::string>> headers) override {
    const std::lock_guard lock(mutex_);
    begun_ = net::ServerResponse{status, std::move(headers), {}};
  }
  void Write(std::string piece, std::function<void(bool)> then) override {
    std::unique_lock lock(mutex_);
    whole_ += piece;
    if (reads_) {
      lock.unlock();
      then(true);
      return;
    }
    then_ = std::move(then);
    net::ServerResponse answer = begun_;
    lock.unlock();
    answer.body = std::move(piece);
    Answered(std::move(answer));
  }
  void End() override {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    answered_.notify_all();
  }

  // The answer; of one in pieces its first one.
  net::ServerResponse First() {
    std::unique_lock lock(mutex_);
    if (!answered_.wait_for(lock, std::chrono::seconds(60),
                            [this] { return answer_.has_value(); })) {
      throw std::runtime_error("no answer to " + request_.target);
    }
    return *answer_;
  }
  // Whether further pieces would follow.
  bool stalled() {
    const std::lock_guard lock(mutex_);
    return then_ != nullptr;
  }
  // The client reads what comes from now on.
  void Resume() {
    std::unique_lock lock(mutex_);
    reads_ = true;
    const auto then = std::exchange(then_, nullptr);
    lock.unlock();
    if (then) then(true);
  }
  // The client reads to the end: all of the answer.
  std::string ReadOn() {
    Resume();
    std::unique_lock lock(mutex_);
    if (!answered_.wait_for(lock, std::chrono::seconds(60), [this] { return ended_; })) {
      throw std::runtime_error("no end of " + request_.target);
    }
    return whole_;
  }
  // Whether the last chunk was sent.
  bool ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  // The client leaves.
  void Leave() {
    std::unique_lock lock(mutex_);
    const auto then = std::exchange(then_, nullptr);
    lock.unlock();
    if (then) then(false);
  }

 private:
  void Answered(net::ServerResponse answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
    answered_.notify_all();
  }

  net::ServerRequest request_;
  std::mutex mutex_;
  std::condition_variable answered_;
  // All guarded by mutex_.
  net::ServerResponse begun_;
  std::optional<net::ServerResponse> answer_;
  std::function<void(bool)> then_;
  std::string whole_;
  bool reads_ = false;
  bool ended_ = false;
};

}  // namespace vedette::test
