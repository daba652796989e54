// A host whose clock is wrong, to imitate the clocks of different machines.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "device/host_runtime.hpp"

namespace xferbench {

/// Decorator that gives another host's clock an error: a constant offset in seconds and a drift in seconds per second.
class SkewedHost final : public HostRuntime {
 public:
  SkewedHost(HostRuntime& host, double offset, double drift) : host_(host), offset_(offset), drift_(drift) {}

  /// Returns what the wrong clock shows at the true time `right`, in seconds.
  [[nodiscard]] double shown(double right) const { return offset_ + (1 + drift_) * right; }
  void set(double offset) { offset_ = offset; }

  [[nodiscard]] double now() const override { return shown(host_.now()); }
  [[nodiscard]] double cpu_now() const override { return host_.cpu_now(); }
  void wait_until(double moment) override { host_.wait_until((moment - offset_) / (1 + drift_)); }
  [[nodiscard]] std::unique_ptr<HostThread> start_thread(std::function<void()> body) override {
    return host_.start_thread(std::move(body));
  }
  [[nodiscard]] std::unique_ptr<Channel> make_channel() override { return host_.make_channel(); }
  void work(const HostCost& cost, const std::function<void()>& work) override { host_.work(cost, work); }
  [[nodiscard]] Files& files() override { return host_.files(); }

 private:
  HostRuntime& host_;
  double offset_;
  double drift_;
};

}  // namespace xferbench
