#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/net/browser_support.h"
#include "tests/unit/net/dns_server.h"

// G9: whatever the scripts of a page try, no address is reached that is not public, or allowed.
namespace vedette::net {
namespace {

using test::DnsServer;
using test::milliseconds;
using test::OwnBrowserTest;
using test::Pages;
using test::Site;
using ::testing::HasSubstr;

// Listens by TCP and UDP on one port of several addresses, and counts who comes.
class Inside {
 public:
  Inside() {
    Listen("127.0.0.3", true);
    Listen("::1", false);
    if (const auto own = LocalAddressTowards(*IpAddress::Parse("198.51.100.1"))) {
      if (!IsPublicAddress(*own) && Listen(own->ToString(), false)) own_ = own->ToString();
    }
    thread_ = std::thread([this] { Count(); });
  }
  ~Inside() {
    stop_ = true;
    thread_.join();
    for (const pollfd& one : sockets_) close(one.fd);
  }

  int port() const { return port_; }
  int came() const { return came_; }
  const std::string& own() const { return own_; }  // an address of this machine; may be empty

 private:
  bool Listen(const std::string& address, bool must) {
    bool ok = true;
    for (const int type : {SOCK_STREAM, SOCK_DGRAM}) ok = ok && ListenOne(address, type);
    EXPECT_TRUE(ok || !must) << address;
    return ok;
  }
  bool ListenOne(const std::string& address, int type) {
    const bool v6 = address.find(':') != std::string::npos;
    sockaddr_storage at{};
    if (v6) {
      auto* in = reinterpret_cast<sockaddr_in6*>(&at);
      in->sin6_family = AF_INET6;
      in->sin6_port = htons(static_cast<std::uint16_t>(port_));
      inet_pton(AF_INET6, address.c_str(), &in->sin6_addr);
    } else {
      auto* in = reinterpret_cast<sockaddr_in*>(&at);
      in->sin_family = AF_INET;
      in->sin_port = htons(static_cast<std::uint16_t>(port_));
      inet_pton(AF_INET, address.c_str(), &in->sin_addr);
    }
    const int fd = socket(v6 ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t size = v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
        (type == SOCK_STREAM && listen(fd, 64) != 0)) {
      if (fd >= 0) close(fd);
      return false;
    }
    if (port_ == 0) {
      getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
      port_ = ntohs(reinterpret_cast<sockaddr_in*>(&at)->sin_port);
    }
    sockets_.push_back({fd, POLLIN, 0});
    return true;
  }
  void Count() {
    while (!stop_) {
      if (poll(sockets_.data(), sockets_.size(), 20) <= 0) continue;
      for (const pollfd& one : sockets_) {
        if ((one.revents & POLLIN) == 0) continue;
        ++came_;
        char byte;
        const int peer = accept(one.fd, nullptr, nullptr);
        if (peer >= 0) {
          close(peer);
        } else {
          (void)!recv(one.fd, &byte, 1, 0);
        }
      }
    }
  }

