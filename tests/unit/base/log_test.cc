#include "base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace vedette::base {
namespace {

std::string Written(const std::function<void()>& log) {
  testing::internal::CaptureStderr();
  log();
  return testing::internal::GetCapturedStderr();
}

// What stands behind the time.
std::string TextOf(const std::function<void(const Logger&)>& log) {
  const std::string line =
      Written([&] { log(Logger(LogLevel::kTrace, LogFormat::kText).For("test")); });
  return line.size() > 25 ? line.substr(25) : line;
}

std::string JsonOf(const std::function<void(const Logger&)>& log) {
  return Written([&] { log(Logger(LogLevel::kTrace, LogFormat::kJson).For("test")); });
}

TEST(TextLog, ShowsLevelComponentMessageAndFields) {
  EXPECT_EQ(TextOf([](const Logger& log) {
              log.Info("ticks cut", {{"ticks", 3}, {"share", 0.5}, {"name", "a b"}, {"none", ""}});
            }),
            "info  test: ticks cut ticks=3 share=0.5 name=\"a b\" none=\"\"\n");
  EXPECT_EQ(TextOf([](const Logger& log) { log.Error("gone"); }), "error test: gone\n");
}

TEST(TextLog, BeginsWithUtcTimeInMilliseconds) {
  const std::string line = Written([] { Logger(LogLevel::kInfo, LogFormat::kText).Info("x"); });
  ASSERT_GT(line.size(), 25U);
  EXPECT_EQ(line[23], 'Z');
  EXPECT_EQ(line.substr(24), " info  x\n");
  EXPECT_NO_THROW(ParseTimestamp(line.substr(0, 24))) << line;
}

TEST(Log, HostileTextCannotForgeALine) {
  const std::string hostile = "a\n2026-01-01T00:00:00.000Z error api: forged\r\x1b[2J\x7f\xff\"\\";
  for (const auto format : {LogFormat::kText, LogFormat::kJson}) {
    const std::string written = Written([&] {
      Logger(LogLevel::kInfo, format).For("api").Info(hostile, {{"value", hostile}, {hostile, 1}});
    });
    EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 1);
    EXPECT_EQ(written.back(), '\n');
    for (const char c : written.substr(0, written.size() - 1)) {
      EXPECT_GE(static_cast<unsigned char>(c), 0x20) << written;
      EXPECT_NE(c, '\x7f');
    }
  }
}

TEST(Log, WhatReordersOrHidesTextIsEscaped) {
  // A C1 control, the line separator, right-to-left override, zero-width space.
  const std::string line = TextOf([](const Logger& log) {
    log.Info("\xC2\x9B\xE2\x80\xA8\xE2\x80\xAE\xE2\x80\x8B \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  });
  EXPECT_EQ(line,
            "info  test: \\u009b\\u2028\\u202e\\u200b \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n");
}

TEST(TextLog, AValueCannotPassForFields) {
  EXPECT_EQ(TextOf([](const Logger& log) {
              log.Warn("x", {{"v", "1 admin=true"}});
            }),
            "warn  test: x v=\"1 admin=true\"\n");
  EXPECT_EQ(TextOf([](const Logger& log) {
              log.Warn("x", {{"v", "a\" b=\"c"}});
            }),
            "warn  test: x v=\"a\\\" b=\\\"c\"\n");
}

TEST(JsonLog, EachLineIsOneObjectThatReadsBack) {
  const std::string hostile =
      "q\"b\\c\td\x01"
      "e\xC3\xA9";
  const Json line = ParseJsonOrThrow(JsonOf([&](const Logger& log) {
    log.Warn(hostile, {{"key", hostile}, {"n", 7}, {"share", 0.5}, {"done", true}});
  }));
  EXPECT_EQ(line["level"], "warn");
  EXPECT_EQ(line["component"], "test");
  EXPECT_EQ(line["message"], hostile);
  EXPECT_EQ(line["key"], hostile);
  EXPECT_EQ(line["n"], 7) << "a number, by which a collector can sort and sum";
  EXPECT_EQ(line["share"], 0.5);
  EXPECT_EQ(line["done"], true);
  EXPECT_NO_THROW(ParseTimestamp(line["time"].get<std::string>()));
}

TEST(JsonLog, WhatIsNoNumberOfJsonIsText) {
  const Json line = ParseJsonOrThrow(JsonOf([](const Logger& log) {
    log.Info("x", {{"ratio", std::numeric_limits<double>::infinity()}, {"mark", ','}, {"n", "7"}});
  }));
  EXPECT_EQ(line["ratio"], "inf");
  EXPECT_EQ(line["mark"], ",");
  EXPECT_EQ(line["n"], "7");
}

TEST(JsonLog, InvalidUtf8StaysValidJson) {
  const Json line =
      ParseJsonOrThrow(JsonOf([](const Logger& log) { log.Info("a\xff\xc3z\xed\xa0\x80"); }));
  EXPECT_EQ(line["message"], "a\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Log, ATroubleThatManyMeetIsToldOnceUntilItIsOver) {
  const std::string written = Written([] {
    const Logger log(LogLevel::kInfo, LogFormat::kText);
    log.TroubleOver("database", "nothing was wrong");
    log.For("api").Trouble("database", "gone", {{"pool", "api"}});
    log.For("worker").Trouble("database", "gone", {{"pool", "worker"}});
    log.Trouble("disk", "full");
    log.TroubleOver("database", "back");
    log.TroubleOver("database", "back");
    log.Trouble("database", "gone again");
  });
  std::vector<std::string> lines;
  std::istringstream in(written);
  for (std::string line; std::getline(in, line);) lines.push_back(line.substr(25));
  EXPECT_EQ(lines, (std::vector<std::string>{"warn  api: gone pool=api", "warn  full", "info  back",
                                             "warn  gone again"}));
}

TEST(Log, LeavesOutWhatIsBelowTheLevel) {
  const auto lines = [](LogLevel level) {
    const std::string written = Written([&] {
      const Logger log(level, LogFormat::kText);
      log.Debug("d");
      log.Info("i");
      log.Warn("w");
      log.Error("e");
    });
    return std::count(written.begin(), written.end(), '\n');
  };
  EXPECT_EQ(lines(LogLevel::kTrace), 4);
  EXPECT_EQ(lines(LogLevel::kInfo), 3);
  EXPECT_EQ(lines(LogLevel::kError), 1);
  EXPECT_EQ(lines(LogLevel::kOff), 0);
  EXPECT_TRUE(Logger(LogLevel::kDebug, LogFormat::kText).Writes(LogLevel::kDebug));
  EXPECT_FALSE(Logger(LogLevel::kInfo, LogFormat::kText).For("x").Writes(LogLevel::kDebug));
}

}  // namespace
}  // namespace vedette::base
