#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/event_loop.h"
#include "worker/blocks/row_runner.h"

namespace vedette::worker {

// A block that asks nobody: each row ends with its own cells. For tests and benchmarks. Its specs:
//   {"delay_ms": 0..60000 = 0, "charge": boolean = false}    a charged row costs the block's price
// Loop thread only. It must outlive what it has bound; rows that wait when it ends never end. The
// loop and the clock must outlive it.
class NullBlock final : public RowBlock {
 public:
  NullBlock(base::EventLoop& loop, const base::Clock& clock)
      : clock_(clock), timer_(loop, [this] { EndDue(); }) {}

  std::string_view type() const override { return "null"; }
  std::variant<std::shared_ptr<RowRunner>, std::string> Bind(const std::string& specs_json,
                                                             std::int64_t price_mc) override;

 private:
  class Runner;
  struct Waiting {
    RowDone result;
    std::function<void(RowResult)> done;
  };

  void EndLater(std::chrono::milliseconds delay, Waiting waiting);
  void EndDue();

  const base::Clock& clock_;
  std::multimap<std::chrono::nanoseconds, Waiting> waiting_;  // by time since boot
  base::Timer timer_;
};

}  // namespace vedette::worker
