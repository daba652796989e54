// Allocation failures at a chosen point, for tests.
#pragma once

namespace xferbench::test {

/// While this object lives, allocation number `nth` (from 0) of its thread throws std::bad_alloc; all others succeed.
class FailingAllocation {
 public:
  explicit FailingAllocation(long nth);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();
};

}  // namespace xferbench::test
