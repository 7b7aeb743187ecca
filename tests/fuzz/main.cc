// What libFuzzer's own main calls.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>

#include "tests/fuzz/target.h"

namespace vedette::fuzz {
namespace {

std::map<std::string_view, Target, std::less<>>& Targets() {
  static std::map<std::string_view, Target, std::less<>> targets;
  return targets;
}

Target chosen = nullptr;

}  // namespace

Registration::Registration(std::string_view name, Target target) {
  Targets().emplace(name, target);
}

}  // namespace vedette::fuzz

// libFuzzer leaves what begins with two dashes to its targets.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  using namespace vedette::fuzz;
  constexpr std::string_view kOption = "--target=";
  for (int i = 1; i < *count; ++i) {
    const std::string_view argument((*arguments)[i]);
    if (!argument.starts_with(kOption)) continue;
    const auto found = Targets().find(argument.substr(kOption.size()));
    if (found != Targets().end()) chosen = found->second;
  }
  if (chosen != nullptr) return 0;
  std::fputs("--target=NAME is missing, or names none of these:", stderr);
  for (const auto& [name, target] : Targets()) std::fprintf(stderr, " %s", name.data());
  std::fputs("\n", stderr);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  vedette::fuzz::chosen({reinterpret_cast<const char*>(data), size});
  return 0;
}