  int port_ = 0;
  std::string own_;
  std::vector<pollfd> sockets_;
  std::atomic<int> came_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// The ways there are; each is a function of "host:port".
constexpr int kWays = 40;
constexpr const char* kMechanisms = R"js(
const add = (tag, set) => { const e = Object.assign(document.createElement(tag), set);
                            document.body.append(e); return e; };
const css = text => add('style', {textContent: text});
const link = (rel, href, as) => { const e = document.createElement('link'); e.rel = rel; e.href = href;
                                  if (as) e.as = as; document.head.append(e); };
const ways = [
  at => fetch('http://' + at + '/', {mode: 'no-cors'}),
  at => fetch('https://' + at + '/', {mode: 'no-cors'}),
  at => fetch('http://' + at + '/', {method: 'POST', body: 'x', mode: 'no-cors', keepalive: true}),
  at => fetch('/to?http://' + at + '/', {mode: 'no-cors'}),
  at => { const x = new XMLHttpRequest(); x.open('GET', 'http://' + at + '/x'); x.send(); },
  at => add('img', {src: 'http://' + at + '/i'}),
  at => add('img', {src: '/to?http://' + at + '/i'}),
  at => add('script', {src: 'http://' + at + '/s.js'}),
  at => add('script', {type: 'module', textContent: "import 'http://" + at + "/m.js'"}),
  at => import('http://' + at + '/d.js'),
  at => link('stylesheet', 'http://' + at + '/c.css'),
  at => css('@import url("http://' + at + '/i.css");'),
  at => css('body { background: url("http://' + at + '/b.png") }'),
  at => { css('@font-face { font-family: f' + at.length + '; src: url("http://' + at + '/f.woff") }');
          add('p', {textContent: 'f', style: 'font-family: f' + at.length}); },
  at => add('iframe', {src: 'http://' + at + '/f'}),
  at => add('iframe', {src: '/to?http://' + at + '/f'}),
  at => add('iframe', {srcdoc: '<meta http-equiv=refresh content="0;url=http://' + at + '/r">'}),
  at => add('object', {data: 'http://' + at + '/o'}),
  at => add('embed', {src: 'http://' + at + '/e'}),
  at => add('video', {src: 'http://' + at + '/v.mp4', preload: 'auto'}),
  at => add('audio', {src: 'http://' + at + '/a.mp3', preload: 'auto'}),
  at => new WebSocket('ws://' + at + '/'),
  at => new WebSocket('wss://' + at + '/'),
  at => new EventSource('http://' + at + '/e'),
  at => navigator.sendBeacon('http://' + at + '/b', 'x'),
  at => { add('iframe', {name: 'n'}); add('form', {action: 'http://' + at + '/p', method: 'post', target: 'n'}).submit(); },
  at => link('prefetch', 'http://' + at + '/p'),
  at => link('preload', 'http://' + at + '/p', 'image'),
  at => link('preconnect', 'http://' + at + '/'),
  at => link('dns-prefetch', '//' + at + '/'),
  at => link('icon', 'http://' + at + '/favicon.ico'),
  at => link('manifest', 'http://' + at + '/m.json'),
  at => add('script', {type: 'speculationrules', textContent:
      JSON.stringify({prefetch: [{source: 'list', urls: ['http://' + at + '/sp']}],
                      prerender: [{source: 'list', urls: ['http://' + at + '/sr']}]})}),
  at => new Worker(URL.createObjectURL(new Blob(["importScripts('http://" + at + "/w.js')"]))),
  at => new Worker(URL.createObjectURL(new Blob(["fetch('http://" + at + "/w', {mode: 'no-cors'})"]))),
  at => navigator.serviceWorker.register('/sw.js?' + at),
  at => window.open('http://' + at + '/w'),
  at => { const a = add('a', {href: '#', ping: 'http://' + at + '/ping'}); a.click(); },
  at => { for (const s of ['stun:' + at, 'turn:' + at, 'turn:' + at + '?transport=tcp']) {
            const c = new RTCPeerConnection({iceServers: [{urls: s, username: 'u', credential: 'c'}]});
            c.createDataChannel('d'); c.createOffer().then(o => c.setLocalDescription(o)); } },
  at => new WebTransport('https://' + at + '/'),
];
let tried = 0;
const attempt = at => { for (const way of ways) {
  try { const p = way(at); if (p && p.catch) p.catch(() => {}); } catch (e) {}
  ++tried; } };
)js";

// `hosts`: each is tried in every way. What was tried goes on for a while; then the page says so.
constexpr const char* kSettled = "#settled";
std::string Page(const std::string& hosts, int port) {
  return "<!DOCTYPE html><body><p id=seen></p><script>" + std::string(kMechanisms) +
         "for (const h of " + hosts + ") attempt(h + ':" + std::to_string(port) +
         "'); seen.textContent = 'tried ' + tried;"
         "setTimeout(() => { document.getElementById('seen').id = 'settled'; }, 5000);</script>";
}

const char* const kWorker =
    "const at = location.search.slice(1); self.addEventListener('install', e => e.waitUntil("
    "fetch('http://' + at + '/sw', {mode: 'no-cors'}).catch(() => {})));";

class BrowserG9 : public OwnBrowserTest {
 protected:
  void SetUp() override {
    OwnBrowserTest::SetUp();
    config_.render_timeout_ms = milliseconds(120'000);
    net_.dns_servers = {dns_.address()};
    dns_.Set("inside.example", {"127.0.0.3"});
    dns_.Set("inside6.example", {"::1"});
    dns_.Set("mapped.example", {"::ffff:127.0.0.3"});
    dns_.Set("mixed.example", {"127.0.0.3", "10.0.0.1", "::1"});
  }
  DnsServer dns_;
};

TEST_F(BrowserG9, NoScriptReachesAnAddressThatIsNotAllowed) {
  const Inside inside;
  std::vector<std::string> hosts = {"127.0.0.3",          "127.3",          "0x7f.3",
                                    "2130706435",         "0177.0.0.3",     "127.0.0.3.",
                                    "[::ffff:127.0.0.3]", "[::1]",          "[::]",
                                    "%31%32%37.0.0.3",    "inside.example", "inside6.example",
                                    "mapped.example",     "mixed.example"};
  if (!inside.own().empty()) hosts.push_back(inside.own());
  // A third of the hosts on each of three pages, which are open together.
  constexpr std::size_t kPages = 3;
  std::vector<std::string> lists(kPages, "[");
  std::vector<int> tries(kPages, 0);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    lists[i % kPages] += "'" + hosts[i] + "',";
    tries[i % kPages] += kWays;
  }
  Pages pages{{"/sw.js", kWorker}};
  for (std::size_t i = 0; i < kPages; ++i) {
    pages["/" + std::to_string(i)] = Page(lists[i] + "]", inside.port());
  }
  const Site site(pages);
  config_.page_requests_max = 10'000;
  std::vector<std::future<RenderedPage>> rendered;
  for (std::size_t i = 0; i < kPages; ++i) {
    rendered.push_back(
        browser().Begin(site.Url("/" + std::to_string(i)), milliseconds(120'000), kSettled));
  }
  for (std::size_t i = 0; i < kPages; ++i) {
    const RenderedPage page = rendered[i].get();
    EXPECT_THAT(page.response.body, HasSubstr("tried " + std::to_string(tries[i])))
        << page.response.error;
  }
  EXPECT_EQ(inside.came(), 0);
}

// The attempts are real: where the address is allowed, they come.
TEST_F(BrowserG9, TheSameScriptsReachAnAddressThatIsAllowed) {
  const Inside inside;
  net_.allow = {"127.0.0.1/32", "127.0.0.3/32"};
  config_.page_requests_max = 10'000;
  const Site site(
      Pages{{"/", Page("['127.0.0.3', 'inside.example']", inside.port())}, {"/sw.js", kWorker}});
  auto page = browser().Begin(site.Url("/"), milliseconds(120'000), kSettled);
  EXPECT_THAT(page.get().response.body, HasSubstr("tried 80"));
  EXPECT_GT(inside.came(), 20);
}

// The name of the page itself, which is allowed, means another address a moment later.
TEST_F(BrowserG9, ANameThatChangesReachesNothing) {
  const Inside inside;
  const std::string at = "rebind.example:" + std::to_string(inside.port());
  dns_.Set("rebind.example", {"127.0.0.1"});
  const Site site(
      Pages{{"/", "<p id=a></p><script>let n = 0; const go = () => fetch('http://" + at +
                      "/', {mode: 'no-cors'}).catch(() => {}).then(() => {"
                      "a.textContent = 'tried ' + ++n; if (n < 100) setTimeout(go, 20); });"
                      "go();</script>"}});
  auto page = Begin("http://rebind.example:" + std::to_string(site.port()) + "/");
  ASSERT_TRUE(test::Await([&] { return site.accepted() > 0; }));
  dns_.Set("rebind.example", {"127.0.0.3"});
  (void)page.get();
  EXPECT_EQ(inside.came(), 0);
}

}  // namespace
}  // namespace vedette::net
