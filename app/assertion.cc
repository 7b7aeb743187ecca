#include "app/assertion.h"

#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/base64url.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/signing_key.h"
#include "base/uuid.h"

namespace vedette::app {
namespace {

constexpr std::chrono::seconds kLife{60};

std::string ReadKeyFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("the key's file " + path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string MakeAssertion(const AssertionOptions& options) {
  const auto key = base::SigningKey::FromPem(ReadKeyFile(options.key_file));
  const auto algorithm = key.DefaultAlgorithm();
  const auto now = std::chrono::floor<std::chrono::seconds>(base::SystemClock().Now());
  base::Json header{{"alg", base::SignatureAlgorithmName(algorithm)}, {"typ", "JWT"}};
  if (!options.kid.empty()) header["kid"] = options.kid;
  const base::Json claims{{"iss", options.client_id},
                          {"sub", options.client_id},
                          {"aud", options.audience},
                          {"jti", base::Uuid::V4().ToString()},
                          {"exp", (now + kLife).time_since_epoch().count()}};
  const std::string input = base::Base64UrlEncode(base::DumpJson(header)) + "." +
                            base::Base64UrlEncode(base::DumpJson(claims));
  return input + "." + base::Base64UrlEncode(key.Sign(algorithm, input));
}

}  // namespace vedette::app
