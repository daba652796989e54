// Calibration of a simulated device: the fitted profile must equal the one that it was simulated with.
#include "scenarios/calibration/calibration.hpp"

#include <array>
#include <utility>

#include "device/sim/profile_fields.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

/// Suite `calibrate`, restricted to what the simulated device can run.
constexpr std::array kRuns{
    "memcpy --dir h2d,d2h --host pinned --size 64K:1G:x4",
    "memcpy --dir h2d,d2h --host pageable --size 1M:256M:x4",
    "memcpy --dir h2d,d2h --host pinned --engine sm --size 1M:256M:x4",
    "memcpy --dir d2d --size 1G",
    "overlap --size 64M --strategy engines --chunks 16 --work 1,64,1024",
    "scatter --dir h2d,d2h --way kernel --piece 64K --size 16M --blocks 1",
    "scatter --dir h2d --way bulk --piece 4K,64K --size 16M --blocks 1",
    "scatter --dir bidirectional --way kernel,bulk --piece 64K",
    "scatter --dir h2d --way batch --piece 8K,24K --size 16M",
    "scatter --dir d2h --way batch --piece 16K",
    "storage --cache cold --way direct --threads 4 --slot-memory all --layout whole,tensors --size 64M",
    "storage --cache cold --way threads --threads 4 --size 64M",
    "storage --cache warm --way threads,mmap --threads 1 --size 64M",
    "storage --dir save --way direct --threads 4 --slot-memory all --size 64M",
    "storage --dir save --way threads --threads 1 --size 64M",
    "latency --op launch",
    "latency --op wait --method stream --schedule spin"};

Calibration calibrated(const sim::Profile& profile) {
  NamedReport run{.name = "simulated", .report = {}};
  for (const char* line : kRuns) {
    sim::SimMachine machine(profile);
    RunContext bench = quick_bench(machine.device());
    bench.verify = false;
    bench.policy = {.min_samples = 6, .max_samples = 6};
    const std::vector<Result> results = run_all(cases_of_line(line), bench);
    run.report.results.insert(run.report.results.end(), results.begin(), results.end());
    run.report.environment = machine.device().capabilities().environment;
  }
  return calibrate(
      std::vector{run}, [](std::string_view field) { return number_of_profile("h200", field); }, true);
}

/// A machine that differs from the built-in profiles in every calibrated field.
sim::Profile another() {
  sim::Profile p = profile("h200");
  p.h2d_rate = 26e9, p.d2h_rate = 24e9;
  p.h2d_overhead = 3.1e-6, p.d2h_overhead = 2.7e-6;
  p.h2d_duplex_rate = 0.88, p.d2h_duplex_rate = 0.95;
  p.h2d_duplex_overhead = 1.6, p.d2h_duplex_overhead = 1.9;
  p.kernel_overhead = 3.3e-6;
  p.copy_to_kernel = p.kernel_to_copy = 5e-6;
  p.copy_to_copy = 3e-6;
  p.gate_to_copy = 8e-6;
  p.stream_switch = 4.5e-6;
  p.order_cost = 1.4e-6;
  p.kernel_h2d_rate = 22e9, p.kernel_d2h_rate = 23e9;
  p.kernel_link_overhead = 20e-6;
  p.pageable_h2d_rate = 6e9, p.pageable_d2h_rate = 9e9;
  p.pageable_overhead = 40e-6;
  p.wake_up = 9e-6;
  p.d2d_rate = 8e11;
  p.launch_call = 5e-6;
  p.copy_call = 3e-6;
  p.batch_copy_call = 0.8e-6, p.batch_copy = 0.1e-6;
  p.batch_inline_call = 0.3e-6;
  p.batch_inline_rate = 4e9;
  p.piece_read_turn = 3e-6, p.piece_write_turn = 2.5e-6;
  p.bulk_turn = 0.9e-6;
  p.list_read = 0.4e-6;
  p.kernels_duplex_rate = 0.6;
  p.disk_read_rate = 4e9, p.disk_read_rate_scattered = 3e9, p.disk_read_rate_cached = 2e9;
  p.disk_write_rate = 3e9, p.disk_write_rate_scattered = 1e9, p.disk_write_rate_cached = 2e9;
  p.file_copy_rate = 5e9, p.file_write_rate = 3e9, p.fault_rate = 30e9;
  return p;
}

/// H2D and D2H do not slow each other, so that results have no metrics of contention.
sim::Profile without_contention() {
  sim::Profile p = profile("h200");
  p.h2d_duplex_rate = p.d2h_duplex_rate = 1;
  p.h2d_duplex_overhead = p.d2h_duplex_overhead = 1;
  return p;
}

/// A link that is faster than the host memory of the built-in profile.
sim::Profile fast_link() {
  sim::Profile p = profile("h200");
  p.h2d_rate = 200e9, p.d2h_rate = 190e9;
  p.socket_memory = {.in = 400e9, .out = 400e9, .duplex_in = 400e9, .duplex_out = 400e9};
  return p;
}

