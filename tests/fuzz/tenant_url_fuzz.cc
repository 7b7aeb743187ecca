// A URL that is accepted without an allow list never names an address that is not public.
#include <cstdlib>
#include <string_view>

#include "net/public_address.h"
#include "tests/fuzz/target.h"

namespace vedette {

FUZZ_TARGET(tenant_url, text) {
  static const net::AddressPolicy policy({});
  const net::TenantUrlResult parsed = net::ParseTenantUrl(text, policy);
  if (parsed.url.has_value() == parsed.error.has_value()) std::abort();
  if (!parsed.url) return;
  const net::TenantUrl& url = *parsed.url;
  if (url.scheme != "http" && url.scheme != "https") std::abort();
  if (url.host.empty() || url.port < 1 || url.port > 65535 || text.size() > 2083) std::abort();
  if (url.literal && !net::IsPublicAddress(*url.literal)) std::abort();
  // Parsing what was accepted again changes nothing.
  if (!net::ParseTenantUrl(url.text, policy).url) std::abort();
}

}  // namespace vedette
