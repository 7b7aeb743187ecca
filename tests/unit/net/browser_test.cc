#include "net/browser/browser.h"
#include "config/net_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/browser/browser_process.h"
#include "net/browser/page_document.h"
#include "tests/unit/net/browser_support.h"

// Pages in a real Chromium.
namespace vedette::net {
namespace {

using test::BrowserOptions;
using test::BrowserTest;
using test::milliseconds;
using test::OwnBrowserTest;
using test::Pages;
using test::Site;
using ::testing::HasSubstr;
using ::testing::Not;

// The processor time that each process of the browser's pages has used, in clock ticks, by process.
std::map<int, long> TicksOfPages(int leader) {
  std::map<int, long> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0 || getsid(pid) != leader) continue;
    std::ifstream command_file(entry.path() / "cmdline");
    const std::string command(std::istreambuf_iterator<char>(command_file), {});
    if (command.find("--type=renderer") == std::string::npos) continue;
    std::ifstream stat_file(entry.path() / "stat");
    std::string stat(std::istreambuf_iterator<char>(stat_file), {});
    std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    long ticks = 0;
    if (fields >> ticks) out[pid] = ticks;
  }
  return out;
}

// The process of a page that has used a second of its processor since `before`; 0: none has. The
// browser keeps processes ready that no page has, and on a slow machine these have used much.
int BurningPage(int leader, const std::map<int, long>& before) {
  for (const auto& [pid, ticks] : TicksOfPages(leader)) {
    const auto then = before.find(pid);
    const long since = ticks - (then != before.end() ? then->second : 0);
    if (since >= sysconf(_SC_CLK_TCK)) return pid;
  }
  return 0;
}

TEST_F(BrowserTest, APageIsAsItsScriptsHaveMadeIt) {
  const Site site(Pages{{"/",
                         "<p id=a>before</p><script>fetch('/data').then(r => r.json()).then(d => {"
                         "a.textContent = d.text + ' ' + navigator.userAgent; });</script>"},
                        {"/data", "{\"text\": \"made by a script\"}"}});
  const RenderedPage page = Render(site.Url("/"));
  EXPECT_EQ(page.response.error, "");
  EXPECT_EQ(page.response.status, 200);
  EXPECT_EQ(page.url, site.Url("/"));
  EXPECT_EQ(page.kind, RenderedPage::Kind::kSnapshot);
  EXPECT_THAT(page.response.body, HasSubstr("made by a script"));
  EXPECT_THAT(page.response.body, HasSubstr("vedette-test"));
  EXPECT_THAT(page.response.body, Not(HasSubstr("HeadlessChrome")));
}

TEST_F(BrowserTest, RedirectsOfServersAndScriptsAreFollowed) {
  const Site site(Pages{{"/", "HTTP/1.1 302 Found\r\nLocation: /two\r\nContent-Length: 0\r\n\r\n"},
                        {"/two", "<script>location.replace('/three')</script>"},
                        {"/three", "<p>the third</p>"}});
  const RenderedPage page = Render(site.Url("/"));
  EXPECT_EQ(page.url, site.Url("/three"));
  EXPECT_THAT(page.response.body, HasSubstr("the third"));
}

TEST_F(BrowserTest, WhatIsNoHtmlComesAsItWasSent) {
  const Site site(Pages{{"/", "{\"price\": 12}"}});
  const RenderedPage page = Render(site.Url("/"));
  EXPECT_EQ(page.kind, RenderedPage::Kind::kAsSent);
  EXPECT_EQ(page.response.body, "{\"price\": 12}");
  EXPECT_EQ(page.response.Header("content-type"), "application/json; charset=utf-8");
}

