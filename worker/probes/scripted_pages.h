#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/recent_map.h"

namespace vedette::worker {

// What a page showed of what is watched: of each field the hash of its value, empty where that is
// absent, and of the page's text under the empty name, where that was read. The values themselves
// may be large, and a page may wait for a browser for long.
using ShownFields = std::map<std::string, std::string>;

// Whether a page that was rendered shows a field, or one as absent, that it did not as it was sent.
bool ShowsMore(const ShownFields& rendered, const ShownFields& sent);

// Pages that showed more when they were rendered: for a day they are rendered without being fetched
// first. One's key names who reads the page, what is read of it, and its address: what is learned
// of a page changes nothing for others, also of the same host. It forgets those that are not used.
// Loop thread only.
class ScriptedPages {
 public:
  explicit ScriptedPages(const base::Clock& clock) : clock_(clock) {}

  void Insert(const std::string& key);
  bool Has(const std::string& key);

 private:
  const base::Clock& clock_;
  base::RecentMap<std::string, std::chrono::nanoseconds> since_{10'000};  // since boot
};

}  // namespace vedette::worker
