#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "worker/rendering/render_message.h"
#include "worker/rendering/render_server.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

TEST(RenderMessage, ARequestComesAsItWasSent) {
  net::RenderRequest request;
  request.url = "https://shop.example/\xc3\xa4";
  request.wait_for = "#price > b";
  request.timeout = milliseconds(12'345);
  const net::RenderRequest read = UnpackRenderRequest(PackRenderRequest(request));
  EXPECT_EQ(read.url, request.url);
  EXPECT_EQ(read.wait_for, request.wait_for);
  EXPECT_EQ(read.timeout, request.timeout);
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
  const std::string message = PackRenderedPage(page);
  EXPECT_LT(message.size(), page.response.body.size() / 10) << "it is compressed";
  const net::RenderedPage read = UnpackRenderedPage(message);
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
  const net::RenderedPage read = UnpackRenderedPage(PackRenderedPage(page));
  EXPECT_EQ(read.response.error_class, net::HttpErrorClass::kTimeout);
  EXPECT_EQ(read.response.error, "it took too long");
}

TEST(RenderMessage, G11APageThatIsTooLongIsAFailureAndNotHalfAPage) {
  net::RenderedPage page;
  page.url = "https://shop.example/";
  page.response.body.assign(kRenderMessageBytesMax + 1, 'x');
  const net::RenderedPage read = UnpackRenderedPage(PackRenderedPage(page));
  EXPECT_EQ(read.response.error_class, net::HttpErrorClass::kBodyTooLarge);
  EXPECT_TRUE(read.response.body.empty());
  EXPECT_EQ(read.url, page.url);
}

TEST(RenderMessage, WhatIsNoMessageIsRefused) {
  const std::string message = PackRenderRequest({});
  for (const std::string& wrong : {std::string(), std::string("short"), std::string(1000, '\xff'),
                                   message.substr(0, message.size() - 1), message.substr(1)}) {
    EXPECT_THROW(UnpackRenderRequest(wrong), std::invalid_argument) << wrong.size();
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
