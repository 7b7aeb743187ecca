#include "lease/health_log.h"

#include <gtest/gtest.h>

#include <string>

namespace vedette::lease {
namespace {

TEST(HealthLog, EachMonitorThatTurnsHasALine) {
  const base::Uuid failing = base::Uuid::V4();
  const base::Uuid working = base::Uuid::V4();
  testing::internal::CaptureStderr();
  LogHealthChanges(base::Logger(base::LogLevel::kInfo, base::LogFormat::kText),
                   {{failing, base::Uuid::V4(), true, "dns", "https://shop.example"},
                    {working, base::Uuid::V4(), false}});
  const std::string lines = testing::internal::GetCapturedStderr();
  const std::size_t fails = lines.find("a monitor fails");
  const std::size_t works = lines.find("a monitor works again");
  ASSERT_NE(fails, std::string::npos) << lines;
  ASSERT_NE(works, std::string::npos) << lines;
  EXPECT_LT(fails, lines.find(failing.ToString()));
  EXPECT_LT(lines.find(failing.ToString()), works);
  EXPECT_LT(lines.find("dns"), works) << "why it fails";
  EXPECT_LT(lines.find("https://shop.example"), works) << lines;
  EXPECT_LT(works, lines.find(working.ToString()));
  EXPECT_NE(lines.find(working.ToString()), std::string::npos) << lines;
}

}  // namespace
}  // namespace vedette::lease
