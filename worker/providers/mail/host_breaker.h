#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

// When a mail host is to be left alone, as it refuses us or is not there. Of one process; that a
// host is left out, the fleet knows (mail_host). Pure.
//
//   served --refused, of three different domains in a row--> blocked for 30 min, 1 h, .. 6 h
//     ^  ^ |                                                     ^
//     |  | +--five connections fail in a row---------------------+
//     |  +--a recipient is accepted, or refused as an unknown mailbox
//     +-----the block is over
namespace vedette::worker {

class HostBreaker {
 public:
  static constexpr int kRefusalsMax = 3;
  static constexpr int kConnectFailuresMax = 5;
  static constexpr std::chrono::minutes kBlockFirst{30};
  static constexpr std::chrono::hours kBlockMax{6};
  // Hosts in trouble that are remembered; over it the others are forgotten.
  static constexpr std::size_t kHostsMax = 10'000;

  // True: the host is to be blocked now.
  bool Refused(const std::string& host_key, const std::string& domain) {
    auto& trouble = Trouble(host_key);
    trouble.domains.insert(domain);
    return Ended(host_key, trouble.domains.size() >= kRefusalsMax);
  }
  bool ConnectFailed(const std::string& host_key) {
    return Ended(host_key, ++Trouble(host_key).connect_failures >= kConnectFailuresMax);
  }
  void Served(const std::string& host_key) { hosts_.erase(host_key); }

  // `before`: how often in a row it was blocked.
  static std::chrono::milliseconds BlockFor(int before) {
    constexpr int kDoublingsMax = 4;
    const auto block = kBlockFirst * (1 << std::min(before, kDoublingsMax));
    return std::min<std::chrono::milliseconds>(block, kBlockMax);
  }

 private:
  struct Host {
    std::set<std::string> domains;  // that refused us, without a recipient served between them
    int connect_failures = 0;
  };
  Host& Trouble(const std::string& host_key) {
    if (hosts_.size() >= kHostsMax && !hosts_.contains(host_key)) hosts_.clear();
    return hosts_[host_key];
  }
  bool Ended(const std::string& host_key, bool blocked) {
    if (blocked) hosts_.erase(host_key);
    return blocked;
  }

  std::map<std::string, Host> hosts_;
};

}  // namespace vedette::worker
