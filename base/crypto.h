#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// OpenSSL and argon2, with their errors turned into exceptions (std::runtime_error). Every function
// is safe on any thread. Byte strings are std::string.
namespace vedette::base {

std::string Sha256(std::string_view data);  // 32 bytes
// The digest of both texts, one behind the other.
std::string Sha256(std::string_view first, std::string_view second);
std::string Sha1(std::string_view data);                              // 20 bytes
std::string HmacSha256(std::string_view key, std::string_view data);  // 32 bytes

// Random bytes of the operating system's generator.
std::string RandomBytes(std::size_t n);

// `n` characters of 0-9A-Za-z, uniformly distributed.
std::string RandomBase62(std::size_t n);

int HexValue(char digit);                      // -1: none
std::string HexEncode(std::string_view data);  // lower case
std::optional<std::string> HexDecode(std::string_view hex);

// Takes the same time whatever the contents; false at once when the lengths differ.
bool ConstantTimeEqual(std::string_view a, std::string_view b);

// AES-256-GCM. `key` is 32 bytes. The sealed form is nonce (12) || ciphertext || tag (16).
// `associated` is authenticated, not stored: the same must be given to open.
std::string AeadSeal(std::string_view key, std::string_view plaintext, std::string_view associated);
// Empty where the key, the data or the associated text is not what was sealed.
std::optional<std::string> AeadOpen(std::string_view key, std::string_view sealed,
                                    std::string_view associated);

// Base64 with the URL's alphabet and without padding (RFC 4648, section 5), as JOSE writes it
// (RFC 7515, section 2). Pure.

std::string Base64UrlEncode(std::string_view data);

// Strict, so that a text has one spelling: empty for padding, white space, a character outside the
// alphabet, a length that no data has, and bits at the end that stand for nothing.
std::optional<std::string> Base64UrlDecode(std::string_view text);

// Passwords, as argon2id (RFC 9106) keeps them. Both calls take about 50 ms of the processor and
// kPasswordMemoryKiB of memory, on purpose. Any thread.

inline constexpr unsigned kPasswordMemoryKiB = 19'456;
inline constexpr unsigned kPasswordPasses = 2;

// The password in the form that is stored: "$argon2id$v=19$m=...", with its random salt and its
// costs. Throws std::runtime_error where there is no memory.
std::string HashPassword(std::string_view password);

// Whether `stored` is of this password. False for a text that is none of HashPassword's. Throws
// std::runtime_error where there is no memory.
bool IsPassword(std::string_view password, const std::string& stored);

// How many X.509 certificates a text in PEM holds; empty where one of its blocks cannot be read,
// for which a TLS client refuses the whole bundle. Any thread.
std::optional<std::size_t> CountCertificates(std::string_view pem);

}  // namespace vedette::base
