#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/public_address.h"

namespace vedette::net::test {

// A DNS server on 127.0.0.1, UDP: answers A and AAAA for the names it was given, with a time to
// live of 0, "no such name" for those it was told are missing, aliases for those that have them,
// and nothing at all for others. While it holds, it answers nobody; those are answered together
// afterwards.
class DnsServer {
 public:
  DnsServer() : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(fd_, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    timeval round{};
    round.tv_usec = 20000;
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &round, sizeof round);
    const int buffer_bytes = 4 << 20;  // hundreds of queries come at once
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
    thread_ = std::thread([this] {
      while (!stopping_) {
        ServeOne();
      }
    });
  }

  ~DnsServer() {
    stopping_ = true;
    thread_.join();
    close(fd_);
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int queries() const { return queries_; }

  void Set(const std::string& name, const std::vector<std::string>& addresses) {
    std::vector<IpAddress> parsed;
    for (const std::string& a : addresses) {
      parsed.push_back(*IpAddress::Parse(a));
    }
    const std::lock_guard lock(mutex_);
    names_[name] = parsed;
  }

  void Hold() {
    const std::lock_guard lock(mutex_);
    holds_ = true;
  }
  // How many answers it holds back.
  std::size_t held() const {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }
  void Release() {
    const std::lock_guard lock(mutex_);
    holds_ = false;
    for (const auto& [answer, to] : held_) Send(answer, to);
    held_.clear();
  }

  void SetMissing(const std::string& name) {
    const std::lock_guard lock(mutex_);
    missing_.insert(name);
  }

  // The name is answered with these CNAME records, each an alias and its name, and nothing else.
  void SetAliases(const std::string& name,
                  const std::vector<std::pair<std::string, std::string>>& aliases) {
    const std::lock_guard lock(mutex_);
    aliases_[name] = aliases;
  }

 private:
  static constexpr std::size_t kHeader = 12;

  void ServeOne() {
    std::string query(512, '\0');
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t n =
        recvfrom(fd_, query.data(), query.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (n < static_cast<ssize_t>(kHeader)) {
      return;
    }
    ++queries_;
    query.resize(static_cast<std::size_t>(n));
    const std::string answer = Answer(query);
    if (answer.empty()) return;
    const std::lock_guard lock(mutex_);
    if (holds_) {
      held_.emplace_back(answer, from);
    } else {
      Send(answer, from);
    }
  }

  static std::string NameOf(const std::string& name) {
    std::string out;
    std::size_t at = 0;
    while (at < name.size()) {
      const std::size_t end = std::min(name.find('.', at), name.size());
      out += static_cast<char>(end - at) + name.substr(at, end - at);
      at = end + 1;
    }
    return out + '\0';
  }

  static std::string AliasRecord(const std::string& alias, const std::string& name) {
    const std::string data = NameOf(name);
    return NameOf(alias) + std::string("\x00\x05\x00\x01\x00\x00\x00\x00\x00", 9) +
           static_cast<char>(data.size()) + data;
  }

  void Send(const std::string& answer, const sockaddr_in& to) const {
    sendto(fd_, answer.data(), answer.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }

  std::string Answer(const std::string& query) {
    std::string name;
    std::size_t at = kHeader;
    while (at < query.size() && query[at] != 0) {
      const auto length = static_cast<std::size_t>(query[at]);
      name += (name.empty() ? "" : ".") + query.substr(at + 1, length);
      at += 1 + length;
    }
    const std::size_t question_end = at + 5;
    const bool v6 = query[at + 2] == 28;
    const std::lock_guard lock(mutex_);
    const auto found = names_.find(name);
    const auto aliases = aliases_.find(name);
    if (found == names_.end() && aliases == aliases_.end() && !missing_.contains(name)) {
      return "";
    }
    std::string records;
    int count = 0;
    if (aliases != aliases_.end()) {
      for (const auto& [alias, target] : aliases->second) records += AliasRecord(alias, target);
      count = static_cast<int>(aliases->second.size());
    }
    for (const IpAddress& ip : found == names_.end() ? std::vector<IpAddress>() : found->second) {
      if (ip.v6 == v6) {
        records += std::string("\xc0\x0c\x00", 3) + (v6 ? '\x1c' : '\x01') +
                   std::string("\x00\x01\x00\x00\x00\x00\x00", 7) + (v6 ? '\x10' : '\x04') +
                   std::string(reinterpret_cast<const char*>(ip.bytes.data()), v6 ? 16 : 4);
        ++count;
      }
    }
    std::string answer = query.substr(0, 2);
    answer += '\x81';
    answer += missing_.contains(name) ? '\x83' : '\x80';
    answer += std::string("\x00\x01\x00", 3) + static_cast<char>(count) + std::string(4, '\0');
    return answer + query.substr(kHeader, question_end - kHeader) + records;
  }

  const int fd_;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> queries_{0};
  mutable std::mutex mutex_;
  bool holds_ = false;
  std::vector<std::pair<std::string, sockaddr_in>> held_;
  std::map<std::string, std::vector<IpAddress>> names_;
  std::set<std::string> missing_;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> aliases_;
  std::thread thread_;
};

}  // namespace vedette::net::test
