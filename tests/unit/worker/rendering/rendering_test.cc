#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "config/security_config.h"
#include "worker/rendering/render_message.h"
#include "worker/rendering/render_server.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

const config::SecurityConfig kSecurity{.encryption_key = std::string(32, 'k')};
const RenderSeal kSeal{kSecurity, base::Uuid::V4()};

TEST(RenderMessage, ARequestComesAsItWasSent) {
  net::RenderRequest request;
  request.url = "https://shop.example/\xc3\xa4";
  request.wait_for = "#price > b";
  request.timeout = milliseconds(12'345);
  const net::RenderRequest read = UnpackRenderRequest(PackRenderRequest(request, kSeal), kSeal);
  EXPECT_EQ(read.url, request.url);
  EXPECT_EQ(read.wait_for, request.wait_for);
  EXPECT_EQ(read.timeout, request.timeout);
}

// The message is not compressed to the letter, so that a password in clear would be found in it.
TEST(RenderMessage, StepsAndCookiesComeWithTheirSecretsSealedForTheOrganisation) {
  net::RenderRequest request;
  request.url = "https://shop.example/";
  request.steps = {{domain::PageStep::Kind::kFill, "#password", "pa55-w0rd", "password", "form"},
                   {domain::PageStep::Kind::kClick, "#login", "", "", ""}};
  request.cookies = {{.name = "sid", .value = "c00kie-value", .domain = "shop.example"}};
  request.reads_cookies = true;
  const std::string message = PackRenderRequest(request, kSeal);
  const net::RenderRequest read = UnpackRenderRequest(message, kSeal);
  ASSERT_EQ(read.steps.size(), 2U);
  EXPECT_EQ(read.steps[0].kind, domain::PageStep::Kind::kFill);
  EXPECT_EQ(read.steps[0].target, "#password");
  EXPECT_EQ(read.steps[0].value, "pa55-w0rd");
  EXPECT_EQ(read.steps[0].secret, "password");
  EXPECT_EQ(read.steps[0].only_if, "form");
  EXPECT_EQ(read.steps[1].target, "#login");
  EXPECT_EQ(read.cookies, request.cookies);
  EXPECT_TRUE(read.reads_cookies);
  EXPECT_THAT(message, Not(HasSubstr("pa55-w0rd")));
  EXPECT_THAT(message, Not(HasSubstr("c00kie-value")));
  const config::SecurityConfig without{};
  EXPECT_THROW(UnpackRenderRequest(message, {without, kSeal.org_id}), std::invalid_argument);
  EXPECT_THROW(UnpackRenderRequest(message, {kSecurity, base::Uuid::V4()}), std::invalid_argument);

  request.cookies.clear();
  request.steps[0].secret.clear();
  const net::RenderRequest open =
      UnpackRenderRequest(PackRenderRequest(request, {without, kSeal.org_id}), kSeal);
  ASSERT_EQ(open.steps.size(), 2U) << "what is no secret needs no key";
  EXPECT_EQ(open.steps[0].value, "pa55-w0rd");

  net::RenderedPage page;
  page.cookies = {{.name = "sid", .value = "n3w-c00kie", .domain = "shop.example"}};
  page.failed_step = 3;
  const std::string answer = PackRenderedPage(page, kSeal);
  EXPECT_THAT(answer, Not(HasSubstr("n3w-c00kie")));
  EXPECT_EQ(UnpackRenderedPage(answer, kSeal).cookies, page.cookies);
  EXPECT_EQ(UnpackRenderedPage(answer, kSeal).failed_step, 3);
  EXPECT_EQ(UnpackRenderedPage(PackRenderedPage({}, kSeal), kSeal).failed_step, std::nullopt);
}

TEST(RenderMessage, APageComesAsItWasSentWhateverItsBytes) {
  net::RenderedPage page;
  page.url = "https://shop.example/";
  page.kind = net::RenderedPage::Kind::kAsSent;
  page.bytes = 123'456'789'012;
  page.refused = 3;
  page.response.status = 203;
  page.response.headers = {{"a", "1"}, {"a", "\xff"}};
  page.response.body = std::string(1 << 20, 'x') + std::string("\0\xfe\xff", 3);
  page.response.duration = std::chrono::microseconds(77);
  page.response.remote_address = "192.0.2.1";
  const std::string message = PackRenderedPage(page, kSeal);
  EXPECT_LT(message.size(), page.response.body.size() / 10) << "it is compressed";
  const net::RenderedPage read = UnpackRenderedPage(message, kSeal);
  EXPECT_EQ(read.url, page.url);
  EXPECT_EQ(read.kind, page.kind);
  EXPECT_EQ(read.bytes, page.bytes);
  EXPECT_EQ(read.refused, page.refused);
  EXPECT_EQ(read.response.status, 203);
  EXPECT_EQ(read.response.headers, page.response.headers);
  EXPECT_EQ(read.response.body, page.response.body);
  EXPECT_EQ(read.response.duration, page.response.duration);
  EXPECT_EQ(read.response.remote_address, "192.0.2.1");
  EXPECT_EQ(read.response.error_class, net::HttpErrorClass::kNone);
}

TEST(RenderMessage, AFailureComesWithItsSentence) {
  net::RenderedPage page;
  page.response.error_class = net::HttpErrorClass::kTimeout;
  page.response.error = "it took too long";
  const net::RenderedPage read = UnpackRenderedPage(PackRenderedPage(page, kSeal), kSeal);
  EXPECT_EQ(read.response.error_class, net::HttpErrorClass::kTimeout);
  EXPECT_EQ(read.response.error, "it took too long");
}

TEST(RenderMessage, G11APageThatIsTooLongIsAFailureAndNotHalfAPage) {
  net::RenderedPage page;
  page.url = "https://shop.example/";
  page.response.body.assign(kRenderMessageBytesMax + 1, 'x');
  const net::RenderedPage read = UnpackRenderedPage(PackRenderedPage(page, kSeal), kSeal);
  EXPECT_EQ(read.response.error_class, net::HttpErrorClass::kBodyTooLarge);
  EXPECT_TRUE(read.response.body.empty());
  EXPECT_EQ(read.url, page.url);
}

TEST(RenderMessage, WhatIsNoMessageIsRefused) {
  const std::string message = PackRenderRequest({}, kSeal);
  for (const std::string& wrong : {std::string(), std::string("short"), std::string(1000, '\xff'),
                                   message.substr(0, message.size() - 1), message.substr(1)}) {
    EXPECT_THROW(UnpackRenderRequest(wrong, kSeal), std::invalid_argument) << wrong.size();
  }
}

TEST(RenderShares, APageCountsTheTimeThatItTookAndNobodySavesTurnsUp) {
  const base::Uuid burner = base::Uuid::V4();
  const base::Uuid other = base::Uuid::V4();
  RenderShares shares;
  shares.Begin({burner, other});
  shares.End(burner, milliseconds(30'000));
  shares.End(other, milliseconds(100));
  // Thirty pages of a second of the other's, and their turns are even.
  for (int i = 0; i < 29; ++i) {
    const store::RenderTurns turns = shares.Turns();
    ASSERT_EQ(turns.org_ids.size(), turns.used.size());
    for (std::size_t at = 0; at < turns.org_ids.size(); ++at) {
      if (turns.org_ids[at] == burner) {
        EXPECT_GT(turns.used[at], 29'000);
      }
    }
    shares.Begin({other});
    shares.End(other, milliseconds(1000));
  }
  EXPECT_GE(shares.Turns().least, 27'000);
  // A newcomer begins where the others are.
  const base::Uuid late = base::Uuid::V4();
  shares.Begin({late});
  const store::RenderTurns turns = shares.Turns();
  for (std::size_t at = 0; at < turns.org_ids.size(); ++at) {
    if (turns.org_ids[at] == late) {
      EXPECT_GE(turns.used[at], 28'000);
    }
  }
}

}  // namespace
}  // namespace vedette::worker
