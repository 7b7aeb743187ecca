#pragma once

#include <cstdint>

// Whether a sanitizer is on; g++ and clang say so in words of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VEDETTE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VEDETTE_SANITIZED 1
#endif
#endif

#ifdef VEDETTE_SANITIZED
#define VEDETTE_COUNTS_ALLOCATIONS 0  // the sanitizers' own operator new stays
#else
#define VEDETTE_COUNTS_ALLOCATIONS 1
#endif

namespace vedette::test {

// A sanitizer's build does a part of what is long by its number alone; the release's build does all
// of it.
constexpr int OrLessIfSanitized(int count, int less) {
  return VEDETTE_COUNTS_ALLOCATIONS == 0 ? less : count;
}

// Calls of operator new in this process until now, of any thread; 0 where they are not counted.
std::int64_t AllocationsSoFar();

}  // namespace vedette::test
