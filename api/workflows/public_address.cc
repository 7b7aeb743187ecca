#include "api/workflows/public_address.h"

#include <algorithm>

#include "base/text.h"
#include "config/config.h"

namespace vedette::api {
namespace {

constexpr std::size_t kHostCharsMax = 255;

bool IsHost(std::string_view text) {
  const auto may = [](char c) {
    return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || c == '.' || c == '-' || c == ':' ||
           c == '[' || c == ']';
  };
  return !text.empty() && text.size() <= kHostCharsMax &&
         std::all_of(text.begin(), text.end(), may);
}

}  // namespace

std::string PublicAddress(const config::Config& config, const net::ServerRequest& request) {
  if (!config.public_url.empty()) {
    const std::string& url = config.public_url;
    return url.ends_with('/') ? url.substr(0, url.size() - 1) : url;
  }
  const std::string_view host = request.Header("host");
  if (!IsHost(host)) return {};
  const bool secure = request.Header("x-forwarded-proto") == "https";
  return (secure ? "https://" : "http://") + std::string(host);
}

}  // namespace vedette::api
