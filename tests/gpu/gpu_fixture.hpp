// Base class of tests on a real GPU; they are skipped without one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "device/open.hpp"
#include "parsing.hpp"
#include "run/runner.hpp"

namespace xferbench::test {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      machine_ = open_gpus({});
    } catch (const NoDeviceError& error) {
      GTEST_SKIP() << "no GPU here: " << error.what();
    }
    stream_ = device().make_stream(StreamKind::nonblocking);
  }

  Machine& machine() { return *machine_; }
  Device& device() { return machine_->device(); }
  /// A non-blocking stream.
  const Stream& stream() { return stream_; }
  HostBuffer pinned(std::size_t bytes) { return device().allocate_host(bytes, HostMemory::pinned); }

  /// Few samples: enough to run every path, too few to mean anything.
  RunContext quick_bench() {
    SamplingPolicy policy;
    policy.budget = 0.05;
    policy.min_samples = policy.max_samples = 6;
    return {machine(), device(), policy, 7, true, [](const SamplingProgress&) {}};
  }

  std::vector<Result> run(const std::string& line) { return run_cases(cases_of_line(line), quick_bench(), {}); }
  /// Like run(). Fails unless each case is ok with all its samples; with `lacking_may_be`, cases that this GPU cannot
  /// run may be skipped.
  std::vector<Result> run_ok(const std::string& line, bool lacking_may_be = false) {
    std::vector<Result> results = run(line);
    EXPECT_TRUE(std::ranges::any_of(results, [](const Result& r) { return r.status == Status::ok; })) << line;
    for (const Result& r : results) {
      const bool lacks =
          lacking_may_be && r.status == Status::skipped && r.reason.find("this GPU") != std::string::npos;
      EXPECT_TRUE(r.status == Status::ok || lacks) << r.config.key() << ": " << r.reason;
      for (const Measurement& m : r.measurements) EXPECT_GE(m.samples.size(), 6U) << r.config.key() << " " << m.name;
    }
    if (HasFailure()) throw std::runtime_error("what follows needs all of these results");
    return results;
  }

 private:
  std::unique_ptr<Machine> machine_;
  Stream stream_;
};

}  // namespace xferbench::test
