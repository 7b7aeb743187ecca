#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/kit/published_keys.h"
#include "api/operator/admin.h"
#include "base/event_loop.h"
#include "base/fair_share.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "config/setting_files.h"
#include "metrics/metrics.h"
#include "net/http_client.h"

namespace vedette::app {

// Calls that a request of the API makes to somewhere outside, on connections of their own, so that
// they and what the process does by itself do not wait for each other. At most `calls_max` are
// under way at once; organisations share them (base/fair_share.h), and what is over a share is
// refused. Built while the loop does not run.
class OutsideCalls {
 public:
  enum class Place : std::uint8_t {
    kTaken,
    kAllTaken,           // by others
    kOrganisationsTaken  // the organisation has its share under way
  };

  OutsideCalls(base::EventLoop& loop, const config::NetConfig& net, int calls_max);

  // Any thread. `begin` is called once, on the loop; where the place is taken, End follows.
  void Begin(const base::Uuid& org_id, std::function<void(Place)> begin);
  void End(const base::Uuid& org_id);  // loop thread
  net::HttpClient& client() { return client_; }

 private:
  Place Take(const base::Uuid& org_id);

  base::EventLoop& loop_;
  net::HttpClient client_;
  base::FairShares<base::Uuid> under_way_;  // by organisation; loop thread
};

// The way to the keys that OAuth clients publish: fetches_max of config::JwksConfig are
// under way at once. Built while the loop does not run; Fetch on any thread.
class KeyFetch final : public rest::KeyFetcher {
 public:
  KeyFetch(base::EventLoop& loop, metrics::Metrics& metrics, const config::Config& config);

  void Fetch(const base::Uuid& org_id, std::string url, std::function<void(Outcome)> done) override;

 private:
  using Done = std::function<void(Outcome)>;
  void Start(const base::Uuid& org_id, const std::string& url, const Done& done);

  metrics::Metrics& metrics_;
  const config::JwksConfig& config_;
  OutsideCalls calls_;
};

// The way of the console to the admin ports of the other cells (api/operator/admin.h), none of
// which may take longer than kCellAnswerMax. They are inside: [net] proxy is not asked. Built while
// the loop does not run; Ask on any thread.
inline constexpr std::chrono::milliseconds kCellAnswerMax{3000};

class CellPorts final : public admin::OtherCells {
 public:
  // `cells`: all of them. This one ([cell] id) is not asked, nor is one without a token: nobody's
  // own is ever sent there.
  CellPorts(base::EventLoop& loop, const config::Config& config,
            std::vector<config::CellPort> cells);

  bool empty() const { return cells_.empty(); }
  void Ask(std::string path, std::string q, Done done) override;

 private:
  struct Asked;
  void Send(std::size_t place, const std::string& path, const std::shared_ptr<Asked>& asked);

  base::EventLoop& loop_;
  std::vector<config::CellPort> cells_;
  net::HttpClient client_;
};

}  // namespace vedette::app
