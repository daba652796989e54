// A scope guard: runs an action at the end of a scope.
#pragma once

#include <utility>

#include "core/non_copyable.hpp"

namespace xferbench {

/// A scope guard that calls `act` when the scope is left, also by an exception. `act` must not throw.
template <class Act>
class [[nodiscard]] OnExit : NonCopyable {
 public:
  explicit OnExit(Act act) : act_(std::move(act)) {}
  ~OnExit() { act_(); }

 private:
  Act act_;
};

}  // namespace xferbench
