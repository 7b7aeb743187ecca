#include "rest/request_id.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "base/uuid.h"

namespace vedette::rest {
namespace {

constexpr std::size_t kRequestIdCharsMax = 128;

bool IsSane(std::string_view id) {
  if (id.empty() || id.size() > kRequestIdCharsMax) return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return base::IsAsciiDigit(c) || base::IsAsciiLetter(c) || c == '-' || c == '_' || c == '.' ||
           c == ':';
  });
}

}  // namespace

std::string RequestIdOf(const net::ServerRequest& request) {
  const std::string_view given = request.Header("x-request-id");
  return IsSane(given) ? std::string(given) : base::Uuid::V4().ToString();
}

}  // namespace vedette::rest
