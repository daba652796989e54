#include "app/fleet/deadline.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "core/error.hpp"
#include "core/standard_error.hpp"

namespace xferbench::app {

Deadline::Deadline(std::string who)
    : who_(std::move(who)), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void Deadline::begin(const std::string& step, double seconds) {
  const std::lock_guard lock(mutex_);
  step_ = step;
  limit_ = seconds;
  waited_ = 0;
}

void Deadline::watch(const std::stop_token& stop) {
  constexpr std::chrono::duration<double> kInterval{0.05};
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait_for(lock, stop, kInterval, [] { return false; });
    if (stop.stop_requested()) return;
    if (step_.empty()) continue;
    waited_ += kInterval.count();
    if (waited_ < limit_) continue;
    tell(fmt::format("{}: {} did not end within {:.3g} s; raise --timeout to wait longer", who_, step_, limit_));
    std::_Exit(static_cast<int>(ExitCode::failed));
  }
}

}  // namespace xferbench::app
