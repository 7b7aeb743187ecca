#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "config/config.h"
#include "pages/fetch.h"
#include "worker/providers/provider.h"

namespace vedette::worker {

// Reads the company's own site: robots.txt, the first page, then the pages that may name people
// (site_reading.h), until one of them gives an address of the person.
//
//   robots.txt of DOMAIN --no answer--> robots.txt of www.DOMAIN --no answer--> nothing
//          |                                  |
//          +----------------+-----------------+
//                           v
//                     first page --> next page --> ... --> candidates, or nothing
//
// At most [email] pages_max pages, in site_timeout_ms, in turns with other readers of pages (G10);
// every URL is judged (G9). What robots.txt forbids is not read; one that a server cannot give
// now (a 5xx) forbids everything (RFC 9309, 2.3.1). That a site cannot be read is no failure of
// this provider: it has found nothing. Its failures: overloaded, shutdown.
class WebsiteProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "website";
  // The product token of robots.txt.
  static constexpr std::string_view kProduct = "vedette";

  // The beginning of the URLs of a host: "https://acme.com".
  using OriginOf = std::function<std::string(const std::string& host)>;

  // Everything handed in must outlive this object. `origin_of` stands for https in tests.
  WebsiteProvider(const base::Clock& clock, pages::Fetcher& fetcher,
                  const config::EmailConfig& config, OriginOf origin_of = {});
  ~WebsiteProvider() override;  // callbacks of what is under way are dropped

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  class Walk;
  struct Parts;
  const std::shared_ptr<const Parts> parts_;
};

}  // namespace vedette::worker
