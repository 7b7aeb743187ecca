#include "html/robots.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/crypto.h"
#include "base/text.h"
#include "base/uuid.h"
#include "html/url_reference.h"

namespace vedette::html {
namespace {

// Whether the pattern matches the path from its beginning on; nothing once `steps` are used up. The
// last "*" alone is gone back to, which takes pattern times path steps at most.
std::optional<bool> Matches(std::string_view pattern, std::string_view path, std::size_t* steps) {
  const bool to_end = pattern.ends_with('$');
  if (to_end) pattern.remove_suffix(1);
  std::size_t p = 0;
  std::size_t t = 0;
  std::optional<std::pair<std::size_t, std::size_t>> star;
  for (; *steps > 0; --*steps) {
    if (p == pattern.size() && (!to_end || t == path.size())) return true;
    if (p < pattern.size() && pattern[p] == '*') {
      star = {++p, t};
    } else if (p < pattern.size() && t < path.size() && pattern[p] == path[t]) {
      ++p;
      ++t;
    } else if (star && star->second < path.size()) {
      p = star->first;
      t = ++star->second;
    } else {
      return false;
    }
  }
  return std::nullopt;
}

bool IsUnreserved(char c) {
  return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || (c != 0 && std::strchr("-._~", c));
}

enum class Part { kPattern, kPath };

// Equal ones are spelled equally (RFC 9309, 2.2.2): what an address may have only encoded is
// encoded, and what need not be is not. "*" and the "$" at the end of a pattern keep their meaning,
// while those of a path are encoded.
std::string Spelled(std::string_view text, Part part) {
  std::string out;
  const auto encode = [&out](unsigned char byte) { out += fmt::format("%{:02X}", byte); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto hex = c == '%' ? base::HexDecode(text.substr(i + 1, 2)) : std::nullopt;
    if (hex && hex->size() == 1) {
      i += 2;
      if (IsUnreserved(hex->front())) {
        out += hex->front();
      } else {
        encode(static_cast<unsigned char>(hex->front()));
      }
    } else if (c == '*' || c == '$') {
      const bool means = part == Part::kPattern && (c == '*' || i + 1 == text.size());
      if (means) {
        out += c;
      } else {
        encode(static_cast<unsigned char>(c));
      }
    } else if (IsUnreserved(c) || (c != 0 && std::strchr("/?:@!&'()+,;=#[]%", c))) {
      out += c;
    } else {
      encode(static_cast<unsigned char>(c));
    }
  }
  return out;
}

struct Line {
  std::string key;  // in lower case
  std::string_view value;
};

// Empty for a line that says nothing.
std::optional<Line> ReadLine(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return Line{base::AsciiLower(base::Trim(line.substr(0, colon))),
              base::Trim(line.substr(colon + 1))};
}

}  // namespace

Robots Robots::Parse(std::string_view text, std::string_view product) {
  text = text.substr(0, kRobotsBytesMax);
  if (text.starts_with(base::kByteOrderMark)) text.remove_prefix(base::kByteOrderMark.size());
  enum class Group { kOthers, kEverybody, kOurs };
  Group group = Group::kOthers;
  bool in_agents = false;
  std::optional<Robots> ours;
  Robots everybody;
  while (!text.empty()) {
    const auto end = text.find_first_of("\r\n");
    const auto line = ReadLine(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!line) continue;
    if (line->key == "user-agent") {
      // Several agents in a row share the rules after them.
      if (!in_agents) group = Group::kOthers;
      in_agents = true;
      const std::string_view agent = line->value.substr(0, line->value.find('/'));
      if (base::EqualsIgnoringAsciiCase(agent, product)) {
        group = Group::kOurs;
        if (!ours) ours.emplace();
      } else if (agent == "*" && group == Group::kOthers) {
        group = Group::kEverybody;
      }
      continue;
    }
    if (line->key != "allow" && line->key != "disallow") continue;
    in_agents = false;
    if (group == Group::kOthers || line->value.empty()) continue;
    auto& rules = (group == Group::kOurs ? *ours : everybody).rules_;
    if (rules.size() < kRobotsRulesMax) {
      rules.push_back({Spelled(line->value, Part::kPattern), line->key == "allow"});
    }
  }
  return ours ? std::move(*ours) : everybody;
}

bool Robots::Allows(std::string_view asked) const {
  const std::string spelled = Spelled(asked, Part::kPath);
  const std::size_t query = std::min(spelled.find('?'), spelled.size());
  const std::string path =
      RemoveDotSegments(std::string_view(spelled).substr(0, query)) + spelled.substr(query);
  const Rule* best = nullptr;
  std::size_t steps = kRobotsStepsMax;
  for (const Rule& rule : rules_) {
    const auto matches = Matches(rule.pattern, path, &steps);
    if (!matches) return false;
    if (!*matches) continue;
    const bool is_longer = best == nullptr || rule.pattern.size() > best->pattern.size();
    const bool is_kinder =
        best != nullptr && rule.pattern.size() == best->pattern.size() && rule.allows;
    if (is_longer || is_kinder) best = &rule;
  }
  return best == nullptr || best->allows;
}

namespace {

// "https://a.example:8443" of an address, and its path with the query.
std::pair<std::string, std::string> SiteAndPath(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  url = url.substr(0, url.find('#'));
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
struct RobotsCache::Impl : std::enable_shared_from_this<RobotsCache::Impl> {
  struct Waiting {
    FetchRequest page;
    Done done;
  };
  using Key = std::pair<std::string, base::Uuid>;  // a site, and whose turns are taken
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
  void Read(const Key& key);
  void OnRead(const Key& key, bool is_refused, Fetched fetched);
  void OnFailed(const Key& key, bool is_refused, domain::Failure why);
  void Keep(const std::string& site, Robots robots);

  Fetcher& fetcher;
  const base::Clock& clock;
  const std::string product;
  std::unordered_map<std::string, Known> known;
  std::map<Key, std::vector<Waiting>> waiting;  // the first one's request is made
};

void RobotsCache::Impl::Ask(const FetchRequest& page, Done done) {
  const std::string site = SiteAndPath(page.url).first;
  const auto it = known.find(site);
  if (it != known.end() && clock.SinceBoot() - it->second.read_at < kRobotsKnownMax) {
    return done(RefusalOf(it->second.robots, page.url));
  }
  const Key key(site, page.org_id);
  auto& waits = waiting[key];
  waits.push_back({page, std::move(done)});
  if (waits.size() == 1) Read(key);
}

// The file is not asked for where another organisation's turn has brought it meanwhile, or the page
// that asks must not go on.
void RobotsCache::Impl::Read(const Key& key) {
  const FetchRequest& page = waiting.at(key).front().page;
  const auto is_refused = std::make_shared<bool>(false);
  FetchRequest file;
  file.org_id = page.org_id;
  file.url = key.first + "/robots.txt";
  file.body_bytes_max = kRobotsBytesMax;
  file.timeout = page.timeout;
  file.turn_wait_max = page.turn_wait_max;
  file.thread_wait_max = page.thread_wait_max;
  file.on_turn = [weak = weak_from_this(), key, is_refused,
                  may = page.on_turn](std::chrono::milliseconds waited) {
    const auto self = weak.lock();
    if (!self || !self->waiting.contains(key)) return false;
    *is_refused = may && !may(waited);
    return !*is_refused;
  };
  fetcher.Fetch(std::move(file), ReadRobotsFor(product),
                [weak = weak_from_this(), key, is_refused](Fetched fetched) {
                  if (const auto self = weak.lock()) {
                    self->OnRead(key, *is_refused, std::move(fetched));
                  }
                });
}

void RobotsCache::Impl::OnRead(const Key& key, bool is_refused, Fetched fetched) {
  if (!waiting.contains(key)) return;
  const auto* failure = std::get_if<domain::Failure>(&fetched);
  const bool absent =
      failure != nullptr && failure->error_class == "http_status" && !failure->retryable;
  const bool too_long = failure != nullptr && failure->error_class == "body_too_large";
  if (failure != nullptr && !absent && !too_long) return OnFailed(key, is_refused, *failure);
  // A file that is longer than anybody has to read says nothing that counts.
  Robots robots;
  if (failure == nullptr) robots = RobotsOf(fetched);
  Keep(key.first, robots);
  std::vector<Waiting> waits;  // of all organisations
  for (auto it = waiting.lower_bound({key.first, base::Uuid()});
       it != waiting.end() && it->first.first == key.first; it = waiting.erase(it)) {
    std::move(it->second.begin(), it->second.end(), std::back_inserter(waits));
  }
  for (const Waiting& waited : waits) waited.done(RefusalOf(robots, waited.page.url));
}

void RobotsCache::Impl::OnFailed(const Key& key, bool is_refused, domain::Failure why) {
  why.message = "The site's robots.txt cannot be read: " + why.message;
  // Taken out first: what asks from inside an answer waits for another file.
  std::vector<Waiting> waits = std::move(waiting.extract(key).mapped());
  if (is_refused && waits.size() > 1) {
    waiting[key].assign(std::move_iterator(waits.begin() + 1), std::move_iterator(waits.end()));
    waits.resize(1);
    Read(key);
  }
  for (const Waiting& waited : waits) waited.done(why);
}

void RobotsCache::Impl::Keep(const std::string& site, Robots robots) {
  const auto now = clock.SinceBoot();
  if (known.size() >= kRobotsSitesMax) {
    std::erase_if(known,
                  [&](const auto& one) { return now - one.second.read_at >= kRobotsKnownMax; });
    if (known.size() >= kRobotsSitesMax) known.clear();
  }
  known.insert_or_assign(site, Known{std::move(robots), now});
}

RobotsCache::RobotsCache(Fetcher& fetcher, const base::Clock& clock, std::string_view user_agent)
    : impl_(std::make_shared<Impl>(fetcher, clock, user_agent)) {}

RobotsCache::~RobotsCache() = default;

void RobotsCache::Ask(const FetchRequest& page, Done done) {
  impl_->Ask(page, std::move(done));
}

}  // namespace vedette::html
