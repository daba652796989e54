#include "sim/failing_allocation.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr long kNever = -1;
thread_local long g_until_failure = kNever;

}  // namespace

// All of this program's: the language allows it once.
void* operator new(std::size_t bytes) {
  if (g_until_failure != kNever && g_until_failure-- == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace xferbench::test {

FailingAllocation::FailingAllocation(long nth) { g_until_failure = nth; }
FailingAllocation::~FailingAllocation() { g_until_failure = kNever; }

}  // namespace xferbench::test
