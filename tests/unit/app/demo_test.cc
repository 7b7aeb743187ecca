// The demo's own parts: the site whose content changes, the receiver that verifies, what is kept
// from run to run, and how the story is printed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "app/commands.h"
#include "app/ctl/ctl.h"
#include "app/demo/demo_output.h"
#include "app/demo/demo_servers.h"
#include "tests/support/fake_exchange.h"
#include "tests/support/hand_clock.h"

namespace vedette::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using vedette::test::FakeExchange;
using vedette::test::HandClock;

const std::int64_t kNow =
    std::chrono::floor<std::chrono::seconds>(HandClock::kStart).time_since_epoch().count();

net::ServerResponse Ask(net::HttpService& service, net::ServerRequest request) {
  auto exchange = std::make_shared<FakeExchange>(std::move(request));
  service.Handle(exchange);
  return *exchange->answer;
}

net::ServerResponse Get(net::HttpService& service, const std::string& path) {
  net::ServerRequest request;
  request.method = "GET";
  request.target = request.path = path;
  return Ask(service, std::move(request));
}

const std::string kSecret = "sk_whsec_" + std::string(64, 'a');

net::ServerRequest Webhook(const std::string& body, const std::string& header) {
  net::ServerRequest request;
  request.method = "POST";
  request.target = request.path = DemoReceiver::kPath;
  request.headers = {{"service-event-type", "monitor.field.changed"},
                     {"service-event-id", "group"},
                     {"service-delivery-attempt", "1"},
                     {"service-signature", header}};
  request.body = body;
  return request;
}

TEST(DemoSite, APageShowsAChangeOnceItIsMade) {
  DemoSite site;
  for (int number = 0; number < 24; ++number) {
    const DemoSite::Change change = site.MakeChange(number);
    EXPECT_NE(change.from, change.to);
    for (const DemoSite::Company& company : site.companies()) {
      if (company.name != change.company) continue;
      const net::ServerResponse page = Get(site, site.PathOf(company));
      EXPECT_EQ(page.status, 200);
      EXPECT_THAT(page.body, HasSubstr(change.to)) << change.field;
    }
  }
}

TEST(DemoSite, EveryFieldOfEveryPageChangesSometime) {
  DemoSite site;
  std::set<std::string> changed;
  for (int number = 0; number < 12; ++number) {
    const DemoSite::Change change = site.MakeChange(number);
    changed.insert(change.company + "/" + change.field);
  }
  EXPECT_EQ(changed.size(), site.companies().size() * DemoSite::WatchedFields().size());
}

TEST(DemoSite, KeepsItsContentFromRunToRun) {
  DemoSite first;
  for (int number = 0; number < 5; ++number) first.MakeChange(number);
  DemoSite second;
  second.Load(first.Save());
  EXPECT_EQ(first.Save(), second.Save());
  EXPECT_NE(first.Save(), DemoSite().Save());
}

TEST(DemoSite, KnowsNoOtherPages) {
  DemoSite site;
  EXPECT_EQ(Get(site, "/").status, 200);
  EXPECT_EQ(Get(site, "/companies/nobody").status, 404);
}

TEST(DemoReceiver, AcceptsASignatureOverTheRawBodyAndNoOther) {
  HandClock clock;
  DemoReceiver receiver(ReceiverMode::kHonest, clock);
  receiver.SetSecret(kSecret);
  const std::string body = R"({"type":"monitor.field.changed"})";
  const std::string header = domain::SignatureHeader({kSecret}, kNow, body);
  EXPECT_EQ(Ask(receiver, Webhook(body, header)).status, 200);
  ASSERT_TRUE(receiver.Find("monitor.field.changed", "group"));
  EXPECT_EQ(receiver.Find("monitor.field.changed", "group")->check, domain::SignatureCheck::kValid);
  EXPECT_EQ(Ask(receiver, Webhook(body + " ", header)).status, 401);
  EXPECT_EQ(receiver.Find("monitor.field.changed", "group")->check,
            domain::SignatureCheck::kMismatch);
  EXPECT_FALSE(receiver.Find("monitor.field.changed", "other"));
  EXPECT_EQ(receiver.Since(1).size(), 1U);
}

TEST(DemoReceiver, TheModesForTestsFailHonestly) {
  HandClock clock;
  const std::string body = "{}";
  const std::string header = domain::SignatureHeader({kSecret}, kNow, body);
  DemoReceiver refusing(ReceiverMode::kRefuse, clock);
  refusing.SetSecret(kSecret);
  EXPECT_EQ(Ask(refusing, Webhook(body, header)).status, 503);
  EXPECT_TRUE(refusing.Find("monitor.field.changed", "group")->refused);
  DemoReceiver mistaken(ReceiverMode::kWrongKey, clock);
  mistaken.SetSecret(kSecret);
  EXPECT_EQ(Ask(mistaken, Webhook(body, header)).status, 401);
}

