#pragma once

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VEDETTE_COUNTS_ALLOCATIONS 0  // the sanitizers' own operator new stays
#else
#define VEDETTE_COUNTS_ALLOCATIONS 1
#endif

namespace vedette::test {

// Calls of operator new in this process until now, of any thread; 0 where they are not counted.
std::int64_t AllocationsSoFar();

}  // namespace vedette::test
