// Targets for libFuzzer. All are linked into one program, which runs the one that `--target=NAME`
// names: a program for each would be linked from the same libraries 24 times.
#pragma once

#include <cstdlib>
#include <string_view>

namespace vedette::fuzz {

// Aborts where what must hold of any bytes does not.
using Target = void (*)(std::string_view bytes);

inline void Require(bool holds) {
  if (!holds) std::abort();
}

// Makes the target known to the program before it begins.
struct Registration {
  Registration(std::string_view name, Target target);
};

}  // namespace vedette::fuzz

// FUZZ_TARGET(csv, text) { what must hold of any text }
#define FUZZ_TARGET(name, argument)                                                   \
  static void Fuzz_##name(std::string_view argument);                                 \
  static const ::vedette::fuzz::Registration name##_registration(#name, Fuzz_##name); \
  static void Fuzz_##name(std::string_view argument)
