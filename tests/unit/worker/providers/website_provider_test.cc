#include "worker/providers/site_providers.h"

#include <gtest/gtest.h>

#include <future>
#include <map>

#include "config/lookup_config.h"
#include "config/net_config.h"
#include "tests/unit/net/site.h"
#include "worker/providers/people_on_pages.h"

namespace vedette::worker {
namespace {

using namespace std::chrono_literals;
using domain::FindMode;
using net::ServerRequest;
using net::ServerResponse;
using net::test::Site;

domain::Person Ann() {
  domain::Person person;
  person.name = "Ann Example";
  person.domain = "acme.com";
  return person;
}

std::vector<std::string> Found(const std::string& body, FindMode mode = FindMode::kProfessional,
                               const domain::Person& person = Ann()) {
  html::ExtractionStop stop;
  std::vector<std::string> out;
  for (const auto& candidate :
       CandidatesOnPage(person, mode, "https://acme.com/",
                        html::FindAddressesOnPage("<body>" + body + "</body>", stop))) {
    out.push_back(candidate.address + (candidate.stated ? "" : " (guess)"));
  }
  return out;
}
using Texts = std::vector<std::string>;

TEST(SiteReading, AnAddressIsThePersonsByNodePatternOrBlock) {
  EXPECT_EQ(Found(R"(<script type="application/ld+json">{"@type": "Person", "name": "Ann Example",)"
                  R"("email": "sunny@acme.com"}</script>)"),
            Texts{"sunny@acme.com"});
  EXPECT_EQ(Found("<p>a.example@acme.com</p>"), Texts{"a.example@acme.com"});
  EXPECT_EQ(Found("<li>Ann Example, CEO <i>sunny@acme.com</i></li>"), Texts{"sunny@acme.com"});
  EXPECT_EQ(Found("<li>Bob Sample <i>sunny@acme.com</i></li>"), Texts{});
}

TEST(SiteReading, OfTwoAddressesInABlockNoneIsThePersonsByItAlone) {
  EXPECT_EQ(Found("<div>Ann Example sunny@acme.com Bob Sample rain@acme.com</div>"), Texts{});
}

TEST(SiteReading, RolesAreNobodysAndOtherDomainsAreNotTheCompanys) {
  EXPECT_EQ(Found("<p>Ann Example info@acme.com</p>"), Texts{});
  EXPECT_EQ(Found("<p>Ann Example ann.example@other.com</p>"), Texts{});
  EXPECT_EQ(Found("<p>Ann Example ann.example@mail.acme.com</p>"),
            Texts{"ann.example@mail.acme.com"});
}

TEST(SiteReading, OneNameAloneIsAGuess) {
  EXPECT_EQ(Found("<p>ann@acme.com</p>"), Texts{"ann@acme.com (guess)"});
  EXPECT_EQ(Found("<p>Ann Example: ann@acme.com</p>"), Texts{"ann@acme.com"});
}

TEST(SiteReading, APersonalAddressIsOneElsewhere) {
  EXPECT_EQ(Found("<p>Ann Example ann@acme.com, privately ann.example@gmail.com</p>",
                  FindMode::kPersonal),
            Texts{"ann.example@gmail.com"});
}

TEST(SiteReading, PagesThatMayNamePeopleAreReadNext) {
  const auto next = PeoplePages("https://acme.com/", "https://acme.com",
                                {{"/ueber-uns", ""},
                                 {"/kontakt", ""},
                                 {"https://jobs.acme.com/x", "Unser Team"},
                                 {"https://other.com/team", "Team"},
                                 {"/products", "Products"},
                                 {"mailto:x@acme.com", "Contact"},
                                 {"/team#top", "Team"},
                                 {"/team", "Team"}});
  EXPECT_EQ(next, (Texts{"https://jobs.acme.com/x", "https://acme.com/team",
                         "https://acme.com/kontakt", "https://acme.com/ueber-uns"}));
}

class WebsiteTest : public ::testing::Test {
 protected:
  WebsiteTest() {
    config_.pages_max = 3;
    config_.site_timeout_ms = 20s;
    config_.page_bytes_max = 1 << 20;
    loop_.Run([this] {
      client_ = std::make_unique<net::HttpClient>(loop_.loop, net_config_);
      fetcher_ = std::make_unique<html::Fetcher>(loop_.loop, *client_, *pool_, policy_, memory_,
                                                 budget_, net_config_.user_agent);
    });
  }
  ~WebsiteTest() override {
    pool_.reset();
    loop_.Run([this] {
      provider_.reset();
      fetcher_.reset();
      client_.reset();
    });
  }

  LookupAnswer Ask(const Site& site) {
    return Ask([url = site.Url("")](const std::string&) { return url; });
  }
  // `calls_left`: so often may_call says yes.
  LookupAnswer Ask(const OriginOf& origin_of, int calls_left = 1000) {
    auto promise = std::make_shared<std::promise<LookupAnswer>>();
    auto future = promise->get_future();
    loop_.Run([&] {
      provider_ = std::make_unique<WebsiteProvider>(clock_, *fetcher_, config_, origin_of);
      LookupRequest request;
      request.org_id = base::Uuid::V4();
      request.person = std::make_shared<const domain::Person>(Ann());
      request.timeout = 20s;
      request.may_call = [left = std::make_shared<int>(calls_left)] { return (*left)-- > 0; };
      provider_->Start(std::move(request),
                       [promise](LookupAnswer answer) { promise->set_value(std::move(answer)); });
    });
    return future.get();
  }
  static std::string Best(const LookupAnswer& answer) {
    const auto* candidates = std::get_if<domain::Candidates>(&answer);
    return candidates == nullptr ? "" : candidates->front().address;
  }
  static std::vector<std::string> Paths(Site& site) {
    std::vector<std::string> paths;
    for (const auto& request : site.requests()) paths.push_back(request.path);
    return paths;
  }

