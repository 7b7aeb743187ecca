#include "tests/store/support/allocation_count.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#if VEDETTE_COUNTS_ALLOCATIONS
namespace {
std::atomic<std::int64_t> allocations{0};
}  // namespace

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
#endif

namespace vedette::test {

std::int64_t AllocationsSoFar() {
#if VEDETTE_COUNTS_ALLOCATIONS
  return allocations.load();
#else
  return 0;
#endif
}

}  // namespace vedette::test