std::string Answer(const std::string& status, const std::string& headers, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST_F(BrowserTest, AFeedComesWithTheTypeThatItWasSentWith) {
  const std::string feed = "<rss version='2.0'><channel><title>News</title></channel></rss>";
  const Site site(
      Pages{{"/", Answer("200 OK", "Content-Type: application/RSS+xml; charset=x\r\n", feed)}});
  const RenderedPage page = Render(site.Url("/"));
  EXPECT_EQ(page.kind, RenderedPage::Kind::kAsSent);
  EXPECT_EQ(page.response.body, feed);
  EXPECT_EQ(page.response.Header("content-type"), "application/rss+xml; charset=utf-8");
}

// What a browser does not show: what it would download, and what has no content.
const Pages kNoPages{
    {"/csv", Answer("200 OK", "Content-Type: text/csv\r\n", "a,b")},
    {"/octets", Answer("200 OK", "Content-Type: application/octet-stream\r\n", "abc")},
    {"/attached",
     Answer("200 OK", "Content-Type: text/html\r\nContent-Disposition: attachment\r\n", "<p>a")},
    {"/none", Answer("204 No Content", "", "")}};

TEST_F(BrowserTest, WhatABrowserDoesNotShowIsToBeFetched) {
  Pages pages = kNoPages;
  pages["/away"] = Answer("302 Found", "Location: /csv\r\n", "");
  const Site site(pages);
  for (const auto& [path, answer] : pages) {
    const RenderedPage page = Render(site.Url(path));
    EXPECT_EQ(page.response.error, "") << path;
    EXPECT_EQ(page.kind, RenderedPage::Kind::kAsSent) << path;
    EXPECT_EQ(page.response.body, "") << path;
    EXPECT_EQ(page.url, site.Url(path == "/away" ? "/csv" : path));
  }
}

// Whether before or after it has been loaded.
TEST_F(BrowserTest, APageThatSendsItsReaderToNoPageIsReadAsItIs) {
  Pages pages = kNoPages;
  std::vector<std::string> targets{"mailto:ann@shop.example"};
  for (const auto& [path, answer] : kNoPages) targets.push_back(path);
  std::vector<std::string> paths;
  for (const std::string& to : targets) {
    const std::string go = "location = '" + to + "'";
    paths.push_back("/at-once-" + std::to_string(paths.size()));
    pages[paths.back()] = "<h1>the page</h1><script>" + go + "</script>";
    paths.push_back("/later-" + std::to_string(paths.size()));
    pages[paths.back()] = "<h1>the page</h1><script>setTimeout(() => " + go + ", 200)</script>";
  }
  const Site site(pages);
  std::vector<std::future<RenderedPage>> loading;
  for (const std::string& path : paths) loading.push_back(Begin(site.Url(path)));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const RenderedPage page = loading[i].get();
    EXPECT_THAT(page.response.body, HasSubstr("the page")) << pages[paths[i]];
    EXPECT_EQ(page.response.error, "") << pages[paths[i]];
    EXPECT_EQ(page.response.status, 200) << pages[paths[i]];
    EXPECT_EQ(page.url, site.Url(paths[i]));
    EXPECT_LT(page.response.duration, milliseconds(10'000)) << "it does not wait for its time";
  }
}

TEST_F(BrowserTest, APdfThatAPageLeadsToIsThePage) {
  const Site site(
      Pages{{"/", "<p>wait</p><script>setTimeout(() => location = '/pdf', 200)</script>"},
            {"/pdf", Answer("200 OK", "Content-Type: application/pdf\r\n", "%PDF-")}});
  const RenderedPage page = Render(site.Url("/"));
  EXPECT_EQ(page.kind, RenderedPage::Kind::kAsSent);
  EXPECT_EQ(page.url, site.Url("/pdf"));
  EXPECT_EQ(page.response.body, "");
  EXPECT_LT(page.response.duration, milliseconds(10'000)) << "it does not wait for its time";
}

TEST_F(BrowserTest, AFewRedirectsAreFollowedAndTheNextIsTheAnswer) {
  Pages pages{{"/0", "<p>the end</p>"}};
  for (int i = 1; i <= kRedirectsMax + 1; ++i) {
    pages["/" + std::to_string(i)] =
        Answer("302 Found", "Location: /" + std::to_string(i - 1) + "\r\n", "");
  }
  const Site site(pages);
  EXPECT_THAT(Render(site.Url("/5")).response.body, HasSubstr("the end"));
  const RenderedPage page = Render(site.Url("/6"));
  EXPECT_EQ(page.response.status, 302);
  EXPECT_EQ(page.response.Header("location"), "/0");
}

TEST_F(BrowserTest, APictureIsTakenOfAPageThatIsHeldAndThenThePageIsClosed) {
  const Site site(Pages{{"/", "<h1>Tea</h1><p id=p>41</p><div style=height:3000px></div>"}});
  const std::string plain = browser().Picture(site.Url("/"), true);
  const std::string outlined = browser().Picture(
      site.Url("/"), true, {{false, "#p"}, {true, "//h1/text()"}, {false, "!no selector"}});
  for (const std::string& picture : {plain, outlined}) {
    ASSERT_GT(picture.size(), 100U) << picture;
    EXPECT_EQ(picture.substr(0, 4), "RIFF");
    EXPECT_EQ(picture.substr(8, 4), "WEBP");
    EXPECT_LE(picture.size(), kPictureBytesMax);
  }
  EXPECT_NE(plain, outlined) << "the elements have an outline";
  EXPECT_EQ(Counts().open, 0U);
}

TEST_F(BrowserTest, APageThatIsHeldIsClosedWhenNobodyWantsItsPicture) {
  const Site site(Pages{{"/", "<p>fine</p>"}});
  EXPECT_EQ(browser().Picture(site.Url("/"), false), "");
  EXPECT_EQ(Counts().open, 0U);
  EXPECT_THAT(browser().Picture(site.Url("/none"), true), HasSubstr("it is not held"));
  EXPECT_THAT(Render(site.Url("/")).response.body, HasSubstr("fine"));
}

TEST_F(BrowserTest, APageKeepsNothingForTheNext) {
  const Site site(Pages{{"/",
                         "<p id=a></p><script>a.textContent = 'was ' + (localStorage.x || "
                         "document.cookie || 'nothing'); localStorage.x = 'here';"
                         "document.cookie = 'y=here';</script>"}});
  EXPECT_THAT(Render(site.Url("/")).response.body, HasSubstr("was nothing"));
  EXPECT_THAT(Render(site.Url("/")).response.body, HasSubstr("was nothing"));
}

TEST_F(BrowserTest, FaultsHaveTheirClass) {
  const Site site(Pages{{"/away",
                         "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.3:8123/\r\n"
                         "Content-Length: 0\r\n\r\n"}});
  EXPECT_EQ(Render("http://127.0.0.3:8123/").response.error_class, HttpErrorClass::kRefusedAddress);
  EXPECT_EQ(Render("https://127.0.0.3:8123/").response.error_class,
            HttpErrorClass::kRefusedAddress);
  EXPECT_EQ(Render(site.Url("/away")).response.error_class, HttpErrorClass::kRefusedAddress);
  const int closed = std::make_unique<Site>(Pages{})->port();
  EXPECT_EQ(Render(test::Local(closed)).response.error_class, HttpErrorClass::kConnect);
  // The browser keeps to its list of ports that are no web server's.
  EXPECT_EQ(Render("http://127.0.0.1:1/").response.error_class, HttpErrorClass::kRefusedAddress);
  EXPECT_EQ(Render("file:///etc/passwd").response.error_class, HttpErrorClass::kRefusedAddress);
  EXPECT_EQ(Render(site.Url("/none")).response.status, 404);
}

// A page that never ends costs itself its time, and its neighbour nothing; then its process goes.
TEST_F(BrowserTest, APageThatBurnsItsTimeFailsAlone) {
  const Site site(Pages{{"/", "<p>fine</p>"}, {"/burn", "<script>for (;;) {}</script>"}});
  EXPECT_THAT(Render(site.Url("/")).response.body, HasSubstr("fine"));
  const BrowserCounts before = Counts();
  const std::map<int, long> ticks_before = TicksOfPages(before.pid);
  auto burning = Begin(site.Url("/burn"), milliseconds(12'000));
  EXPECT_THAT(Render(site.Url("/")).response.body, HasSubstr("fine"));
  int burns = 0;
  EXPECT_TRUE(test::Await([&] { return (burns = BurningPage(before.pid, ticks_before)) != 0; }));
  EXPECT_EQ(burning.get().response.error_class, HttpErrorClass::kTimeout);
  EXPECT_TRUE(test::Await([&] { return kill(burns, 0) != 0; })) << "it burns on";
  EXPECT_THAT(Render(site.Url("/")).response.body, HasSubstr("fine"));
  EXPECT_EQ(Counts().starts, before.starts);
}

TEST_F(BrowserTest, APageSaysWhatItFetchedAndWhatItWasRefused) {
  const Site site(Pages{{"/",
                         "<p>there</p><script>fetch('http://127.0.0.3:8123/').catch(() => 0)"
                         "</script><!--" +
                             std::string(10'000, 'x') + "-->"}});
  const RenderedPage page = Render(site.Url("/"));
  EXPECT_GT(page.bytes, 10'000U);
  EXPECT_GE(page.refused, 1U);
  EXPECT_EQ(Counts().open, 0U);
}

// A page that asks for ever, and one that is quiet long before, are read when the selector matches.
TEST_F(BrowserTest, APageIsReadWhenWhatIsWaitedForIsThere) {
  const std::string later =
      "<p id=a>before</p><script>document.querySelector = () => a; setTimeout(() => "
      "a.outerHTML = '<p class=\"price\">after</p>', 1500);</script>";
  const Site site(Pages{{"/", later},
                        {"/asks", later + "<script>setInterval(() => fetch('/x'), 50)</script>"}});
  // What never comes is not waited for beyond the page's time, and nonsense is told.
  auto never = browser().Begin(site.Url("/"), milliseconds(6'000), "#never");
  auto nonsense = browser().Begin(site.Url("/"), milliseconds(30'000), "p[");
  for (const char* path : {"/", "/asks"}) {
    const RenderedPage page =
        browser().Begin(site.Url(path), milliseconds(30'000), "p.price").get();
    EXPECT_THAT(page.response.body, HasSubstr("after")) << path;
    EXPECT_LT(page.response.duration, milliseconds(20'000)) << path;
  }
  EXPECT_THAT(never.get().response.body, HasSubstr("after"));
  EXPECT_THAT(nonsense.get().response.error, HasSubstr("wait_for"));
}

// A page that is never quiet is read as it is when its time is nearly over.
TEST_F(BrowserTest, APageThatFetchesForEverIsReadInTheEnd) {
  const Site site(Pages{{"/", "<p>there</p><script>setInterval(() => fetch('/x'), 50)</script>"}});
  EXPECT_THAT(Render(site.Url("/"), milliseconds(6'000)).response.body, HasSubstr("there"));
}

TEST_F(OwnBrowserTest, APageOverItsBoundsFailsAlone) {
  config_.page_requests_max = 50;
  config_.page_bytes_max = 1 << 20;
  const Site site(Pages{{"/", "<p>fine</p>"},
                        {"/many", "<script>for (let i = 0; i < 200; i++) fetch('/' + i)</script>"},
                        {"/large", "<p>" + std::string(2 << 20, 'x') + "</p>"}});
  EXPECT_EQ(Render(site.Url("/many")).response.error_class, HttpErrorClass::kBodyTooLarge);
  EXPECT_EQ(Render(site.Url("/large")).response.error_class, HttpErrorClass::kBodyTooLarge);
  EXPECT_THAT(Render(site.Url("/")).response.body, HasSubstr("fine"));
  EXPECT_EQ(Counts().starts, 1U);
}

// Four at once that take what they can: each is ended, or has an end, and nobody else is.
TEST_F(OwnBrowserTest, PagesThatTakeMemoryFailAloneAndTheBoundHolds) {
  const char* nightly = std::getenv("VEDETTE_TEST_HOSTILE_PAGES");
  config_.memory_bytes_max = std::size_t{nightly == nullptr ? 768U : 1536U} << 20;
  config_.pages_max = 5;
  const Pages pages{
      {"/", "<p>fine</p>"},
      {"/canvases",
       "<script>const all = []; setInterval(() => { const c = document.createElement('canvas');"
       "c.width = c.height = 4000; c.getContext('2d').fillRect(0, 0, 4000, 4000); all.push(c);"
       "}, 20)</script>"},
      {"/nodes",
       "<script>setInterval(() => { for (let i = 0; i < 20000; ++i) document.body.append("
       "Object.assign(document.createElement('p'), {textContent: 'x'.repeat(200)})) }, 10)"
       "</script>"},
      {"/buffers",
       "<script>const all = []; setInterval(() => all.push(new Uint8Array(50e6).fill(1)), 20)"
       "</script>"},
      {"/workers",
       "<script>const code = 'const all = []; setInterval(() => all.push(new Uint8Array(1e7).fill("
       "1)), 50)'; for (let i = 0; i < 20; ++i) new Worker(URL.createObjectURL(new Blob([code])))"
       "</script>"}};
  const Site site(pages);
  ASSERT_THAT(Render(site.Url("/")).response.body, HasSubstr("fine"));
  const int pid = Counts().pid;
  std::atomic<bool> over = false;
  std::atomic<std::size_t> most = 0;
  std::thread look([&] {
    while (!over) {
      most = std::max(most.load(), MemoryOfSession(pid).bytes);
      std::this_thread::sleep_for(milliseconds(50));
    }
  });
  const int rounds = nightly == nullptr ? 1 : std::atoi(nightly);
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::future<RenderedPage>> hostile;
    for (const char* path : {"/canvases", "/nodes", "/buffers", "/workers"}) {
      hostile.push_back(browser().Begin(site.Url(path), milliseconds(8'000), "#never"));
    }
    EXPECT_THAT(Render(site.Url("/")).response.body, HasSubstr("fine")) << "beside them";
    int ended = 0;
    for (auto& one : hostile) {
      const HttpErrorClass end = one.get().response.error_class;
      ended += end == HttpErrorClass::kProtocol ? 1 : 0;
      EXPECT_TRUE(end == HttpErrorClass::kProtocol || end == HttpErrorClass::kTimeout ||
                  end == HttpErrorClass::kBodyTooLarge || end == HttpErrorClass::kNone)
          << HttpErrorClassName(end);
    }
    EXPECT_GT(ended, 0) << "some took more than there is";
  }
  over = true;
  look.join();
  EXPECT_EQ(Counts().deaths, 0U);
  EXPECT_EQ(Counts().pid, pid);
  // Between two looks pages may take more, by as much as the machine lets them.
  EXPECT_LT(most, config_.memory_bytes_max * 2) << most;
}

TEST_F(OwnBrowserTest, AKilledBrowserCostsItsPagesOneAttemptAndTheNextHasAnother) {
  const Site site(Pages{{"/", "<p>fine</p>"}, {"/slow", "<script>for (;;) {}</script>"}});
  EXPECT_THAT(Render(site.Url("/")).response.body, HasSubstr("fine"));
  auto under_way = Begin(site.Url("/slow"));
  ASSERT_TRUE(test::Await([&] { return Counts().pages == 2; }));
  const int pid = Counts().pid;
  kill(pid, SIGKILL);
  EXPECT_EQ(under_way.get().response.error_class, HttpErrorClass::kProtocol);
  EXPECT_THAT(Render(site.Url("/")).response.body, HasSubstr("fine"));
  EXPECT_EQ(Counts().starts, 2U);
  EXPECT_EQ(Counts().deaths, 1U);
  EXPECT_TRUE(test::Await([&] { return MemoryOfSession(pid).bytes == 0; })) << "it left processes";
}

TEST_F(OwnBrowserTest, ABrowserIsReplacedAfterItsPages) {
  config_.pages_per_browser_max = 2;
  const Site site(Pages{{"/", "<p>fine</p>"}});
  for (int i = 0; i < 5; ++i) EXPECT_THAT(Render(site.Url("/")).response.body, HasSubstr("fine"));
  EXPECT_EQ(Counts().starts, 3U);
  EXPECT_EQ(Counts().deaths, 0U);
}

TEST_F(OwnBrowserTest, ItInheritsNothingThatIsOpenHere) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string ours =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(ends[0]));
  const Site site(Pages{{"/", "<p>fine</p>"}});
  EXPECT_THAT(Render(site.Url("/")).response.body, HasSubstr("fine"));
  const std::string open = "/proc/" + std::to_string(Counts().pid) + "/fd";
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(open)) {
    std::error_code closed_meanwhile;
    const auto target = std::filesystem::read_symlink(entry.path(), closed_meanwhile);
    EXPECT_NE(target.string(), ours);
    ++seen;
  }
  EXPECT_GE(seen, 5);
  for (const int end : ends) close(end);
}

TEST_F(BrowserTest, ItsUserIsNotRoot) {
  const Site site(Pages{{"/", "<p>fine</p>"}});
  EXPECT_THAT(Render(site.Url("/")).response.body, HasSubstr("fine"));
  const std::string status = "/proc/" + std::to_string(Counts().pid);
  struct stat seen {};
  ASSERT_EQ(stat(status.c_str(), &seen), 0);
  EXPECT_NE(seen.st_uid, 0U);
}

TEST(BrowserLack, SaysWhyPagesCannotBeRendered) {
  config::BrowserConfig config = BrowserOptions();
  config::NetConfig net = test::NetConfig();
  config.executable = "/nonexistent/chromium";
  EXPECT_THAT(Browser::Lack(config, net), HasSubstr("/nonexistent/chromium"));
  net.proxy = "http://127.0.0.1:3128";
  EXPECT_THAT(Browser::Lack(config, net), HasSubstr("[net] proxy"));
  config.enabled = "false";
  EXPECT_THAT(Browser::Lack(config, net), HasSubstr("enabled"));
}

}  // namespace
}  // namespace vedette::net
