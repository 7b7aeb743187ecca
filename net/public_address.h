#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Which addresses a tenant's URL may reach (G9), and whose address a request comes from. Pure.
namespace vedette::net {

// An IPv4 or IPv6 address as bytes; IPv4 in the first four.
struct IpAddress {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};

  bool operator==(const IpAddress&) const = default;
  std::string ToString() const;
  // Canonical text forms only (inet_pton); no brackets, no zone.
  static std::optional<IpAddress> Parse(std::string_view text);
};

// A CIDR of the operator's allow list.
struct Cidr {
  IpAddress address;
  int prefix_bits;
  bool Contains(const IpAddress& ip) const;
  static std::optional<Cidr> Parse(std::string_view text);  // "10.0.0.0/8", "::1/128", "127.0.0.1"
};

// False for every address that is not on the public internet. An IPv4-mapped IPv6 address is
// checked as IPv4; of IPv6 only 2000::/3 minus its special blocks is public.
bool IsPublicAddress(const IpAddress& ip);

// The allow list and the rule together. Immutable; any thread.
class AddressPolicy {
 public:
  // Throws std::invalid_argument naming the entry that is no CIDR.
  explicit AddressPolicy(const std::vector<std::string>& allow);
  bool Allows(const IpAddress& ip) const;
  // The allow list is not empty: names that stay inside by convention (*.local, *.internal) may be
  // given, and are checked by the addresses they resolve to.
  bool OpensAny() const { return !allow_.empty(); }

 private:
  std::vector<Cidr> allow_;
};

// The address of the client: the peer's, or where that is a trusted proxy's, the last one of
// `forwarded_for` (the values of X-Forwarded-For, in order) that is no trusted proxy's. What stands
// before it, the client itself may have written. An entry that is no address ends the search.
std::string ClientAddress(const std::string& peer,
                          const std::vector<std::string_view>& forwarded_for,
                          const std::vector<Cidr>& trusted);

// A tenant's URL in parts, as checked.
struct TenantUrl {
  std::string scheme;                // http, https
  std::string host;                  // lower case, without brackets; a literal in canonical form
  int port;                          // the scheme's where none is given
  std::string path;                  // as given, without the query; may be empty
  std::string text;                  // as given
  std::size_t rest_at = 0;           // where path and query begin in the text
  std::optional<IpAddress> literal;  // where the host is an address in any spelling

  std::string_view rest() const { return std::string_view(text).substr(rest_at); }
};

struct UrlError {
  std::string message;  // one sentence that says which rule is broken
};

// Splits and checks a tenant's URL: at most 2083 characters, http or https, no user:password, no
// fragment, no control characters or spaces; a host that is a literal in any spelling (0x7f.1,
// 2130706433, [::ffff:127.0.0.1], NAT64, ...), `localhost`, `*.localhost`, `*.local` or
// `*.internal` must be allowed by `policy`. Names are checked later, at every connection, by
// address. Exactly one of the two is set.
struct TenantUrlResult {
  std::optional<TenantUrl> url;
  std::optional<UrlError> error;
};
TenantUrlResult ParseTenantUrl(std::string_view text, const AddressPolicy& policy);

// The address of this machine from which packets to `peer` leave, by the system's routes. Nothing
// is sent. Empty where there is no route.
std::optional<IpAddress> LocalAddressTowards(const IpAddress& peer);

}  // namespace vedette::net
