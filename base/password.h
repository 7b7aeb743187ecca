#pragma once

#include <string>
#include <string_view>

// Passwords, as argon2id (RFC 9106) keeps them. Both calls take about 50 ms of the processor and
// kPasswordMemoryKiB of memory, on purpose. Any thread.
namespace vedette::base {

inline constexpr unsigned kPasswordMemoryKiB = 19'456;
inline constexpr unsigned kPasswordPasses = 2;

// The password in the form that is stored: "$argon2id$v=19$m=...", with its random salt and its
// costs. Throws std::runtime_error where there is no memory.
std::string HashPassword(std::string_view password);

// Whether `stored` is of this password. False for a text that is none of HashPassword's. Throws
// std::runtime_error where there is no memory.
bool IsPassword(std::string_view password, const std::string& stored);

}  // namespace vedette::base
