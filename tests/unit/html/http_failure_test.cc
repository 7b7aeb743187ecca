#include "html/http_failure.h"

#include <gtest/gtest.h>

#include "net/retry_after.h"

namespace vedette::html {
namespace {

using namespace std::chrono_literals;

net::HttpResponse Answer(int status,
                         std::vector<std::pair<std::string, std::string>> headers = {}) {
  net::HttpResponse out;
  out.status = status;
  out.headers = std::move(headers);
  return out;
}

const base::Timestamp kNow = base::ParseTimestamp("1994-11-06T08:49:07Z");

TEST(HttpFailure, RetryAfterIsSecondsOrADate) {
  const auto wait = [](std::string value) {
    return net::RetryAfter(Answer(503, {{"retry-after", std::move(value)}}), kNow);
  };
  EXPECT_EQ(wait("120"), 120s);
  EXPECT_EQ(wait(" 0 "), 0s);
  EXPECT_EQ(wait("99999999999999999999"), net::kRetryAfterMax);
  EXPECT_EQ(wait("100000000"), net::kRetryAfterMax);
  EXPECT_EQ(wait("Sun, 06 Nov 1994 08:49:37 GMT"), 30s);
  EXPECT_EQ(wait("Sun, 06 Nov 1994 08:00:00 GMT"), 0s);
  EXPECT_FALSE(wait("-1"));
  EXPECT_FALSE(wait("1.5"));
  EXPECT_FALSE(wait(""));
  EXPECT_FALSE(wait("soon"));
  EXPECT_FALSE(net::RetryAfter(Answer(503), kNow));
}

TEST(HttpFailure, ADateIsTakenAgainstTheSendersOwnClock) {
  const auto response = Answer(503, {{"retry-after", "Mon, 07 Nov 1994 08:49:37 GMT"},
                                     {"date", "Mon, 07 Nov 1994 08:49:27 GMT"}});
  EXPECT_EQ(net::RetryAfter(response, kNow), 10s);
}

TEST(HttpFailure, HttpDatesAreReadStrictly) {
  EXPECT_EQ(net::ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT"),
            base::ParseTimestamp("1994-11-06T08:49:37Z"));
  for (const char* bad : {"", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 31 Feb 1994 08:49:37 GMT",
                          "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Xyz 1994 08:49:37 GMT",
                          "Sun, -6 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT"}) {
    EXPECT_FALSE(net::ParseHttpDate(bad)) << bad;
  }
}

TEST(HttpFailure, StatusesThatMayPassAreRetryable) {
  for (const int status : {408, 425, 429, 500, 502, 503, 504, 599}) {
    const auto failure = StatusFailure(Answer(status, {{"retry-after", "7"}}), "the page", kNow);
    EXPECT_EQ(failure.error_class, "http_status");
    EXPECT_TRUE(failure.retryable) << status;
    EXPECT_EQ(failure.retry_after, 7s) << status;
    EXPECT_NE(failure.message.find(std::to_string(status)), std::string::npos);
  }
  for (const int status : {304, 400, 401, 403, 404, 410, 418, 600}) {
    EXPECT_FALSE(StatusFailure(Answer(status), "the page", kNow).retryable) << status;
  }
}

TEST(HttpFailure, TransportFailuresSayWhetherTheyMayPass) {
  using Class = net::HttpErrorClass;
  for (const auto& [error, retryable] :
       {std::pair(Class::kDns, true), std::pair(Class::kConnect, true),
        std::pair(Class::kTimeout, true), std::pair(Class::kProtocol, true),
        std::pair(Class::kTls, false), std::pair(Class::kRefusedAddress, false),
        std::pair(Class::kBodyTooLarge, false)}) {
    net::HttpResponse response;
    response.error_class = error;
    response.error = "it broke.";
    const auto failure = TransportFailure(response, "the page");
    EXPECT_EQ(failure.error_class, net::HttpErrorClassName(error));
    EXPECT_EQ(failure.retryable, retryable) << failure.error_class;
    EXPECT_EQ(failure.message, "The page could not be fetched: it broke.");
  }
}

}  // namespace
}  // namespace vedette::html
