#include "base/crypto.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <argon2.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

namespace vedette::base {
namespace {

constexpr std::size_t kAeadKeyBytes = 32;
constexpr std::size_t kAeadNonceBytes = 12;
constexpr std::size_t kAeadTagBytes = 16;
constexpr std::string_view kBase62 =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

struct FreeContext {
  void operator()(EVP_MD_CTX* ctx) const { EVP_MD_CTX_free(ctx); }
  void operator()(EVP_CIPHER_CTX* ctx) const { EVP_CIPHER_CTX_free(ctx); }
  void operator()(EVP_MAC_CTX* ctx) const { EVP_MAC_CTX_free(ctx); }
};
using DigestContext = std::unique_ptr<EVP_MD_CTX, FreeContext>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;
using MacContext = std::unique_ptr<EVP_MAC_CTX, FreeContext>;

[[noreturn]] void Fail(const char* what) {
  char reason[256] = "no reason given";
  if (const unsigned long code = ERR_get_error(); code != 0) {
    ERR_error_string_n(code, reason, sizeof reason);
  }
  ERR_clear_error();
  throw std::runtime_error(std::string("OpenSSL: ") + what + ": " + reason);
}

void Check(int result, const char* what) {
  if (result != 1) Fail(what);
}

const unsigned char* Bytes(std::string_view s) {
  return reinterpret_cast<const unsigned char*>(s.data());
}
unsigned char* Bytes(std::string& s) {
  return reinterpret_cast<unsigned char*>(s.data());
}

int Length(std::string_view s) {
  if (s.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::runtime_error("OpenSSL: input of more than 2 GiB");
  }
  return static_cast<int>(s.size());
}

// One context a thread, kept: a check's id is one SHA-1, and a fresh context with its implicit
// fetch of the algorithm would cost several times the hash itself.
std::string Digest(const EVP_MD* md, EVP_MD_CTX* ctx, std::string_view data,
                   std::string_view rest = {}) {
  if (ctx == nullptr) Fail("cannot create a digest context");
  std::string out(static_cast<std::size_t>(EVP_MD_get_size(md)), '\0');
  // A context that has this algorithm already is reset without looking the algorithm up again.
  const EVP_MD* type = EVP_MD_CTX_get0_md(ctx) == nullptr ? md : nullptr;
  Check(EVP_DigestInit_ex2(ctx, type, nullptr), "cannot start a digest");
  Check(EVP_DigestUpdate(ctx, data.data(), data.size()), "cannot compute a digest");
  if (!rest.empty()) {
    Check(EVP_DigestUpdate(ctx, rest.data(), rest.size()), "cannot compute a digest");
  }
  Check(EVP_DigestFinal_ex(ctx, Bytes(out), nullptr), "cannot finish a digest");
  return out;
}

}  // namespace

std::string Sha256(std::string_view data) {
  thread_local const DigestContext ctx(EVP_MD_CTX_new());
  return Digest(EVP_sha256(), ctx.get(), data);
}

std::string Sha256(std::string_view first, std::string_view second) {
  thread_local const DigestContext ctx(EVP_MD_CTX_new());
  return Digest(EVP_sha256(), ctx.get(), first, second);
}

std::string Sha1(std::string_view data) {
  thread_local const DigestContext ctx(EVP_MD_CTX_new());
  return Digest(EVP_sha1(), ctx.get(), data);
}

namespace {

MacContext NewHmac() {
  EVP_MAC* hmac = EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr);
  MacContext ctx(EVP_MAC_CTX_new(hmac));
  EVP_MAC_free(hmac);  // the context keeps it
  std::string digest = OSSL_DIGEST_NAME_SHA2_256;
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_end()};
  Check(ctx == nullptr ? 0 : EVP_MAC_CTX_set_params(ctx.get(), params), "no HMAC");
  return ctx;
}

}  // namespace

