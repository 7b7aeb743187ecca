#include "net/browser/page_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "domain/monitor/page_steps.h"
#include "domain/text/json_schema.h"
#include "net/browser/page_cookies.h"
#include "tests/unit/net/browser_support.h"

// Pages that are acted on, in a real Chromium.
namespace vedette::net {
namespace {

using base::Json;
using test::milliseconds;
using test::Pages;
using test::Site;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSecret = "hunter 2+2";

// The site of a shop whose pages are for those who are logged in: a form with a token that has to
// agree with a cookie, and a session's cookie behind it.
class Shop {
 public:
  Shop() : server_([this](test::Socket& socket) { Serve(socket); }) {}

  std::string Url(const std::string& path) const { return test::Local(server_.port(), path); }
  int logins() const { return logins_; }
  int refused() const { return refused_; }

 private:
  static std::string Answer(const std::string& status, const std::string& headers,
                            const std::string& body) {
    return "HTTP/1.1 " + status +
           "\r\nContent-Type: text/html\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\nConnection: close\r\n" + headers + "\r\n" + body;
  }

  void Serve(test::Socket& socket) {
    std::string head;
    std::string body;
    try {
      head = socket.ReceiveUntil("\r\n\r\n");
      const std::size_t at = head.find("Content-Length: ");
      const std::size_t length = at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
      while (body.size() < length) body += socket.Receive(length - body.size());
    } catch (const std::runtime_error&) {
      return;
    }
    socket.Send(AnswerTo(head, body));
  }

  std::string AnswerTo(const std::string& head, const std::string& body) {
    const std::string path = head.substr(head.find('/'), head.find(" HTTP") - head.find('/'));
    const auto has = [&](const std::string& text) { return head.find(text) != std::string::npos; };
    if (path.starts_with("/login") && head.starts_with("POST")) {
      const bool sound = has("csrf=t0ken") && body.find("token=t0ken") != std::string::npos &&
                         body.find("user=ann&") != std::string::npos &&
                         body.find("password=hunter+2%2B2") != std::string::npos;
      if (!sound) {
        ++refused_;
        return Answer("403 Forbidden", "", "<p>No.</p>");
      }
      ++logins_;
      return Answer("302 Found",
                    "Set-Cookie: sid=valid; Path=/; HttpOnly; SameSite=Lax\r\nLocation: /home\r\n",
                    "");
    }
    if (path.starts_with("/login")) {
      return Answer("200 OK", "Set-Cookie: csrf=t0ken; Path=/\r\n",
                    "<form method=post action=/login><input type=hidden name=token value=t0ken>"
                    "<input id=user name=user><input id=password type=password name=password>"
                    "<button>Log in</button></form>");
    }
    if (!has("sid=valid")) return Answer("302 Found", "Location: /login\r\n", "");
    return Answer("200 OK", "", "<p class=account>ann</p><p>the page " + path + "</p>");
  }

