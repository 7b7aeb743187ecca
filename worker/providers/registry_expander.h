#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/investigation/finding.h"
#include "html/fetch.h"
#include "lease/live.h"
#include "worker/providers/expander.h"

namespace vedette::worker {

// A public registry that answers one GET about a subject.
struct Registry {
  std::string_view id;
  // What is asked; empty: the registry knows nothing of such a subject.
  std::function<std::string(const domain::Subject&)> url;
  // On a thread that reads pages.
  std::vector<domain::Finding> (*read)(const base::Uuid& investigation_id,
                                       const domain::Subject& subject, const std::string& url,
                                       std::string_view body);
};

// The registration of domains and of networks (RFC 9082), under a server's base URL; a server that
// knows who has it redirects there.
Registry RdapRegistry(std::string base_url);
// Logs of certificates, as crt.sh searches them.
Registry CertificateRegistry(std::string base_url);

// Looks a subject up in a registry, which so learns it. Answers come and are read as pages do:
// every URL is validated, hosts are asked in turns. Where there is no answer, nothing is found. Its
// failures: those of the process, overloaded and shutdown.
class RegistryExpander final : public Expander {
 public:
  static constexpr std::string_view kRdap = "rdap";
  static constexpr std::string_view kCertificates = "ct";
  static constexpr std::size_t kAnswerBytesMax = 4 << 20;
  static constexpr std::chrono::milliseconds kTimeMax{30'000};

  // Everything handed in must outlive this object.
  RegistryExpander(html::Fetcher& fetcher, Registry registry);
  ~RegistryExpander() override;

  std::string_view id() const override { return registry_.id; }
  bool Takes(domain::SubjectKind type) const override;
  void Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) override;

 private:
  html::Fetcher& fetcher_;
  const Registry registry_;
  lease::Live live_;
};

// What public registries say of a subject. Pure; what cannot be read gives nothing.

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
