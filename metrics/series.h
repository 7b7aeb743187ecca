#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Internal to metrics/: the series of a family by their labels.
namespace vedette::metrics {

using Buckets = prometheus::Histogram::BucketBoundaries;

// Series of one family. Routes, queries and kinds are a few dozen; beyond it something passes what
// it should not, and the rest is counted as "other" rather than kept.
inline constexpr std::size_t kSeriesMax = 1024;

inline double Seconds(std::chrono::microseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

template <typename Build>
auto& Register(prometheus::Registry* registry, Build build, const char* name, const char* help) {
  return build().Name(name).Help(help).Register(*registry);
}

// The series of a family with one to three labels that are known by text, resolved once each.
template <typename Metric>
class Series {
 public:
  Series(prometheus::Family<Metric>* family, std::vector<std::string> labels, Buckets buckets = {})
      : family_(family), labels_(std::move(labels)), buckets_(std::move(buckets)) {}

  Metric& Get(std::string_view first, std::string_view second = {}, std::string_view third = {}) {
    const std::lock_guard lock(mutex_);
    const View values{first, second, third};
    if (const auto it = series_.find(values); it != series_.end()) return *it->second;
    return Add(series_.size() < kSeriesMax ? values : View{"other", "other", "other"});
  }

 private:
  using Values = std::array<std::string, 3>;
  using View = std::array<std::string_view, 3>;

  // Lets a series be found without building strings.
  struct Less {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };

  Metric& Add(const View& values) {
    Metric*& metric =
        series_[Values{std::string(values[0]), std::string(values[1]), std::string(values[2])}];
    if (metric == nullptr) {
      prometheus::Labels labels;
      for (std::size_t i = 0; i < labels_.size(); ++i) labels[labels_[i]] = values[i];
      if constexpr (std::is_same_v<Metric, prometheus::Histogram>) {
        metric = &family_->Add(labels, buckets_);
      } else {
        metric = &family_->Add(labels);
      }
    }
    return *metric;
  }

  prometheus::Family<Metric>* const family_;
  const std::vector<std::string> labels_;
  const Buckets buckets_;
  std::mutex mutex_;
  std::map<Values, Metric*, Less> series_;  // guarded by mutex_
};

}  // namespace vedette::metrics