// A thread keeps its context: to look the algorithms up is four fifths of what the HMAC of a
// notification costs, and the key most of the rest; an attempt makes two with one key.
std::string HmacSha256(std::string_view key, std::string_view data) {
  thread_local const MacContext kContext = NewHmac();
  thread_local std::optional<std::string> last_key;  // that the context has
  // A caller's own text may be the key, and the last one a secret that it must not learn.
  if (last_key && ConstantTimeEqual(*last_key, key)) {
    Check(EVP_MAC_init(kContext.get(), nullptr, 0, nullptr), "cannot begin an HMAC");
  } else {
    last_key.reset();
    // An empty view may be null, which would stand for the last key.
    const auto* bytes = Bytes(key.empty() ? std::string_view("") : key);
    Check(EVP_MAC_init(kContext.get(), bytes, key.size(), nullptr), "cannot begin an HMAC");
    last_key = key;
  }
  std::string out(32, '\0');
  std::size_t written = 0;
  Check(EVP_MAC_update(kContext.get(), Bytes(data), data.size()), "cannot compute an HMAC");
  Check(EVP_MAC_final(kContext.get(), Bytes(out), &written, out.size()), "cannot end an HMAC");
  return out;
}

std::string RandomBytes(std::size_t n) {
  std::string out(n, '\0');
  if (n > 0) Check(RAND_bytes(Bytes(out), Length(out)), "no random bytes");
  return out;
}

std::string RandomBase62(std::size_t n) {
  // 248 = 4 x 62: a byte beyond is drawn again, or the first characters would be likelier.
  constexpr unsigned kUniform = 248;
  std::string out;
  out.reserve(n);
  while (out.size() < n) {
    for (const char c : RandomBytes(n - out.size() + 8)) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < kUniform && out.size() < n) out.push_back(kBase62[byte % kBase62.size()]);
    }
  }
  return out;
}

std::string HexEncode(std::string_view data) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(data.size() * 2);
  for (const char c : data) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

namespace {

constexpr auto kHexValues = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (int digit = 0; digit < 16; ++digit) {
    values[static_cast<std::uint8_t>("0123456789abcdef"[digit])] = static_cast<std::int8_t>(digit);
    values[static_cast<std::uint8_t>("0123456789ABCDEF"[digit])] = static_cast<std::int8_t>(digit);
  }
  return values;
}();

}  // namespace

int HexValue(char c) {
  return kHexValues[static_cast<std::uint8_t>(c)];
}

std::optional<std::string> HexDecode(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string out;
  out.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = HexValue(hex[i]);
    const int low = HexValue(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
  }
  return out;
}

bool ConstantTimeEqual(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string AeadSeal(std::string_view key, std::string_view plaintext,
                     std::string_view associated) {
  if (key.size() != kAeadKeyBytes) throw std::runtime_error("AES-256-GCM: the key is not 32 bytes");
  const CipherContext ctx(EVP_CIPHER_CTX_new());
  if (!ctx) Fail("cannot create a cipher context");

  const std::string nonce = RandomBytes(kAeadNonceBytes);
  std::string text(plaintext.size(), '\0');
  std::string tag(kAeadTagBytes, '\0');
  int written = 0;
  Check(EVP_EncryptInit_ex2(ctx.get(), EVP_aes_256_gcm(), Bytes(key), Bytes(nonce), nullptr),
        "cannot start to encrypt");
  if (!associated.empty()) {
    Check(EVP_EncryptUpdate(ctx.get(), nullptr, &written, Bytes(associated), Length(associated)),
          "cannot authenticate");
  }
  if (!plaintext.empty()) {
    Check(EVP_EncryptUpdate(ctx.get(), Bytes(text), &written, Bytes(plaintext), Length(plaintext)),
          "cannot encrypt");
  }
  unsigned char rest[16];
  Check(EVP_EncryptFinal_ex(ctx.get(), rest, &written), "cannot finish to encrypt");
  Check(EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_GET_TAG, kAeadTagBytes, tag.data()),
        "cannot read the tag");
  return nonce + text + tag;
}

