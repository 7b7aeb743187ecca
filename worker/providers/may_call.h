#pragma once

#include <functional>
#include <type_traits>
#include <utility>

namespace vedette::worker {

// Whether a further call may be made for a question: asked before each. It says no once nobody
// waits for the result, or it is not known whether anybody does. Without a function it says yes.
class MayCall {
 public:
  MayCall() = default;
  template <typename Asks, typename = std::enable_if_t<!std::is_same_v<Asks, MayCall> &&
                                                       std::is_invocable_r_v<bool, Asks&>>>
  MayCall(Asks asks) : asks_(std::move(asks)) {}

  bool operator()() const { return !asks_ || asks_(); }

 private:
  std::function<bool()> asks_;
};

}  // namespace vedette::worker
