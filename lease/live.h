#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace vedette::lease {

// Lets callbacks reach an object only while it lives. An object whose callbacks may come after its
// end (from the database, from the network) has one of these as its last member, which is therefore
// destroyed first, and wraps each such callback. One thread: that of the loop.
class Live {
 public:
  Live() = default;
  ~Live() { *alive_ = false; }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  // A function that calls `f` while the object lives and gives what that gives. Afterwards it does
  // nothing and gives a value-initialised result: false, zero, null.
  template <typename F>
  auto Guard(F f) const {
    return [alive = alive_, f = std::move(f)](auto&&... arguments) mutable {
      using Result = std::invoke_result_t<F&, decltype(arguments)...>;
      if (*alive) return f(std::forward<decltype(arguments)>(arguments)...);
      if constexpr (!std::is_void_v<Result>) return Result{};
    };
  }

 private:
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace vedette::lease
