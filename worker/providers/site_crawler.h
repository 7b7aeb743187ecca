#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/failure.h"
#include "domain/monitor/observation.h"
#include "html/fetch.h"
#include "worker/providers/may_call.h"

// Pages that are asked for on behalf of a row.
namespace vedette::worker {

// Fetches as html::Fetcher does, but sends none of the page's requests for a row that nobody waits
// for any more: `may_call` is asked when the request has its turn at the host, which may be long
// after the fetch has begun. Where it says no, the failure is kLookupUnheld.
void FetchHeld(html::Fetcher& fetcher, html::FetchRequest request, const MayCall& may_call,
               html::ReadPage read, std::function<void(html::Fetched)> done);

// Whether a failure of FetchHeld says nothing of the page: it is this process's, or kLookupUnheld.
bool SaysNothing(const domain::Failure& failure);

// The product token of robots.txt.
inline constexpr std::string_view kRobotsProduct = "vedette";
// Pages that are remembered to be read next.
inline constexpr std::size_t kNextPagesMax = 64;

// The beginning of the URLs of a host: "https://acme.com". Tests stand in for https.
using OriginOf = std::function<std::string(const std::string& host)>;
OriginOf OverHttps();

// What a reader made of one page; providers add what they look for.
struct SitePage : html::Reading {
  std::string url;                // the last one, after redirects
  std::vector<std::string> next;  // absolute URLs, the best first
  std::size_t bytes() const override { return sizeof *this; }
};

// One site, or one page of it.
struct SiteVisit {
  std::vector<std::string> origins;  // the first one that answers counts
  std::string path = "/";            // of the first page, with its query
  int pages_max = 1;                 // robots.txt not counted
};

struct CrawlRequest {
  base::Uuid org_id;
  std::vector<SiteVisit> visits;
  std::chrono::milliseconds timeout{};  // of all of them
  std::size_t page_bytes_max = 0;
  MayCall may_call{};
  // Is told of a site or a page that cannot be read now; else it is passed over in silence.
  std::function<void(const domain::Failure&)> on_unread{};
};

// Crawls sites, one page after another, in the order of the visits:
//
//   robots.txt of an origin --no answer--> robots.txt of the next origin --no answer--> next visit
//          |                                  |
//          +----------------+-----------------+
//                           v
//                     first page --> next page --> ... --> next visit, or the end
//
// Every URL is validated (G9), and pages are read in turns with other readers (G10). What
// robots.txt forbids is not read; one that a server cannot give now (a 5xx) forbids everything (RFC
// 9309, 2.3.1). Pages of other hosts are left alone, as robots.txt speaks for its own. Loop thread
// only.
class SiteCrawler {
 public:
  enum class Go { kOn, kEnough };
  // On a thread of the pool; reads nothing but its arguments. Null: the page says nothing.
  using Read = std::function<std::shared_ptr<const SitePage>(const html::FetchedPage& page,
                                                             html::ReadingTime& time)>;
  using OnPage = std::function<Go(const SitePage& page)>;
  // The failure is what this process lacks (overloaded, shutdown), or kLookupUnheld. A site that
  // cannot be read is none.
  using Done = std::function<void(std::optional<domain::Failure>)>;

  // Everything handed in must outlive this object.
  SiteCrawler(const base::Clock& clock, html::Fetcher& fetcher);
  ~SiteCrawler();  // callbacks of what is under way are dropped

  // `done` exactly once, perhaps from inside Start.
  void Start(CrawlRequest request, Read read, OnPage on_page, Done done);

 private:
  class Crawl;
  struct Dependencies;
  const std::shared_ptr<const Dependencies> deps_;
};

}  // namespace vedette::worker
