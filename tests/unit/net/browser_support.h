#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/net_config.h"
#include "config/probe_config.h"
#include "net/browser/browser.h"
#include "tests/unit/net/client_support.h"

// A browser, and pages for it, for the tests of net/browser.
namespace vedette::net::test {

// Whether a user who is not root may make what the browser's sandbox is made of; in many containers
// nobody may.
inline bool MaySandbox() {
  static const bool kMay = [] {
    const pid_t child = fork();
    if (child == 0) {
      constexpr uid_t kNobody = 65534;
      if (geteuid() == 0 && setuid(kNobody) != 0) _exit(1);
      _exit(unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 ? 0 : 1);
    }
    int status = 0;
    const bool may = waitpid(child, &status, 0) == child && status == 0;
    if (!may) std::cerr << "the browser runs without its sandbox: there are no user namespaces\n";
    return may;
  }();
  return kMay;
}

inline config::BrowserConfig BrowserOptions() {
  config::BrowserConfig config{};
  config.enabled = "auto";
  config.executable = "/usr/bin/chromium";
  config.pages_max = 4;
  config.memory_bytes_max = std::size_t{3} << 30;
  config.sandbox = MaySandbox();
  config.render_timeout_ms = milliseconds(30'000);
  return config;
}

// Serves pages by path, without a query. One that begins with "HTTP/1.1 " is the whole answer, one
// that begins with a brace is JSON, and of a path that ends in .js it is a script. /to?URL
// redirects there.
using Pages = std::map<std::string, std::string>;
class Site {
 public:
  explicit Site(Pages pages)
      : pages_(std::move(pages)), server_([this](Socket& socket) { Serve(socket); }) {}

  int port() const { return server_.port(); }
  int accepted() const { return server_.accepted(); }
  std::string Url(const std::string& path) const { return Local(server_.port(), path); }

 private:
  void Serve(Socket& socket) {
    std::string head;
    try {
      head = socket.ReceiveUntil("\r\n\r\n");
    } catch (const std::runtime_error&) {
      return;
    }
    const std::string target = head.substr(4, head.find(' ', 4) - 4);
    const std::string path = target.substr(0, target.find('?'));
    const auto page = pages_.find(path);
    if (path == "/to") {
      socket.Send("HTTP/1.1 302 Found\r\nLocation: " + target.substr(path.size() + 1) +
                  "\r\nContent-Length: 0\r\n\r\n");
    } else if (page == pages_.end()) {
      socket.Send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    } else if (page->second.starts_with("HTTP/1.1 ")) {
      socket.Send(page->second);
    } else {
      const std::string type = path.ends_with(".js")           ? "text/javascript"
                               : page->second.starts_with("{") ? "application/json"
                                                               : "text/html; charset=utf-8";
      socket.Send("HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\nContent-Length: " +
                  std::to_string(page->second.size()) + "\r\n\r\n" + page->second);
    }
  }

  const Pages pages_;
  RawServer server_;
};

// Servers on 127.0.0.1 are allowed, and nothing else of loopback.
inline config::NetConfig BrowserNet() {
  config::NetConfig net = NetConfig();
  net.user_agent = "vedette-test";
  net.allow = {"127.0.0.1/32"};
  return net;
}

// A browser on a loop of its own; it starts with the first page.
class TestBrowser {
 public:
  TestBrowser(const config::BrowserConfig& config, const config::NetConfig& net)
      : policy_(net.allow) {
    loop_.Run([&] {
      BrowserEvents events;
      events.page_ended = [this](const RenderedPage& page) {
        bytes_ += page.bytes;
        refused_ += page.refused;
      };
      browser_ =
          std::make_unique<Browser>(loop_.loop, config, net, policy_, Silent(), std::move(events));
    });
  }
  ~TestBrowser() {
    loop_.Run([&] { browser_.reset(); });
  }

  std::future<RenderedPage> Begin(const std::string& url, milliseconds timeout,
                                  const std::string& wait_for = "") {
    RenderRequest request;
    request.url = url;
    request.wait_for = wait_for;
    request.timeout = timeout;
    return Begin(std::move(request));
  }
  // With an organisation and time enough for its turn.
  std::future<RenderedPage> Begin(RenderRequest request) {
    auto result = std::make_shared<std::promise<RenderedPage>>();
    loop_.loop.Post([this, asked = std::move(request), result]() mutable {
      asked.org_id = base::Uuid::V4();
      asked.wait_max = milliseconds(120'000);
      browser_->Render(std::move(asked),
                       [result](RenderedPage page) { result->set_value(std::move(page)); });
    });
    return result->get_future();
  }
  // The picture of a page that is held for it, where `wanted`; else what is left of the page once
  // nobody holds it: nothing.
  std::string Picture(const std::string& url, bool wanted, std::vector<Outlined> outlined = {}) {
    return Pictured(url, wanted, {std::move(outlined)}).file;
  }
  net::Picture Pictured(const std::string& url, bool wanted, const PictureOrder& order) {
    std::promise<net::Picture> result;
    loop_.loop.Post([&] {
      RenderRequest request;
      request.org_id = base::Uuid::V4();
      request.url = url;
      request.holds_open = true;
      request.timeout = milliseconds(30'000);
      request.wait_max = milliseconds(120'000);
      browser_->Render(std::move(request), [&](RenderedPage page) {
        if (page.open == nullptr || page.response.body.empty()) {
          return result.set_value({"it is not held: " + page.response.error, ""});
        }
        if (!wanted) return result.set_value({});
        page.open->TakePicture(
            order, [&result](net::Picture picture) { result.set_value(std::move(picture)); });
      });
    });
    return result.get_future().get();
  }
  BrowserCounts Counts() {
    return loop_.Run([&] { return browser_->counts(); });
  }
  // What the pages took that have ended.
  std::size_t bytes() const { return bytes_; }
  std::uint64_t refused() const { return refused_; }

 private:
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::uint64_t> refused_{0};
  LoopThread loop_;
  AddressPolicy policy_;
  std::unique_ptr<Browser> browser_;
};

// The base of both fixtures: the browser starts with the first page.
class BrowserFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(access(config_.executable.c_str(), X_OK), 0) << "apt install chromium";
  }

  virtual TestBrowser& browser() = 0;

  std::future<RenderedPage> Begin(const std::string& url,
                                  milliseconds timeout = milliseconds(30'000)) {
    return browser().Begin(url, timeout);
  }
  RenderedPage Render(const std::string& url, milliseconds timeout = milliseconds(30'000)) {
    return Begin(url, timeout).get();
  }
  BrowserCounts Counts() { return browser().Counts(); }

  config::BrowserConfig config_ = BrowserOptions();
  config::NetConfig net_ = BrowserNet();
};

// A browser for each test, which may change config_ and net_ before the first page.
class OwnBrowserTest : public BrowserFixture {
 protected:
  TestBrowser& browser() override {
    if (browser_ == nullptr) browser_ = std::make_unique<TestBrowser>(config_, net_);
    return *browser_;
  }

 private:
  std::unique_ptr<TestBrowser> browser_;
};

// One browser for all tests of the suite: a start takes longer than a page.
class BrowserTest : public BrowserFixture {
 protected:
  static void TearDownTestSuite() { shared_ = nullptr; }
  TestBrowser& browser() override {
    if (shared_ == nullptr) shared_ = std::make_unique<TestBrowser>(config_, net_);
    return *shared_;
  }

 private:
  static inline std::unique_ptr<TestBrowser> shared_;
};

}  // namespace vedette::net::test
