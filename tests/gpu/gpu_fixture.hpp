// Tests on a real GPU. Where there is none they are skipped, and say so.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "device/open.hpp"
#include "run/runner.hpp"

namespace xferbench::test {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      machine_ = open_gpu(0);
    } catch (const NoDeviceError& error) {
      GTEST_SKIP() << "no GPU here: " << error.what();
    }
    stream_ = device().make_stream(StreamKind::nonblocking);
  }

  Machine& machine() { return *machine_; }
  Device& device() { return machine_->device(); }
  /// An independent stream of the device.
  const Stream& stream() { return stream_; }
  HostBuffer pinned(std::size_t bytes) { return device().allocate_host(bytes, HostMemory::pinned); }

  /// A few samples: enough to run every path, too few to mean anything.
  RunContext quick_bench() {
    SamplingPolicy policy;
    policy.budget = 0.05;
    policy.min_samples = policy.max_samples = 6;
    return {machine(), device(), policy, 7, true, [](const SamplingProgress&) {}};
  }

 private:
  std::unique_ptr<Machine> machine_;
  Stream stream_;
};

}  // namespace xferbench::test
