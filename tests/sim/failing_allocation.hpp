// Memory that runs out when a test says so.
#pragma once

namespace xferbench::test {

/// While it lives, allocation number `nth` (from 0) of the thread that made it throws std::bad_alloc, and only that
/// one.
class FailingAllocation {
 public:
  explicit FailingAllocation(long nth);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();
};

}  // namespace xferbench::test
