#include "base/crypto.h"

#include <gtest/gtest.h>

namespace vedette::base {
namespace {

TEST(Password, IsKnownAgainAndNoOtherIs) {
  const std::string stored = HashPassword("correct horse");
  EXPECT_TRUE(IsPassword("correct horse", stored));
  EXPECT_FALSE(IsPassword("correct horse ", stored));
  EXPECT_FALSE(IsPassword("", stored));
}

TEST(Password, IsStoredWithItsCostsAndASaltOfItsOwn) {
  const std::string stored = HashPassword("a");
  EXPECT_TRUE(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$")) << stored;
  EXPECT_NE(HashPassword("a"), stored);
  EXPECT_EQ(stored.find('\0'), std::string::npos);
}

TEST(Password, ATextThatIsNoneIsNobodys) {
  EXPECT_FALSE(IsPassword("a", ""));
  EXPECT_FALSE(IsPassword("a", "$argon2id$"));
}

}  // namespace
}  // namespace vedette::base
