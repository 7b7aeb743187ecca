#include "html/page_reading.h"

#include <gtest/gtest.h>

namespace vedette::html {
namespace {

bool IsWall(std::string body, int status = 200) {
  net::HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  return IsChallengePage(response);
}

// The marks of each wall: each alone may stand on an ordinary page.
constexpr std::pair<const char*, const char*> kMarks[] = {
    {"<title>Just a moment...</title>", "<script src='/cdn-cgi/challenge-platform/h/b'></script>"},
    {"<title>Just a moment...</title>", "<div class=cf-browser-verification></div>"},
    {"<title>Attention Required! | Cloudflare</title>", "<div id='cf-error-details'></div>"},
    {"<iframe src='/_Incapsula_Resource?a'>", "Incapsula incident ID: 443-1"},
    {"<title>Pardon Our Interruption</title>", "<script>distil = 1</script>"},
    {"<TITLE>Access Denied</TITLE>", "https://errors.edgesuite.net/18.a"},
    {"<div id='px-captcha'></div>", "<script>window._pxAppId = 'a'</script>"},
};

TEST(ChallengePage, TheMarksOfAWallTogetherTellItAndEachAloneDoesNot) {
  for (const auto& [first, second] : kMarks) {
    EXPECT_TRUE(IsWall(std::string("<html>") + first + "<p>x</p>" + second)) << first;
    EXPECT_TRUE(IsWall(std::string(second) + first)) << second << " first";
    EXPECT_FALSE(IsWall(first)) << first;
    EXPECT_FALSE(IsWall(second)) << second;
  }
}

TEST(ChallengePage, MarksOfDifferentWallsAreNone) {
  EXPECT_FALSE(IsWall("<title>Just a moment...</title> errors.edgesuite.net px-captcha distil"));
}

TEST(ChallengePage, AWallIsOneWhateverItsStatusAndItsCase) {
  const std::string wall = "<TITLE>JUST A MOMENT...</TITLE>/CDN-CGI/Challenge-Platform/";
  for (const int status : {200, 403, 429, 503}) EXPECT_TRUE(IsWall(wall, status)) << status;
}

TEST(ChallengePage, AHeaderSaysItWithoutABody) {
  net::HttpResponse response;
  response.headers = {{"cf-mitigated", "challenge"}};
  EXPECT_TRUE(IsChallengePage(response));
  response.headers = {{"cf-mitigated", "block"}, {"server", "challenge"}};
  EXPECT_FALSE(IsChallengePage(response));
}

TEST(ChallengePage, OnlyTheBeginningOfAPageIsSearched) {
  const std::string first = "px-captcha";
  const std::string second = "window._pxappid";
  const std::string filler(16'384 - first.size() - second.size(), ' ');
  EXPECT_TRUE(IsWall(first + filler + second));
  EXPECT_FALSE(IsWall(first + filler + " " + second)) << "its last byte is the first beyond";
}

TEST(ChallengePage, OrdinaryPagesAreNone) {
  EXPECT_FALSE(IsWall(""));
  EXPECT_FALSE(IsWall("<title>Access denied: a novel</title><p>Wait just a moment...</p>"));
}

}  // namespace
}  // namespace vedette::html
