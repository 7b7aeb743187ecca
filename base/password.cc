#include "base/password.h"

#include <argon2.h>

#include <stdexcept>

#include "base/crypto.h"

namespace vedette::base {
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

}  // namespace vedette::base