  std::atomic<int> logins_{0};
  std::atomic<int> refused_{0};
  test::RawServer server_;
};

class BrowserStepsTest : public test::BrowserTest {
 protected:
  // `steps` as a monitor says them, with one secret, `password`.
  RenderRequest Request(const std::string& url, const Json& steps) {
    EXPECT_TRUE(domain::ValidatePageSteps(Json::array(), steps).empty()) << steps.dump();
    RenderRequest request;
    request.url = url;
    request.timeout = milliseconds(60'000);
    request.steps = *domain::WithSecrets(domain::ReadPageSteps(steps), {{"password", kSecret}});
    return request;
  }
  RenderedPage Make(const std::string& url, const Json& steps) {
    return browser().Begin(Request(url, steps)).get();
  }
};

// Handlers of the page see trusted events, in the order in which a person makes them.
TEST_F(BrowserStepsTest, StepsActAsAPersonDoes) {
  const Site site(Pages{{"/",
                         "<style>#below {margin-top: 3000px}</style><input id=named value=old>"
                         "<input id=date type=date>"
                         "<select id=size><option value=s>Small<option value=l>Large</select>"
                         "<button id=below>Go</button><p id=said></p><script>"
                         "const say = text => said.textContent += text + ';';"
                         "named.oninput = e => say(`input ${named.value} ${e.isTrusted}`);"
                         "named.onkeydown = e => say('key ' + e.key);"
                         "size.onchange = () => say('size ' + size.value);"
                         "date.onchange = () => say('date ' + date.value);"
                         "below.onmousedown = () => say('down');"
                         "below.onclick = e => say('click ' + e.isTrusted);</script>"}});
  const RenderedPage page = Make(site.Url("/"), {{{"fill", "#named"}, {"value", "new name"}},
                                                 {{"press", "Enter"}},
                                                 {{"fill", "#named"}, {"value", ""}},
                                                 {{"fill", "#date"}, {"value", "2026-11-26"}},
                                                 {{"select", "#size"}, {"value", "Large"}},
                                                 {{"click", "#below"}}});
  EXPECT_EQ(page.response.error, "");
  EXPECT_FALSE(page.failed_step);
  EXPECT_THAT(page.response.body,
              HasSubstr("input new name true;key Enter;key Backspace;input  true;"
                        "date 2026-11-26;size l;down;click true;"));
}

TEST_F(BrowserStepsTest, StepsWaitForWhatComesLaterAndPassOverWhatIsNotNeeded) {
  const Site site(
      Pages{{"/",
             "<div id=app></div><script>setTimeout(() => { app.innerHTML = '<x-more></x-more>';"
             "const root = document.querySelector('x-more').attachShadow({mode: 'open'});"
             "root.innerHTML = '<button id=more>More</button>';"
             "root.querySelector('button').onclick = () => setTimeout(() => "
             "app.innerHTML += '<p id=done>all of it</p>', 700); }, 900)</script>"}});
  const RenderedPage page = Make(site.Url("/"), {{{"click", "#accept"}, {"if", "#accept"}},
                                                 {{"click", "#more"}},
                                                 {{"wait_for", "#done"}},
                                                 {{"click", "#gone"}, {"if", "#gone"}}});
  EXPECT_EQ(page.response.error, "");
  EXPECT_THAT(page.response.body, HasSubstr("all of it"));
}

// A click that downloads changes nothing on the page; who goes to a file wants the file.
TEST_F(BrowserStepsTest, AFileIsReadWhereAStepGoesThereAndThePageWhereItOnlyClicks) {
  const Site site(Pages{{"/", "<a id=get href=/csv>get</a><p>the page</p>"},
                        {"/csv",
                         "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nContent-Length: 3\r\n"
                         "\r\na,b"}});
  const RenderedPage page = Make(site.Url("/"), {{{"click", "#get"}}, {{"wait_for", "p"}}});
  EXPECT_EQ(page.response.error, "");
  EXPECT_EQ(page.url, site.Url("/"));
  EXPECT_THAT(page.response.body, HasSubstr("the page"));
  const RenderedPage file = Make(site.Url("/"), {{{"goto", site.Url("/csv")}}});
  EXPECT_EQ(file.response.error, "");
  EXPECT_EQ(file.url, site.Url("/csv"));
  EXPECT_EQ(file.kind, RenderedPage::Kind::kAsSent);
}

TEST_F(BrowserStepsTest, AListThatGrowsIsScrolledToItsEnd) {
  const Site site(
      Pages{{"/",
             "<div id=list></div><script>let n = 0; const more = () => { if (n < 60) for "
             "(let i = 0; i < 20; i++) list.insertAdjacentHTML('beforeend', "
             "`<p style='height:100px'>item ${++n}</p>`) }; more(); onscroll = () => { if "
             "(scrollY + innerHeight >= document.body.scrollHeight - 50) "
             "fetch('/more').then(more) }</script>"}});
  const RenderedPage page = Make(site.Url("/"), Json::array({{{"scroll_to_end", true}}}));
  EXPECT_EQ(page.response.error, "");
  EXPECT_THAT(page.response.body, HasSubstr("item 60"));
}

TEST_F(BrowserStepsTest, ALoginIsMadeOnceForSeveralPages) {
  const Shop shop;
  const Json steps{
      {{"fill", "#user"}, {"value", "ann"}, {"if", "#password"}},
      {{"fill", "#password"}, {"value", {{"secret", "password"}}}, {"if", "#password"}},
      {{"click", "form button"}, {"if", "#password"}},
      {{"goto", "row"}, {"if", ".account"}},
      {{"wait_for", ".account"}}};
  std::vector<PageCookie> cookies;
  for (const char* path : {"/one", "/two", "/three"}) {
    RenderRequest request = Request(shop.Url(path), steps);
    request.cookies = cookies;
    request.reads_cookies = true;
    const RenderedPage page = browser().Begin(std::move(request)).get();
    EXPECT_EQ(page.response.error, "") << path;
    EXPECT_THAT(page.response.body, HasSubstr("the page " + std::string(path)));
    EXPECT_THAT(page.response.body, Not(HasSubstr("hunter")));
    cookies = *ParseCookies(CookiesText(page.cookies));
    EXPECT_EQ(cookies, page.cookies);
  }
  EXPECT_EQ(shop.logins(), 1);
  EXPECT_EQ(shop.refused(), 0);
  // Without them it is another person who comes.
  EXPECT_THAT(Make(shop.Url("/four"), steps).response.body, HasSubstr("the page /four"));
  EXPECT_EQ(shop.logins(), 2);
}

TEST_F(BrowserStepsTest, AStepThatCannotBeMadeIsNamedWithoutItsSecret) {
  const Site site(Pages{
      {"/",
       "<form action=/sent><input id=name name=name></form><button id=hidden hidden>a</button>"
       "<p id=text>x</p><select id=size><option>S</select>"},
      {"/sent", "<p>thanks</p>"}});
  const Json typed = {{"fill", "#name"}, {"value", {{"secret", "password"}}}};
  struct Case {
    Json steps;
    int failed;
    const char* why;
  };
  const std::vector<Case> cases{
      {{typed, {{"press", "Enter"}}, {{"click", "#no"}}}, 2, "click \"#no\"): nothing matches"},
      {Json::array({{{"click", "#hidden"}}}), 0, "cannot be seen"},
      {Json::array({{{"fill", "#text"}, {"value", "x"}}}), 0, "no field"},
      {Json::array({{{"select", "#size"}, {"value", {{"secret", "password"}}}}}), 0,
       "no such option"},
      {{{{"wait_for", "p"}}, {{"click", "p["}}}, 1, "does not know"}};
  std::vector<std::future<RenderedPage>> pages;
  for (const Case& one : cases) pages.push_back(browser().Begin(Request(site.Url("/"), one.steps)));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const RenderedPage page = pages[i].get();
    EXPECT_EQ(page.failed_step, cases[i].failed) << i;
    const std::string at = "probe.steps[" + std::to_string(cases[i].failed) + "] (";
    EXPECT_THAT(page.response.error, HasSubstr(at)) << i;
    EXPECT_THAT(page.response.error, HasSubstr(cases[i].why)) << i;
    EXPECT_THAT(page.response.error, Not(HasSubstr("hunter"))) << i;
    EXPECT_EQ(page.response.error_class, HttpErrorClass::kProtocol) << i;
    EXPECT_THAT(page.url, Not(HasSubstr("hunter")));
  }
  // A form has put it into the page's address.
  const RenderedPage sent = Make(site.Url("/"), {typed, {{"press", "Enter"}}, {{"wait_for", "p"}}});
  EXPECT_EQ(sent.url, site.Url("/sent?name=***"));
}

TEST_F(BrowserStepsTest, AnAddressOfAStepIsCheckedAsThePagesOwn) {
  const Site site(Pages{{"/", "<p>one</p>"}, {"/two", "<p>two</p>"}});
  const auto go = [&](const std::string& url) {
    RenderRequest request = Request(site.Url("/"), Json::array({{{"goto", "row"}}}));
    request.steps[0].target = url;
    return browser().Begin(std::move(request)).get();
  };
  EXPECT_THAT(go(site.Url("/two")).response.body, HasSubstr("two"));
  for (const char* url : {"file:///etc/passwd", "http://127.0.0.3:8123/", "http://10.0.0.1/"}) {
    const RenderedPage page = go(url);
    EXPECT_EQ(page.response.error_class, HttpErrorClass::kRefusedAddress) << url;
    EXPECT_THAT(page.response.error, HasSubstr("probe.steps[0]")) << url;
  }
}

TEST(PageCookies, AreBoundedThoseOfTheSiteFirst) {
  Json answer{{"cookies", Json::array()}};
  for (std::size_t i = 0; i < kPageCookiesMax + 20; ++i) {
    answer["cookies"].push_back(
        {{"name", "n"}, {"value", "v"}, {"domain", ".ads.example"}, {"path", "/"}});
  }
  answer["cookies"].push_back({{"name", "large"},
                               {"value", std::string(kPageCookiesBytesMax, 'x')},
                               {"domain", "shop.example"},
                               {"path", "/"}});
  answer["cookies"].push_back({{"name", "sid"},
                               {"value", "v"},
                               {"domain", ".shop.example"},
                               {"path", "/"},
                               {"httpOnly", true},
                               {"expires", 2e9}});
  const auto read = ReadCookies(answer, "www.shop.example");
  ASSERT_EQ(read.size(), kPageCookiesMax);
  EXPECT_EQ(read[0].name, "sid");
  EXPECT_TRUE(read[0].http_only);
}

TEST(PageCookies, ThoseOfOneHostStayItsOwn) {
  const std::vector<PageCookie> cookies{{.name = "a", .value = "1", .domain = "shop.example"},
                                        {.name = "b", .value = "2", .domain = ".shop.example"}};
  const Json params = CookieParams(cookies);
  EXPECT_EQ(params[0]["url"], "http://shop.example/");
  EXPECT_FALSE(params[0].contains("domain"));
  EXPECT_EQ(params[1]["domain"], ".shop.example");
}

TEST(PageCookies, AreTheSameWhereOnlyTheirEndHasMovedALittle) {
  const PageCookie a{.name = "a", .value = "1", .domain = "x.example", .expires = 2e9};
  PageCookie later = a;
  later.expires += 60;
  PageCookie much_later = a;
  much_later.expires += 86'400;
  PageCookie other = a;
  other.value = "2";
  const PageCookie b{.name = "b", .value = "1", .domain = "x.example"};
  EXPECT_TRUE(SameCookies({a, b}, {b, later}));
  EXPECT_FALSE(SameCookies({a}, {much_later}));
  EXPECT_FALSE(SameCookies({a}, {other}));
  EXPECT_FALSE(SameCookies({a}, {a, b}));
  EXPECT_FALSE(ParseCookies("nonsense"));
}

// The picture of a page whose second step fails, after a secret was typed that the page repeats.
std::string PictureOfFailure(test::TestBrowser& browser, const std::string& url,
                             const std::string& secret) {
  RenderRequest request;
  request.url = url;
  request.timeout = milliseconds(60'000);
  request.holds_open = true;
  request.steps = *domain::WithSecrets(
      domain::ReadPageSteps({{{"fill", "#name"}, {"value", {{"secret", "name"}}}},
                             {{"fill", "#pin"}, {"value", {{"secret", "pin"}}}},
                             {{"press", "ArrowUp"}},
                             {{"click", ">>"}}}),
      {{"name", secret}, {"pin", secret + "!"}});
  const RenderedPage page = browser.Begin(std::move(request)).get();
  EXPECT_EQ(page.failed_step, 3) << page.response.error;
  return page.open == nullptr ? "" : page.open->taken();
}

TEST_F(BrowserStepsTest, APageThatFailedIsPicturedWithoutWhatIsSecret) {
  const Site site(Pages{{"/",
                         "<style>input, p {font: 20px monospace}</style><h1>Log in</h1>"
                         "<input id=name><input id=pin type=password>"
                         "<p id=said>-</p><div id=host></div><script>"
                         "const root = host.attachShadow({mode: 'open'});"
                         "root.innerHTML = '<input id=copy>';"
                         "document.getElementById('name').oninput = e => {"
                         "said.textContent = 'Hello ' + e.target.value;"
                         "root.getElementById('copy').value = e.target.value; };</script>"}});
  const std::string first = PictureOfFailure(browser(), site.Url("/"), "annabel");
  const std::string second = PictureOfFailure(browser(), site.Url("/"), "bob");
  ASSERT_GT(first.size(), 100U);
  EXPECT_EQ(first.substr(0, 4) + first.substr(8, 4), "RIFFWEBP");
  EXPECT_EQ(first, second) << "neither what was typed nor how long it is can be seen";
}

TEST_F(BrowserStepsTest, StepsReachIntoFramesOfTheSameOrigin) {
  const Site site(
      Pages{{"/",
             "<p style=height:300px>above</p><iframe src=/outer style='margin:40px;width:500px;"
             "height:400px'></iframe><p id=said></p>"},
            {"/outer", "<p style=height:600px>in between</p><iframe src=/inner></iframe>"},
            {"/inner",
             "<input id=name><select id=size><option value=s>S<option value=l>L</select>"
             "<button id=go>Go</button><script>document.getElementById('go').onclick = e => {"
             "top.document.getElementById('said').textContent = `${document.getElementById('name')"
             ".value} ${document.getElementById('size').value} ${e.isTrusted}`; };</script>"}});
  const RenderedPage page = Make(site.Url("/"), {{{"fill", "#name"}, {"value", "ann"}},
                                                 {{"select", "#size"}, {"value", "L"}},
                                                 {{"click", "#go"}}});
  EXPECT_EQ(page.response.error, "");
  EXPECT_THAT(page.response.body, HasSubstr("ann l true"));
}

// What a picker offers: the elements that can be seen, each with a selector that says it alone.
TEST_F(BrowserStepsTest, APictureListsItsElementsWithSelectorsThatLast) {
  const Site site(
      Pages{{"/",
             "<h1 id=title>Tea</h1><ul><li class='item css-1f3a9c'>one<li class=item>two"
             "</ul><p data-testid=price class=x>41</p><div style=display:none>no</div>"
             "<section id=a84772938><b>bold</b></section>"}});
  const Picture picture = browser().Pictured(site.Url("/"), true, {{}, true});
  EXPECT_EQ(picture.file.substr(0, 4), "RIFF");
  std::map<std::string, std::string> text_of;
  for (const auto& one : base::ParseJsonOrThrow(picture.elements)) {
    EXPECT_GT(one.at(2).get<int>() * one.at(3).get<int>(), 0);
    EXPECT_TRUE(text_of.emplace(one.at(4), one.at(5)).second) << one.dump() << " says one alone";
  }
  EXPECT_EQ(text_of["#title"], "Tea");
  EXPECT_EQ(text_of["p[data-testid=\"price\"]"], "41");
  EXPECT_EQ(text_of["body > ul > li:nth-of-type(2)"], "two");
  EXPECT_EQ(text_of["body > section > b"], "bold") << "an id that was made names nothing";
  for (const auto& [selector, text] : text_of) EXPECT_NE(text, "no") << selector;
}

}  // namespace
}  // namespace vedette::net
