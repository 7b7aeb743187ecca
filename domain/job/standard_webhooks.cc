#include "domain/job/standard_webhooks.h"

#include <algorithm>
#include <utility>

#include "base/crypto.h"

namespace vedette::domain {
namespace {

// A digest of 32 bytes in base64 with the ordinary alphabet, where one character is missing to a
// multiple of four.
std::string DigestInBase64(std::string_view digest) {
  std::string text = base::Base64UrlEncode(digest);
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  text.push_back('=');
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> StandardWebhooksHeaders(
    const std::vector<std::string>& secrets, std::string_view id, std::int64_t unix_seconds,
    std::string_view body) {
  const std::string seconds = std::to_string(unix_seconds);
  std::string text;
  text.reserve(id.size() + seconds.size() + body.size() + 2);
  text.append(id).append(".").append(seconds).append(".").append(body);
  std::string signatures;
  for (const std::string& secret : secrets) {
    if (!signatures.empty()) signatures.push_back(' ');
    signatures.append("v1,").append(DigestInBase64(base::HmacSha256(secret, text)));
  }
  std::vector<std::pair<std::string, std::string>> headers;
  headers.reserve(3);
  headers.emplace_back("webhook-id", id);
  headers.emplace_back("webhook-timestamp", seconds);
  headers.emplace_back("webhook-signature", std::move(signatures));
  return headers;
}

}  // namespace vedette::domain
