// Something that is done at the end of a scope.
#pragma once

#include <utility>

#include "core/non_copyable.hpp"

namespace xferbench {

/// Does it when the scope is left, however that comes about. It must not throw.
template <class Act>
class [[nodiscard]] OnExit : NonCopyable {
 public:
  explicit OnExit(Act act) : act_(std::move(act)) {}
  ~OnExit() { act_(); }

 private:
  Act act_;
};

}  // namespace xferbench
