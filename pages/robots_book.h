#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "domain/failure.h"
#include "pages/fetch.h"

namespace vedette::pages {

// How long a site's robots.txt is believed, and of how many sites it is kept.
inline constexpr std::chrono::hours kRobotsKnownMax{1};
inline constexpr std::size_t kRobotsSitesMax = 10'000;

// Whether the robots.txt of a page's site lets us fetch the page (RFC 9309). The file is asked for
// once while it is known; those who ask meanwhile wait for that answer. Without the file (a status
// of 4xx but 408, 425 and 429) everything is allowed; where it cannot be had now, nothing is, and
// that is a retryable failure. Loop thread only; `fetcher` and `clock` must outlive this object.
//
//   unknown ── the first who asks ──▶ being read ──▶ known for kRobotsKnownMax ──▶ unknown
//      ▲                                  │
//      └── it failed: he is told so, and the next who waits asks again
class RobotsBook {
 public:
  // `user_agent`: its product token is what rules are for.
  RobotsBook(Fetcher& fetcher, const base::Clock& clock, std::string_view user_agent);
  ~RobotsBook();  // those who wait get no answer
  RobotsBook(const RobotsBook&) = delete;
  RobotsBook& operator=(const RobotsBook&) = delete;

  // Why the page that `page` asks for must not be fetched, or nothing; perhaps from inside Ask. The
  // file is fetched in the same organisation's turns and within the same times.
  using Done = std::function<void(std::optional<domain::Failure>)>;
  void Ask(const FetchRequest& page, Done done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vedette::pages
