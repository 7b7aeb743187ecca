#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "worker/probes/probe.h"

namespace vedette::worker {

// What was derived from a ProbeSpec, for as long as the spec lives: a spec is immutable, and the
// same address is the same spec until it dies. Bounded in number, and in bytes by
// what the caller says that a value takes. One thread.
template <typename Value>
class SpecCache {
 public:
  SpecCache(std::size_t entries_max, std::size_t bytes_max)
      : entries_max_(entries_max), bytes_max_(bytes_max) {}

  // Null where there is nothing.
  std::shared_ptr<const Value> Find(const std::shared_ptr<const ProbeSpec>& spec) const {
    const auto it = entries_.find(spec.get());
    return it != entries_.end() && it->second.spec.lock() == spec ? it->second.value : nullptr;
  }

  // `bytes`: of the value. One that is larger than all that may be kept is not kept.
  void Keep(const std::shared_ptr<const ProbeSpec>& spec, std::shared_ptr<const Value> value,
            std::size_t bytes) {
    if (bytes > bytes_max_) return;
    Erase(entries_.find(spec.get()));
    const auto full = [&] {
      return entries_.size() >= entries_max_ || bytes_ + bytes > bytes_max_;
    };
    if (full()) {
      for (auto it = entries_.begin(); it != entries_.end();) {
        it = it->second.spec.expired() ? Erase(it) : std::next(it);
      }
    }
    while (full()) Erase(entries_.begin());
    bytes_ += bytes;
    entries_.emplace(spec.get(), Entry{spec, std::move(value), bytes});
  }

  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::weak_ptr<const ProbeSpec> spec;
    std::shared_ptr<const Value> value;
    std::size_t bytes;
  };
  using Entries = std::unordered_map<const ProbeSpec*, Entry>;

  typename Entries::iterator Erase(typename Entries::iterator it) {
    if (it == entries_.end()) return it;
    base::Assert(bytes_ >= it->second.bytes, "a cache gives back only what it counted");
    bytes_ -= it->second.bytes;
    return entries_.erase(it);
  }

  const std::size_t entries_max_;
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  Entries entries_;
};

}  // namespace vedette::worker
