#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "domain/monitor/failure.h"
#include "html/fetch.h"

namespace vedette::html {

// The most bytes of a file; the rest is not read (RFC 9309, 2.5 asks for 500 KiB at least).
inline constexpr std::size_t kRobotsBytesMax = 512 * 1024;
inline constexpr std::size_t kRobotsRulesMax = 4096;
// Comparisons of a character for one path, about a millisecond of the loop. 4,096 rules with a "*"
// each and a path of 200 characters take fewer.
inline constexpr std::size_t kRobotsStepsMax = 1'000'000;

// What a site's robots.txt lets one product read (RFC 9309). Pure. The group of the product counts,
// else that of "*"; the longest rule that matches a path wins, and "allow" among equal ones.
class Robots {
 public:
  // No rule: everything is allowed.
  Robots() = default;
  // `product`: the product token of our user agent, without its version.
  static Robots Parse(std::string_view text, std::string_view product);

  // `path`: of the URL, with its query; begins with "/". Spelled in any way, as the rules. What
  // takes more than kRobotsStepsMax to find out is not allowed.
  bool Allows(std::string_view path) const;

 private:
  struct Rule {
    std::string pattern;  // may have "*", and "$" at its end
    bool allows;
  };
  std::vector<Rule> rules_;
};

// A robots.txt as a page that is fetched and read like any other.

struct RobotsReading final : Reading {
  Robots robots;
  std::size_t bytes() const override { return sizeof *this; }
};

// Reads the file on a thread of the pool, for the product token `product`.
inline ReadPage ReadRobotsFor(std::string product) {
  return [product = std::move(product)](const FetchedPage& file, ReadingTime&) -> Fetched {
    auto reading = std::make_shared<RobotsReading>();
    reading->robots = Robots::Parse(file.body, product);
    return std::shared_ptr<const Reading>(std::move(reading));
  };
}

// What ReadRobotsFor has read; `fetched` is no failure.
inline const Robots& RobotsOf(const Fetched& fetched) {
  return static_cast<const RobotsReading&>(*std::get<std::shared_ptr<const Reading>>(fetched))
      .robots;
}

// How long a site's robots.txt is believed, and of how many sites it is kept.
inline constexpr std::chrono::hours kRobotsKnownMax{1};
inline constexpr std::size_t kRobotsSitesMax = 10'000;

// Whether the robots.txt of a page's site lets us fetch the page (RFC 9309). The file is asked for
// once while it is known; those who ask meanwhile wait for that answer. Each organisation asks for
// it in its own turns, so that nobody waits behind another one's pages (G10), and the first answer
// is that of all. Without the file (a status of 4xx but 408, 425 and 429) everything is allowed;
// where it cannot be had now, nothing is, and that is a retryable failure. Loop thread only;
// `fetcher` and `clock` must outlive this object.
//
//   unknown ── the first who asks ──▶ being read ──▶ known for kRobotsKnownMax ──▶ unknown
//      ▲                                  │
//      └── it failed: all of the organisation who wait are told so, as their own times go on
//          meanwhile; where its page was not to be fetched any more, the next one asks
class RobotsCache {
 public:
  // `user_agent`: its product token is what rules are for.
  RobotsCache(Fetcher& fetcher, const base::Clock& clock, std::string_view user_agent);
  ~RobotsCache();  // those who wait get no answer
  RobotsCache(const RobotsCache&) = delete;
  RobotsCache& operator=(const RobotsCache&) = delete;

  // Why the page that `page` asks for must not be fetched, or nothing; perhaps from inside Ask. The
  // file is fetched in the same organisation's turns and within the same times.
  using Done = std::function<void(std::optional<domain::Failure>)>;
  void Ask(const FetchRequest& page, Done done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vedette::html
