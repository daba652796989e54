#include "measure/timer_on_host.hpp"

#include <algorithm>

namespace xferbench {

bool TimerOnHost::refresh(double fresh) {
  if (ever_ && device_.host().now() - related_ < fresh) return false;
  relation_ = device_.relate_clocks();
  related_ = device_.host().now();
  ever_ = true;
  uncertainty_ = std::max(uncertainty_, relation_.uncertainty);
  return true;
}

double TimerOnHost::since(std::uint64_t stamp, double host) const {
  return std::max(0.0, host - relation_.host_time(stamp));
}

double TimerOnHost::until(std::uint64_t stamp, double host) const {
  return std::max(0.0, relation_.host_time(stamp) - host);
}

}  // namespace xferbench
