#include <gtest/gtest.h>

#include "tests/support/hang_watch.h"

// GoogleTest's own main, and a test that hangs is named and ended.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new vedette::test::HangWatch);
  return RUN_ALL_TESTS();
}