  config::EmailConfig config_{};
  const base::SystemClock clock_;
  const config::NetConfig net_config_ = net::test::SiteNetConfig();
  const net::AddressPolicy policy_{{"127.0.0.0/8"}};
  html::PageMemory memory_{1 << 20};
  base::ByteBudget budget_{1 << 22, 0.1};
  net::test::LoopThread loop_;
  std::unique_ptr<base::ThreadPool> pool_ =
      std::make_unique<base::ThreadPool>("pages", base::ThreadPool::Limits{1, 1, 1});
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<html::Fetcher> fetcher_;
  std::unique_ptr<WebsiteProvider> provider_;
};

ServerResponse Html(std::string body) {
  return {200, {{"Content-Type", "text/html"}}, "<html><body>" + body + "</body></html>"};
}

TEST_F(WebsiteTest, ASiteIsReadUntilAPageHasThePersonsAddress) {
  Site site([](const ServerRequest& request) {
    if (request.path == "/") return Html("<a href='/about'>About</a><a href='/team'>Team</a>");
    if (request.path == "/team") return Html("<p>Ann Example ann.example@acme.com</p>");
    return ServerResponse{404, {}, ""};
  });
  const LookupAnswer answer = Ask(site);
  EXPECT_EQ(Best(answer), "ann.example@acme.com");
  EXPECT_EQ(Paths(site), (Texts{"/robots.txt", "/", "/team"}));
  EXPECT_EQ(std::get<domain::Candidates>(answer)[0].sources, Texts{site.Url("/team")});
}

TEST_F(WebsiteTest, WhereTheDomainDoesNotAnswerItsWwwDoes) {
  Site site([](const ServerRequest& request) {
    if (request.path == "/") return Html("<p>Ann Example ann.example@acme.com</p>");
    return ServerResponse{404, {}, ""};
  });
  Texts asked;
  const LookupAnswer answer = Ask([&](const std::string& host) {
    asked.push_back(host);
    return host == "www.acme.com" ? site.Url("") : "http://127.0.0.1:1";
  });
  EXPECT_EQ(Best(answer), "ann.example@acme.com");
  EXPECT_EQ(Paths(site), (Texts{"/robots.txt", "/"}));
  for (const std::string& host : asked) {
    EXPECT_TRUE(host == "acme.com" || host == "www.acme.com") << host;
  }
}

TEST_F(WebsiteTest, RobotsTxtIsHonoured) {
  Site site([](const ServerRequest& request) {
    if (request.path == "/robots.txt") {
      return ServerResponse{200, {{"Content-Type", "text/plain"}}, "User-agent: *\nDisallow: /te"};
    }
    return Html("<a href='/team'>Team</a>");
  });
  EXPECT_TRUE(std::holds_alternative<Nothing>(Ask(site)));
  EXPECT_EQ(Paths(site), (Texts{"/robots.txt", "/"}));
}

TEST_F(WebsiteTest, AServerThatCannotGiveRobotsTxtNowIsLeftAlone) {
  Site site([](const ServerRequest&) { return ServerResponse{503, {}, ""}; });
  EXPECT_TRUE(std::holds_alternative<Nothing>(Ask(site)));
  EXPECT_EQ(Paths(site), Texts{"/robots.txt"});
}

// A page waits for its turn at its host, and its row's job may end meanwhile.
TEST_F(WebsiteTest, NothingIsFetchedWhoseTurnComesAfterTheRowsEnd) {
  Site site([](const ServerRequest&) { return ServerResponse{404, {}, ""}; });
  const OriginOf origin = [&](const std::string&) { return site.Url(""); };
  const auto error_class = [](const LookupAnswer& answer) {
    const auto* failure = std::get_if<domain::Failure>(&answer);
    return failure == nullptr ? "none" : failure->error_class;
  };
  EXPECT_EQ(error_class(Ask(origin, 1)), kLookupUnheld);
  EXPECT_EQ(Paths(site), Texts{}) << "not even robots.txt";
  EXPECT_EQ(error_class(Ask(origin, 3)), kLookupUnheld);
  EXPECT_EQ(Paths(site), Texts{"/robots.txt"});
}

TEST_F(WebsiteTest, NoMorePagesAreReadThanAllowed) {
  Site site([](const ServerRequest& request) {
    if (request.path == "/robots.txt") return ServerResponse{404, {}, ""};
    std::string links;
    for (int i = 0; i < 20; ++i) links += "<a href='/team/" + std::to_string(i) + "'>Team</a>";
    return Html(links);
  });
  EXPECT_TRUE(std::holds_alternative<Nothing>(Ask(site)));
  EXPECT_EQ(site.requests().size(), 4U) << "robots.txt and three pages";
}

}  // namespace
}  // namespace vedette::worker
