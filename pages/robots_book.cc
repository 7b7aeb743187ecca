#include "pages/robots_book.h"

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/text.h"
#include "pages/robots_reading.h"

namespace vedette::pages {
namespace {

// "https://a.example:8443" of an address, and its path with the query.
std::pair<std::string, std::string> SiteAndPath(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t path = std::min(url.find_first_of("/?", host), url.size());
  std::string rest(url.substr(path));
  if (!rest.starts_with('/')) rest.insert(0, 1, '/');
  return {base::AsciiLower(url.substr(0, path)), std::move(rest)};
}

std::optional<domain::Failure> RefusalOf(const Robots& robots, std::string_view url) {
  if (robots.Allows(SiteAndPath(url).second)) return std::nullopt;
  return domain::Failure{
      "robots", "The site's robots.txt does not allow that the page is fetched.", false, {}};
}

}  // namespace

// Files that are on their way when the book ends find nobody.
struct RobotsBook::Impl : std::enable_shared_from_this<RobotsBook::Impl> {
  struct Waiting {
    FetchRequest page;
    Done done;
  };
  struct Known {
    Robots robots;
    std::chrono::nanoseconds read_at{};  // since boot
  };

  Impl(Fetcher& f, const base::Clock& c, std::string_view user_agent)
      : fetcher(f),
        clock(c),
        product(user_agent.substr(0, std::min(user_agent.find_first_of("/ "), user_agent.size()))) {
  }

  void Ask(const FetchRequest& page, Done done);
  void Read(const std::string& site);
  void OnRead(const std::string& site, Fetched fetched);
  void Keep(const std::string& site, Robots robots);

  Fetcher& fetcher;
  const base::Clock& clock;
  const std::string product;
  std::unordered_map<std::string, Known> known;
  std::unordered_map<std::string, std::deque<Waiting>> waiting;  // the first one's request is made
};

void RobotsBook::Impl::Ask(const FetchRequest& page, Done done) {
  const std::string site = SiteAndPath(page.url).first;
  const auto it = known.find(site);
  if (it != known.end() && clock.SinceBoot() - it->second.read_at < kRobotsKnownMax) {
    return done(RefusalOf(it->second.robots, page.url));
  }
  auto& waits = waiting[site];
  waits.push_back({page, std::move(done)});
  if (waits.size() == 1) Read(site);
}

void RobotsBook::Impl::Read(const std::string& site) {
  const FetchRequest& page = waiting.at(site).front().page;
  FetchRequest file;
  file.org_id = page.org_id;
  file.url = site + "/robots.txt";
  file.body_bytes_max = kRobotsBytesMax;
  file.timeout = page.timeout;
  file.turn_wait_max = page.turn_wait_max;
  file.thread_wait_max = page.thread_wait_max;
  file.on_turn = page.on_turn;
  fetcher.Fetch(std::move(file), ReadRobotsFor(product),
                [weak = weak_from_this(), site](Fetched fetched) {
                  if (const auto self = weak.lock()) self->OnRead(site, std::move(fetched));
                });
}

void RobotsBook::Impl::OnRead(const std::string& site, Fetched fetched) {
  const auto* failure = std::get_if<domain::Failure>(&fetched);
  const bool absent =
      failure != nullptr && failure->error_class == "http_status" && !failure->retryable;
  const bool too_long = failure != nullptr && failure->error_class == "body_too_large";
  if (failure != nullptr && !absent && !too_long) {
    auto& waits = waiting.at(site);
    const Done done = std::move(waits.front().done);
    waits.pop_front();
    if (waits.empty()) {
      waiting.erase(site);
    } else {
      Read(site);
    }
    domain::Failure why = *failure;
    why.message = "The site's robots.txt cannot be read: " + why.message;
    return done(std::move(why));
  }
  // A file that is longer than anybody has to read says nothing that counts.
  Robots robots;
  if (failure == nullptr) robots = RobotsOf(fetched);
  Keep(site, robots);
  for (const Waiting& waited : std::exchange(waiting[site], {})) {
    waited.done(RefusalOf(robots, waited.page.url));
  }
  if (const auto it = waiting.find(site); it != waiting.end() && it->second.empty()) {
    waiting.erase(it);
  }
}

void RobotsBook::Impl::Keep(const std::string& site, Robots robots) {
  const auto now = clock.SinceBoot();
  if (known.size() >= kRobotsSitesMax) {
    std::erase_if(known,
                  [&](const auto& one) { return now - one.second.read_at >= kRobotsKnownMax; });
    if (known.size() >= kRobotsSitesMax) known.clear();
  }
  known.insert_or_assign(site, Known{std::move(robots), now});
}

RobotsBook::RobotsBook(Fetcher& fetcher, const base::Clock& clock, std::string_view user_agent)
    : impl_(std::make_shared<Impl>(fetcher, clock, user_agent)) {}

RobotsBook::~RobotsBook() = default;

void RobotsBook::Ask(const FetchRequest& page, Done done) {
  impl_->Ask(page, std::move(done));
}

}  // namespace vedette::pages
