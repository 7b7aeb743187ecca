// A URL that is accepted without an allow list never names an address that is not public.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "net/public_address.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vedette;
  static const net::AddressPolicy policy({});
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const net::TenantUrlResult judged = net::ParseTenantUrl(text, policy);
  if (judged.url.has_value() == judged.error.has_value()) std::abort();
  if (!judged.url) return 0;
  const net::TenantUrl& url = *judged.url;
  if (url.scheme != "http" && url.scheme != "https") std::abort();
  if (url.host.empty() || url.port < 1 || url.port > 65535 || text.size() > 2083) std::abort();
  if (url.literal && !net::IsPublicAddress(*url.literal)) std::abort();
  // Parsing what was accepted again changes nothing.
  if (!net::ParseTenantUrl(url.text, policy).url) std::abort();
  return 0;
}