/// Kernels with the usual work are memory-bound; only much more work makes them compute-bound.
sim::Profile slow_memory() {
  sim::Profile p = profile("h200");
  p.memory_bandwidth = 1e12;
  p.kernel_traffic_rate = 0.9e12;
  p.fma_rate = 40e12;
  return p;
}

TEST(CalibrateOnSim, FindsTheProfileAgain) {
  struct Tolerance {
    const char* field;
    double relative;
  };
  // Hand-over costs are fitted less accurately: they are only a part of a short chain's time. On a link of 200 GB/s
  // copies of the opposite direction end before the last stream switches.
  constexpr std::array kFields{Tolerance{"h2d_rate", 1e-4},
                               Tolerance{"d2h_rate", 1e-4},
                               Tolerance{"h2d_overhead", 0.01},
                               Tolerance{"d2h_overhead", 0.01},
                               Tolerance{"gate_to_copy", 0.01},
                               Tolerance{"h2d_duplex_rate", 0.003},
                               Tolerance{"d2h_duplex_rate", 0.003},
                               Tolerance{"h2d_duplex_overhead", 0.03},
                               Tolerance{"d2h_duplex_overhead", 0.03},
                               Tolerance{"kernel_overhead", 0.01},
                               Tolerance{"copy_to_kernel", 0.06},
                               Tolerance{"kernel_to_copy", 0.06},
                               Tolerance{"copy_to_copy", 0.1},
                               Tolerance{"stream_switch", 0.12},
                               Tolerance{"order_cost", 0.02},
                               Tolerance{"kernel_h2d_rate", 2e-3},
                               Tolerance{"kernel_d2h_rate", 2e-3},
                               Tolerance{"kernel_link_overhead", 0.05},
                               Tolerance{"pageable_h2d_rate", 1e-3},
                               Tolerance{"pageable_d2h_rate", 1e-3},
                               Tolerance{"pageable_overhead", 0.1},
                               Tolerance{"d2d_rate", 1e-3},
                               Tolerance{"launch_call", 1e-3},
                               Tolerance{"wake_up", 0.1},
                               Tolerance{"copy_call", 1e-3},
                               Tolerance{"batch_copy_call", 1e-3},
                               Tolerance{"batch_copy", 0.05},
                               Tolerance{"batch_inline_call", 0.01},
                               Tolerance{"batch_inline_rate", 0.01},
                               Tolerance{"piece_read_turn", 0.02},
                               Tolerance{"piece_write_turn", 0.02},
                               Tolerance{"bulk_turn", 0.02},
                               Tolerance{"list_read", 0.02},
                               Tolerance{"kernels_duplex_rate", 0.02},
                               Tolerance{"disk_read_rate", 0.02},
                               Tolerance{"disk_read_rate_scattered", 0.02},
                               Tolerance{"disk_read_rate_cached", 0.02},
                               Tolerance{"disk_write_rate", 0.02},
                               Tolerance{"disk_write_rate_scattered", 0.02},
                               Tolerance{"disk_write_rate_cached", 0.02},
                               Tolerance{"file_copy_rate", 0.02},
                               Tolerance{"file_write_rate", 0.05},
                               Tolerance{"fault_rate", 0.05},
                               Tolerance{"fma_rate", 0.01},
                               Tolerance{"kernel_traffic_rate", 0.01}};
  int number = 0;
  for (const sim::Profile& p : {profile("h200"), another(), without_contention(), fast_link(), slow_memory()}) {
    const Calibration made = calibrated(p);
    EXPECT_TRUE(made.missing.empty());
    EXPECT_TRUE(made.remarks.empty()) << made.remarks[0];
    for (const auto& [field, relative] : kFields) {
      const auto found = std::ranges::find(made.figures, field, &Figure::field);
      ASSERT_NE(found, made.figures.end()) << field;
      const double truth = sim::find_profile_field(field)->get(p);
      EXPECT_NEAR(found->value, truth, relative * truth) << field << " of profile " << number;
    }
    ++number;
  }
}

TEST(CalibrateOnSim, HostMemoryIsNoSlowerThanTheLink) {
  const sim::Profile truth = fast_link();
  const Calibration made = calibrated(truth);
  for (const auto& [field, least] : {std::pair{"socket_memory.in", truth.h2d_rate},
                                     {"socket_memory.out", truth.d2h_rate},
                                     {"socket_memory.duplex_in", truth.h2d_rate * truth.h2d_duplex_rate},
                                     {"socket_memory.duplex_out", truth.d2h_rate * truth.d2h_duplex_rate}}) {
    const auto found = std::ranges::find(made.figures, field, &Figure::field);
    ASSERT_NE(found, made.figures.end()) << field;
    EXPECT_GE(found->value, 0.99 * least) << field;
  }
}

TEST(CalibrateOnSim, OnlyTellsWhatProfilesHave) {
  for (const Figure& figure : calibrated(profile("h200")).figures) {
    EXPECT_NE(sim::find_profile_field(figure.field), nullptr) << figure.field;
  }
}

}  // namespace

}  // namespace xferbench::test
