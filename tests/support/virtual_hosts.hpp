// Hosts with virtual clocks, which advance only when told.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>

#include "device/host_runtime.hpp"
#include "ranks/skewed_host.hpp"

namespace xferbench::test {

/// A host with one thread.
class VirtualHost final : public HostRuntime {
 public:
  [[nodiscard]] double now() const override { return now_; }
  [[nodiscard]] double cpu_now() const override { return now_; }
  void wait_until(double moment) override { now_ = std::max(now_, moment); }
  void advance(double seconds) { now_ += seconds; }

  [[nodiscard]] std::unique_ptr<HostThread> start_thread(std::function<void()>) override {
    throw std::logic_error("this host has one thread");
  }
  [[nodiscard]] std::unique_ptr<Channel> make_channel() override { throw std::logic_error("this host has one thread"); }
  void work(const HostCost& cost, const std::function<void()>& work) override {
    work();
    advance(cost.seconds);
  }

 private:
  double now_ = 0;
};

}  // namespace xferbench::test
