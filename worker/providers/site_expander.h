#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/investigation/finding.h"
#include "html/addresses_on_page.h"
#include "html/fetch.h"
#include "worker/providers/expander.h"

namespace vedette::worker {

// What a web page says of a subject: of a domain its first page, of a url that page.
//
//   robots.txt --allows--> the page --> findings
//       |
//       +--forbids, or cannot be given now--> nothing
//
// Pages are read in turns with other readers (G10), each URL is validated (G9), and each host asked
// no more often than its gap allows. A site that cannot be read has nothing. Its failures:
// overloaded, shutdown.
class SiteExpander final : public Expander {
 public:
  static constexpr std::string_view kId = "website";
  // The beginning of the URLs of a host: "https://acme.com".
  using OriginOf = std::function<std::string(const std::string& host)>;

  // Everything handed in must outlive this object. `origin_of` stands for https in tests.
  SiteExpander(const base::Clock& clock, html::Fetcher& fetcher, const config::EmailConfig& config,
               OriginOf origin_of = {});
  ~SiteExpander() override;

  std::string_view id() const override { return kId; }
  bool Takes(domain::SubjectKind type) const override;
  void Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) override;

 private:
  class Visit;
  struct Dependencies;
  const std::shared_ptr<const Dependencies> deps_;
};

// What a page says of a subject of an investigation. Pure.

inline constexpr std::size_t kPageLinksFoundMax = 40;  // of one page

// Addresses on the page, persons of its structured data, and where its links lead: pages of the
// same site as urls, other sites as domains. Each once. `url`: of the page, its only source.
std::vector<domain::Finding> PageFindings(const base::Uuid& investigation_id,
                                          const domain::Subject& subject, const std::string& url,
                                          const html::AddressesOnPage& page);

}  // namespace vedette::worker
