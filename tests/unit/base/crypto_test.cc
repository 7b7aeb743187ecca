#include "base/crypto.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace vedette::base {
namespace {

const std::string kKey(32, 'k');

// FIPS 180-2, appendices A.1 and B.1.
TEST(Digest, MatchesPublishedVectors) {
  EXPECT_EQ(HexEncode(Sha1("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(HexEncode(Sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HexEncode(Sha256("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Digest, OneDoesNotLeakIntoTheNextNorAcrossThreads) {
  const std::string sha1 = Sha1("abc");
  const std::string sha256 = Sha256("abc");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 1000; ++i) {
        Sha1(std::to_string(i));
        if (Sha1("abc") != sha1 || Sha256("abc") != sha256) ++wrong[t];
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

// RFC 4231, test cases 2 and 6.
TEST(Hmac, MatchesPublishedVectors) {
  EXPECT_EQ(HexEncode(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(HexEncode(HmacSha256(std::string(131, '\xaa'),
                                 "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(HexEncode(HmacSha256({}, {})),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

// The context of the last call, and its key, are kept.
TEST(Hmac, DependsOnItsOwnKeyAlone) {
  const std::string of_one = HmacSha256("one", "text");
  EXPECT_EQ(HmacSha256("one", "text"), of_one);
  const std::string of_none = HmacSha256({}, "text");
  EXPECT_NE(of_none, of_one);
  EXPECT_EQ(HmacSha256("", "text"), of_none);
  EXPECT_NE(HmacSha256("another", "text"), of_none);
  EXPECT_EQ(HmacSha256({}, "text"), of_none);
  EXPECT_EQ(HmacSha256("one", "text"), of_one);
  std::string of_another_thread;
  std::thread([&] { of_another_thread = HmacSha256("one", "text"); }).join();
  EXPECT_EQ(of_another_thread, of_one);
}

TEST(Random, DiffersAndHasTheLengthAskedFor) {
  EXPECT_EQ(RandomBytes(0), "");
  EXPECT_EQ(RandomBytes(16).size(), 16U);
  EXPECT_NE(RandomBytes(16), RandomBytes(16));
}

TEST(Random, Base62IsUniformOverItsAlphabet) {
  constexpr std::size_t kDrawn = 62 * 2000;
  std::map<char, int> counts;
  for (const char c : RandomBase62(kDrawn)) ++counts[c];
  ASSERT_EQ(counts.size(), 62U);
  for (const auto& [c, count] : counts) {
    EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c))) << c;
    // 2000 expected; 400 are nine standard deviations. A plain modulo is off by 500 for some.
    EXPECT_NEAR(count, 2000, 400) << c;
  }
}

TEST(Hex, ReadsEitherCaseAndNothingElse) {
  EXPECT_EQ(HexEncode(std::string("\x00\xff", 2)), "00ff");
  EXPECT_EQ(HexDecode("00fF"), std::string("\x00\xff", 2));
  EXPECT_EQ(HexDecode(""), "");
  EXPECT_EQ(HexDecode("0"), std::nullopt);
  EXPECT_EQ(HexDecode("0g"), std::nullopt);
  EXPECT_EQ(HexDecode(" 0"), std::nullopt);
}

TEST(ConstantTimeEqual, ComparesContentsAndLengths) {
  EXPECT_TRUE(ConstantTimeEqual("", ""));
  EXPECT_TRUE(ConstantTimeEqual("abc", "abc"));
  EXPECT_FALSE(ConstantTimeEqual("abc", "abd"));
  EXPECT_FALSE(ConstantTimeEqual("abc", "abcd"));
}

TEST(Aead, OpensWhatWasSealed) {
  for (const std::string& plaintext :
       {std::string(), std::string("secret"), std::string(5000, 'x')}) {
    for (const char* associated : {"", "org"}) {
      const std::string sealed = AeadSeal(kKey, plaintext, associated);
      EXPECT_EQ(sealed.size(), 12 + plaintext.size() + 16);
      EXPECT_EQ(AeadOpen(kKey, sealed, associated), plaintext);
    }
  }
}

TEST(Aead, SealsTheSameTextDifferentlyEachTime) {
  EXPECT_NE(AeadSeal(kKey, "secret", ""), AeadSeal(kKey, "secret", ""));
}

TEST(Aead, OpensNothingThatWasTouched) {
  const std::string sealed = AeadSeal(kKey, "secret", "org");
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string touched = sealed;
    touched[i] = static_cast<char>(touched[i] ^ 1);
    EXPECT_EQ(AeadOpen(kKey, touched, "org"), std::nullopt) << i;
  }
  EXPECT_EQ(AeadOpen(kKey, sealed, "another org"), std::nullopt);
  EXPECT_EQ(AeadOpen(std::string(32, 'z'), sealed, "org"), std::nullopt);
  EXPECT_EQ(AeadOpen("short", sealed, "org"), std::nullopt);
  EXPECT_EQ(AeadOpen(kKey, sealed.substr(0, 27), "org"), std::nullopt);
  EXPECT_EQ(AeadOpen(kKey, "", "org"), std::nullopt);
  EXPECT_THROW(AeadSeal("short", "secret", ""), std::runtime_error);
}

}  // namespace
}  // namespace vedette::base
