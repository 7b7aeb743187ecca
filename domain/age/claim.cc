#include "domain/age/claim.h"

#include <string_view>

#include "base/text.h"

namespace vedette::domain {

std::string ClaimHost(const std::string& url) {
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return "";
  }
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) rest.remove_prefix(at + 1);
  rest = rest.substr(0, rest.find(':'));
  std::string host = base::AsciiLower(rest);
  if (host.starts_with("www.")) host.erase(0, 4);
  return host;
}

}  // namespace vedette::domain
