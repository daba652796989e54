#include "sim/failing_allocation.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr long kNever = -1;
thread_local long g_until_failure = kNever;

}  // namespace

// Replaces the global operators, which the language allows once per program. Both the throwing and the nothrow form are
// replaced: one delete frees memory of both, and AddressSanitizer has its own pair.
void* operator new(std::size_t bytes, const std::nothrow_t& /*unused*/) noexcept {
  if (g_until_failure != kNever && g_until_failure-- == 0) return nullptr;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes) {
  if (void* const memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory, const std::nothrow_t& /*unused*/) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace xferbench::test {

FailingAllocation::FailingAllocation(long nth) { g_until_failure = nth; }
FailingAllocation::~FailingAllocation() { g_until_failure = kNever; }

}  // namespace xferbench::test
