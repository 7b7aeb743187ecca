#include "net/browser/page_load.h"
#include "config/net_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

#include "net/browser/browser_process.h"
#include "tests/unit/net/browser_support.h"

// One page in a real Chromium, and what is left of it in the browser.
namespace vedette::net {
namespace {

using test::LoopThread;
using test::milliseconds;
using test::Pages;
using test::Site;
using ::testing::HasSubstr;

class PageLoadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(access(config_.executable.c_str(), X_OK), 0) << "apt install chromium";
    loop_.Run([&] {
      resolver_ = std::make_unique<Resolver>(loop_.loop, net_.dns_servers, net_.connect_timeout_ms);
      BrowserProcess::Events events;
      events.event = [this](const DevtoolsMessage& event) {
        if (load_ != nullptr) load_->OnEvent(event);
      };
      events.gone = [](const std::string& why) { ADD_FAILURE() << why; };
      browser_ = std::make_unique<BrowserProcess>(loop_.loop, config_, std::move(events));
    });
  }
  ~PageLoadTest() override {
    loop_.Run([&] {
      load_.reset();
      browser_.reset();
      resolver_.reset();
    });
  }

  RenderedPage Load(const std::string& url, milliseconds timeout) {
    std::promise<RenderedPage> result;
    loop_.loop.Post([&] {
      load_ = std::make_shared<PageLoad>(
          loop_.loop, *browser_,
          std::make_unique<PageProxy>(loop_.loop, *resolver_, policy_, PageBounds{}), config_,
          "vedette-test");
      last_ = load_;
      load_->Start({.url = url}, timeout,
                   [&](RenderedPage page) { result.set_value(std::move(page)); });
    });
    RenderedPage page = result.get_future().get();
    loop_.Run([&] { load_.reset(); });
    return page;
  }

  std::size_t ContextsOpen() {
    std::promise<std::size_t> result;
    loop_.loop.Post([&] {
      browser_->Send("Target.getBrowserContexts", base::Json::object(), "",
                     [&](const BrowserProcess::Answer& answer) {
                       result.set_value(answer.result.at("browserContextIds").size());
                     });
    });
    return result.get_future().get();
  }

  const config::BrowserConfig config_ = test::BrowserOptions();
  const config::NetConfig net_ = test::BrowserNet();
  const AddressPolicy policy_{net_.allow};
  LoopThread loop_;
  std::unique_ptr<Resolver> resolver_;
  std::unique_ptr<BrowserProcess> browser_;
  std::shared_ptr<PageLoad> load_;
  std::weak_ptr<PageLoad> last_;
};

TEST_F(PageLoadTest, APageLeavesNoContextWheneverItEnds) {
  const Site site(Pages{{"/", "<p>fine</p>"}});
  ASSERT_EQ(ContextsOpen(), 0U);
  EXPECT_THAT(Load(site.Url("/"), milliseconds(30'000)).response.body, HasSubstr("fine"));
  EXPECT_TRUE(test::Await([&] { return ContextsOpen() == 0; }));
  // Such a page ends before the browser has said what its context is.
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Load(site.Url("/"), milliseconds(1)).response.error_class, HttpErrorClass::kTimeout);
  }
  EXPECT_TRUE(test::Await([&] { return ContextsOpen() == 0; }));
  // With its context goes the page, and not before: its port is nobody else's until then.
  EXPECT_TRUE(test::Await([&] { return loop_.Run([&] { return last_.expired(); }); }));
}

}  // namespace
}  // namespace vedette::net
