#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.h"
#include "domain/investigation/finding.h"

// What public registries say of a subject. Pure; what cannot be read gives nothing.
namespace vedette::worker {

// Domains of one subject that are taken from certificates.
inline constexpr std::size_t kCertificateNamesMax = 90;

// The findings of an answer of RDAP (RFC 9083) about a domain or an ip, from `url`:
//
//   domain  when it was registered, changed and expires; its status; its name servers, its
//           registrar, and who registered it, with the addresses of those who answer for it
//   ip      the name, the range and the country of its network, and who registered that
//
// What a registry has redacted is left out.
std::vector<domain::Finding> RdapFindings(const base::Uuid& investigation_id,
                                          const domain::Subject& subject, const std::string& url,
                                          std::string_view body);

// The findings of a search for a domain in logs of certificates, as crt.sh answers it: the names
// below the domain that certificates were issued for, each once.
std::vector<domain::Finding> CertificateFindings(const base::Uuid& investigation_id,
                                                 const domain::Subject& subject,
                                                 const std::string& url, std::string_view body);

}  // namespace vedette::worker
