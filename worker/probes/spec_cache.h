#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>

#include "worker/probes/probe.h"

namespace vedette::worker {

// What was derived from a ProbeSpec, for as long as the spec lives: a spec is immutable, and the
// same address is the same spec until it dies. One thread.
template <typename Value>
class SpecCache {
 public:
  explicit SpecCache(std::size_t entries_max) : entries_max_(entries_max) {}

  // Null where there is nothing.
  std::shared_ptr<const Value> Find(const std::shared_ptr<const ProbeSpec>& spec) const {
    const auto it = entries_.find(spec.get());
    return it != entries_.end() && it->second.spec.lock() == spec ? it->second.value : nullptr;
  }

  void Keep(const std::shared_ptr<const ProbeSpec>& spec, std::shared_ptr<const Value> value) {
    if (entries_.size() >= entries_max_) {
      std::erase_if(entries_, [](const auto& entry) { return entry.second.spec.expired(); });
    }
    if (entries_.size() >= entries_max_) entries_.clear();
    entries_.insert_or_assign(spec.get(), Entry{spec, std::move(value)});
  }

 private:
  struct Entry {
    std::weak_ptr<const ProbeSpec> spec;
    std::shared_ptr<const Value> value;
  };
  std::size_t entries_max_;
  std::unordered_map<const ProbeSpec*, Entry> entries_;
};

}  // namespace vedette::worker
