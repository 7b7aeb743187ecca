#include "pages/robots_book.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"

namespace vedette::pages {
namespace {

struct RobotsReading final : Reading {
  Robots robots;
  std::size_t bytes() const override { return sizeof *this; }
};

// "https://a.example:8443" of an address, and its path with the query.
std::pair<std::string, std::string> SiteAndPath(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t path = std::min(url.find_first_of("/?", host), url.size());
  std::string rest(url.substr(path));
  if (!rest.starts_with('/')) rest.insert(0, 1, '/');
  return {base::AsciiLower(url.substr(0, path)), std::move(rest)};
}

std::optional<domain::Failure> Judge(const Robots& robots, std::string_view url) {
  if (robots.Allows(SiteAndPath(url).second)) return std::nullopt;
  return domain::Failure{
      "robots", "The site's robots.txt does not allow that the page is fetched.", false, {}};
}

}  // namespace

RobotsBook::RobotsBook(Fetcher& fetcher, const base::Clock& clock, std::string_view user_agent)
    : fetcher_(fetcher),
      clock_(clock),
      product_(user_agent.substr(0, std::min(user_agent.find_first_of("/ "), user_agent.size()))) {}

RobotsBook::~RobotsBook() {
  *alive_ = false;
}

void RobotsBook::Ask(const FetchRequest& page, Done done) {
  const std::string site = SiteAndPath(page.url).first;
  const auto it = known_.find(site);
  if (it != known_.end() && clock_.SinceBoot() - it->second.read_at < kRobotsKnownMax) {
    return done(Judge(it->second.robots, page.url));
  }
  auto& waiting = waiting_[site];
  waiting.push_back({page, std::move(done)});
  if (waiting.size() == 1) Read(site);
}

void RobotsBook::Read(const std::string& site) {
  const FetchRequest& page = waiting_.at(site).front().page;
  FetchRequest file;
  file.org_id = page.org_id;
  file.url = site + "/robots.txt";
  file.body_bytes_max = kRobotsBytesMax;
  file.timeout = page.timeout;
  file.turn_wait_max = page.turn_wait_max;
  file.thread_wait_max = page.thread_wait_max;
  file.on_turn = page.on_turn;
  auto read = [product = product_](const FetchedPage& text, ReadingTime&) -> Fetched {
    auto reading = std::make_shared<RobotsReading>();
    reading->robots = Robots::Parse(text.body, product);
    return std::shared_ptr<const Reading>(std::move(reading));
  };
  fetcher_.Fetch(std::move(file), std::move(read), [this, alive = alive_, site](Fetched fetched) {
    if (*alive) OnRead(site, std::move(fetched));
  });
}

void RobotsBook::OnRead(const std::string& site, Fetched fetched) {
  const auto* failure = std::get_if<domain::Failure>(&fetched);
  const bool absent =
      failure != nullptr && failure->error_class == "http_status" && !failure->retryable;
  const bool too_long = failure != nullptr && failure->error_class == "body_too_large";
  if (failure != nullptr && !absent && !too_long) {
    auto& waiting = waiting_.at(site);
    const Done done = std::move(waiting.front().done);
    waiting.pop_front();
    if (waiting.empty()) {
      waiting_.erase(site);
    } else {
      Read(site);
    }
    domain::Failure why = *failure;
    why.message = "The site's robots.txt cannot be read: " + why.message;
    return done(std::move(why));
  }
  // A file that is longer than anybody has to read says nothing that counts.
  Robots robots;
  if (failure == nullptr) {
    robots = static_cast<const RobotsReading&>(*std::get<std::shared_ptr<const Reading>>(fetched))
                 .robots;
  }
  Keep(site, robots);
  for (const Waiting& waited : std::exchange(waiting_[site], {})) {
    waited.done(Judge(robots, waited.page.url));
  }
  if (const auto it = waiting_.find(site); it != waiting_.end() && it->second.empty()) {
    waiting_.erase(it);
  }
}

void RobotsBook::Keep(const std::string& site, Robots robots) {
  const auto now = clock_.SinceBoot();
  if (known_.size() >= kRobotsSitesMax) {
    std::erase_if(known_,
                  [&](const auto& one) { return now - one.second.read_at >= kRobotsKnownMax; });
    if (known_.size() >= kRobotsSitesMax) known_.clear();
  }
  known_.insert_or_assign(site, Known{std::move(robots), now});
}

}  // namespace vedette::pages
