// Stored limits of a machine: when they are still valid.
#include "app/explain/machine_limits.hpp"

#include <gtest/gtest.h>

namespace xferbench::app {
namespace {

constexpr const char* kGpu = "GPU-1234";
constexpr const char* kDriver = "580.95.05";
constexpr const char* kNow = "2026-11-23T10:00:00Z";

Report measured(const char* when = "2026-11-01T23:59:59Z") {
  Report report;
  report.tool = this_tool();
  report.complete = true;
  report.started_at = when;
  report.environment.gpu.uuid = kGpu;
  report.environment.driver = kDriver;
  return report;
}

TEST(KeptLimits, HoldOnTheSameGpuWithTheSameDriver) {
  EXPECT_TRUE(limits_hold(measured(), kGpu, kDriver, kNow));
  EXPECT_FALSE(limits_hold(measured(), "GPU-5678", kDriver, kNow));
  EXPECT_FALSE(limits_hold(measured(), kGpu, "590.1", kNow));
  Report report = measured();
  report.environment.driver = std::string(kDriver) + " (CUDA 13.0)";  // as results files store the version
  EXPECT_TRUE(limits_hold(report, kGpu, kDriver, kNow));
}

TEST(KeptLimits, HoldWhereTheDriverIsNotKnown) {
  EXPECT_TRUE(limits_hold(measured(), kGpu, "", kNow));
  Report report = measured();
  report.environment.driver.clear();
  EXPECT_TRUE(limits_hold(report, kGpu, kDriver, kNow));
}

TEST(KeptLimits, AreMeasuredAnewAfterAMonth) {
  EXPECT_TRUE(limits_hold(measured("2026-10-24T00:00:00Z"), kGpu, kDriver, kNow));
  EXPECT_FALSE(limits_hold(measured("2026-10-23T23:59:59Z"), kGpu, kDriver, kNow));
  EXPECT_FALSE(limits_hold(measured("2025-11-23T10:00:00Z"), kGpu, kDriver, kNow));
}

TEST(KeptLimits, OfAClockThatWasAheadAreMeasuredAnew) {
  EXPECT_FALSE(limits_hold(measured("2026-11-24T00:00:00Z"), kGpu, kDriver, kNow));
}

TEST(KeptLimits, WithoutATimeAreMeasuredAnew) {
  EXPECT_FALSE(limits_hold(measured("yesterday"), kGpu, kDriver, kNow));
  EXPECT_FALSE(limits_hold(measured(""), kGpu, kDriver, kNow));
}

TEST(KeptLimits, OfARunThatWasCutOffAreMeasuredAnew) {
  Report report = measured();
  report.complete = false;
  EXPECT_FALSE(limits_hold(report, kGpu, kDriver, kNow));
}

TEST(KeptLimits, WithAFailedCaseAreMeasuredAnew) {
  Report report = measured();
  report.results.emplace_back(Case("memcpy"));
  EXPECT_TRUE(limits_hold(report, kGpu, kDriver, kNow));
  report.results.back().status = Status::failed;
  EXPECT_FALSE(limits_hold(report, kGpu, kDriver, kNow));
}

TEST(KeptLimits, OfAnotherVersionAreMeasuredAnew) {
  Report report = measured();
  report.tool.version = "0.0.1";
  EXPECT_FALSE(limits_hold(report, kGpu, kDriver, kNow));
}

}  // namespace
}  // namespace xferbench::app
