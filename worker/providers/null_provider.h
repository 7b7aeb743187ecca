#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>

#include "base/event_loop.h"
#include "domain/email/provider_ids.h"
#include "worker/providers/provider.h"

namespace vedette::worker {

// Asks nobody, for benchmarks and tests ([testing] null_provider): every lead with a name has the
// OK address that is made of its name and its domain, at null.example where the domain is not
// known. A lead without a name has none. Behind every address is the person whom its local part
// names, and everybody was born on 6 May 1980.
class NullProvider final : public Provider {
 public:
  static constexpr std::string_view kId = domain::kNullProvider;

  // `delay`: of every answer; 0: it answers from inside Start. `loop` must outlive this object.
  explicit NullProvider(base::EventLoop& loop, std::chrono::milliseconds delay = {});
  ~NullProvider() override;  // callbacks of what is under way are dropped

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  base::EventLoop& loop_;
  const std::chrono::milliseconds delay_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::unique_ptr<base::Timer>> timers_;
};

}  // namespace vedette::worker