TEST(DemoReceiver, KeepsABoundedNumber) {
  HandClock clock;
  DemoReceiver receiver(ReceiverMode::kHonest, clock);
  for (int i = 0; i < 2000; ++i) Ask(receiver, Webhook("{}", ""));
  EXPECT_EQ(receiver.received_total(), 2000U);
  EXPECT_LE(receiver.Since(0).size(), 500U);
}

TEST(DemoState, ComesBackAsItWasKeptForItsOwnerAlone) {
  std::string dir = "/tmp/vedette-test-XXXXXX";
  ASSERT_NE(mkdtemp(dir.data()), nullptr);
  DemoState state = LoadDemoState(dir);
  EXPECT_EQ(state.encryption_key.size(), 64U);
  EXPECT_TRUE(state.org_id.empty());
  state.org_id = "org";
  state.site_port = 4711;
  state.site = DemoSite().Save();
  SaveDemoState(dir, state);
  const DemoState again = LoadDemoState(dir);
  EXPECT_EQ(again.encryption_key, state.encryption_key);
  EXPECT_EQ(again.admin_token, state.admin_token);
  EXPECT_EQ(again.org_id, "org");
  EXPECT_EQ(again.site_port, 4711);
  EXPECT_EQ(again.site, state.site);
  struct stat info {};
  ASSERT_EQ(stat((dir + "/state.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);

  std::ofstream(dir + "/state.json") << "{";
  try {
    LoadDemoState(dir);
    ADD_FAILURE() << "a broken file was read";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("state.json"));
    EXPECT_THAT(error.what(), HasSubstr("remove " + dir));
  }
  std::filesystem::remove_all(dir);
}

std::string Told(bool terminal, const std::function<void(Narrator&)>& tell) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&text, &size);
  {
    Narrator narrator(stream, terminal);
    tell(narrator);
  }
  std::fclose(stream);
  std::string told(text, size);
  std::free(text);
  return told;
}

TEST(Narrator, PrintsPlainLinesInAPipe) {
  const std::string told = Told(false, [](Narrator& narrator) {
    narrator.Step(1, 7, "A step");
    narrator.Waiting("something", std::chrono::seconds(1));
    narrator.Waiting("something", std::chrono::seconds(6));
    narrator.Waiting("something", std::chrono::seconds(7));
    narrator.Observed("it happened");
    narrator.Failed("it failed");
  });
  EXPECT_THAT(told, Not(HasSubstr("\x1b")));
  EXPECT_THAT(told, Not(HasSubstr("\r")));
  EXPECT_THAT(told, HasSubstr("\n1/7 A step\n"));
  EXPECT_EQ(told.find("waiting for something"), told.rfind("waiting for something"))
      << "a long wait is told once";
  EXPECT_THAT(told, HasSubstr("it happened\nit failed\n"));
}

TEST(Narrator, OverwritesItsWaitsOnATerminal) {
  const std::string told = Told(true, [](Narrator& narrator) {
    narrator.Waiting("something", std::chrono::seconds(1));
    narrator.Observed("it happened");
  });
  EXPECT_THAT(told, HasSubstr("\x1b["));
  EXPECT_THAT(told, HasSubstr("\r"));
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1);
}

TEST(ParseWatch, TakesNameAndDescription) {
  const worker::WatchedField field = ParseWatch("link=css:a[rel=next] @href");
  EXPECT_EQ(field.name, "link");
  EXPECT_EQ(field.description, "css:a[rel=next] @href");
  EXPECT_THROW(ParseWatch("link"), std::invalid_argument);
  EXPECT_THROW(ParseWatch("=css:a"), std::invalid_argument);
  EXPECT_THROW(ParseWatch("link="), std::invalid_argument);
}

TEST(FormatAnswer, PrintsListsAsTablesAndObjectsAsLines) {
  EXPECT_EQ(
      FormatAnswer(base::ParseJsonOrThrow(
          R"({"items":[{"id":"a","n":1},{"id":"\u00e9t\u00e9","n":null}],"next_cursor":"c"})")),
      "id   n\na    1\n\u00e9t\u00e9  -\nmore: --cursor c\n");
  EXPECT_EQ(FormatAnswer(base::ParseJsonOrThrow(R"({"items":[]})")), "none\n");
  EXPECT_EQ(FormatAnswer(base::ParseJsonOrThrow(R"({"id":"a","teams":[{"id":"b"}]})")),
            "id     a\nteams  [{\"id\":\"b\"}]\n");
  EXPECT_EQ(FormatAnswer(nullptr), "done\n");
}

}  // namespace
}  // namespace vedette::app