std::optional<std::string> AeadOpen(std::string_view key, std::string_view sealed,
                                    std::string_view associated) {
  if (key.size() != kAeadKeyBytes || sealed.size() < kAeadNonceBytes + kAeadTagBytes) {
    return std::nullopt;
  }
  const CipherContext ctx(EVP_CIPHER_CTX_new());
  if (!ctx) Fail("cannot create a cipher context");

  const std::string_view nonce = sealed.substr(0, kAeadNonceBytes);
  const std::string_view text =
      sealed.substr(kAeadNonceBytes, sealed.size() - kAeadNonceBytes - kAeadTagBytes);
  std::string tag(sealed.substr(sealed.size() - kAeadTagBytes));
  std::string plaintext(text.size(), '\0');
  int written = 0;
  Check(EVP_DecryptInit_ex2(ctx.get(), EVP_aes_256_gcm(), Bytes(key), Bytes(nonce), nullptr),
        "cannot start to decrypt");
  if (!associated.empty()) {
    Check(EVP_DecryptUpdate(ctx.get(), nullptr, &written, Bytes(associated), Length(associated)),
          "cannot authenticate");
  }
  if (!text.empty()) {
    Check(EVP_DecryptUpdate(ctx.get(), Bytes(plaintext), &written, Bytes(text), Length(text)),
          "cannot decrypt");
  }
  Check(EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_SET_TAG, kAeadTagBytes, tag.data()),
        "cannot set the tag");
  unsigned char rest[16];
  if (EVP_DecryptFinal_ex(ctx.get(), rest, &written) != 1) {
    ERR_clear_error();
    return std::nullopt;
  }
  return plaintext;
}

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t kNone = 255;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  for (std::uint8_t& value : values) value = kNone;
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

}  // namespace

std::string Base64UrlEncode(std::string_view data) {
  std::string text;
  text.reserve((data.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  int count = 0;  // of the bits that are not written yet
  for (const char c : data) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[(bits >> (count - 6)) & 63];
  }
  if (count > 0) text += kAlphabet[(bits << (6 - count)) & 63];
  return text;
}

std::optional<std::string> Base64UrlDecode(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::string data;
  data.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;  // of the bits that are not taken yet
  for (const char c : text) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == kNone) return std::nullopt;
    bits = (bits << 6) | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    data += static_cast<char>((bits >> count) & 255);
  }
  if ((bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return data;
}

namespace {

constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kHashBytes = 32;

[[noreturn]] void Throw(int error) {
  throw std::runtime_error(std::string("argon2: ") + argon2_error_message(error));
}

}  // namespace

std::string HashPassword(std::string_view password) {
  const std::string salt = RandomBytes(kSaltBytes);
  std::string text(
      argon2_encodedlen(kPasswordPasses, kPasswordMemoryKiB, 1, kSaltBytes, kHashBytes, Argon2_id),
      '\0');
  const int error = argon2id_hash_encoded(kPasswordPasses, kPasswordMemoryKiB, 1, password.data(),
                                          password.size(), salt.data(), salt.size(), kHashBytes,
                                          text.data(), text.size());
  if (error != ARGON2_OK) Throw(error);
  text.resize(text.find('\0'));
  return text;
}

bool IsPassword(std::string_view password, const std::string& stored) {
  const int error = argon2id_verify(stored.c_str(), password.data(), password.size());
  if (error == ARGON2_MEMORY_ALLOCATION_ERROR) Throw(error);
  return error == ARGON2_OK;
}

namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(STACK_OF(X509_INFO) * blocks) const {
    sk_X509_INFO_pop_free(blocks, X509_INFO_free);
  }
};

}  // namespace

std::optional<std::size_t> CountCertificates(std::string_view pem) {
  const std::unique_ptr<BIO, Free> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const std::unique_ptr<STACK_OF(X509_INFO), Free> blocks(
      PEM_X509_INFO_read_bio(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (!blocks) return std::nullopt;
  std::size_t count = 0;
  for (int i = 0; i < sk_X509_INFO_num(blocks.get()); ++i) {
    if (sk_X509_INFO_value(blocks.get(), i)->x509 != nullptr) ++count;
  }
  return count;
}

}  // namespace vedette::base
