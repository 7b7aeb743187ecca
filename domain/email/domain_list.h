#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vedette::domain {

// Domains that stand in the program, and those that the operator's file adds to them while the
// process has one thread, before anything is asked: the list is read without a lock afterwards.
class DomainList {
 public:
  // `own`: sorted; it must outlive this object.
  explicit DomainList(std::span<const std::string_view> own) : own_(own) {}

  bool Contains(std::string_view domain) const {
    return std::binary_search(own_.begin(), own_.end(), domain) || added_.contains(domain);
  }
  void Add(const std::vector<std::string>& domains) {
    added_.insert(domains.begin(), domains.end());
  }

 private:
  const std::span<const std::string_view> own_;
  std::set<std::string, std::less<>> added_;
};

}  // namespace vedette::domain
