// Fixtures and helpers for tests on simulated machines, including faulty ones.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/open.hpp"
#include "device/sim/profile.hpp"
#include "device/sim/sim_machine.hpp"
#include "kernels/elementwise.hpp"
#include "measure/pattern.hpp"
#include "parsing.hpp"
#include "run/findings.hpp"
#include "run/runner.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench::test {

inline const sim::Profile& profile(std::string_view name) {
  for (const sim::Profile& p : sim::profiles()) {
    if (p.name == name) return p;
  }
  throw std::logic_error("no such profile");
}

/// Replaces operations of a simulated machine; empty ones behave as usual. A replacement may call the usual operation,
/// such as stream.SimStream::copy(copy).
struct Override {
  std::function<void(sim::SimStream&, const Copy&)> copy{};
  std::function<void(sim::SimStream&, const CopyBatch&)> copy_batch{};
  std::function<void(sim::SimStream&, const Kernel&)> launch{};
  std::function<void(sim::SimStream&, std::uint64_t*)> stamp{};
  std::function<void(sim::SimStream&, EventImpl&)> record{};
  std::function<void(sim::SimStream&, EventImpl&)> wait{};
  std::function<void(sim::SimStream&, GraphImpl&)> replay{};
  std::function<void(const HostView&)> prefetch{};
  std::function<void(sim::SimStream&)> synchronize{};
  std::function<sim::OperationPtr(sim::SimStream&, double)> hold{};
  std::function<void()> synchronize_event{};
  std::function<bool()> finished{};
  std::function<bool()> usable{};
};

class StreamOverride final : public sim::SimStream {
 public:
  StreamOverride(sim::SimDevice& device, StreamKind kind, const Override& how) : SimStream(device, kind), how_(how) {}
  void copy(const Copy& c) override { how_.copy ? how_.copy(*this, c) : SimStream::copy(c); }
  void copy_batch(const CopyBatch& c) override {
    how_.copy_batch ? how_.copy_batch(*this, c) : SimStream::copy_batch(c);
  }
  void launch(const Kernel& k) override { how_.launch ? how_.launch(*this, k) : SimStream::launch(k); }
  void stamp(std::uint64_t* slot) override { how_.stamp ? how_.stamp(*this, slot) : SimStream::stamp(slot); }
  void record(EventImpl& e) override { how_.record ? how_.record(*this, e) : SimStream::record(e); }
  void wait(EventImpl& e) override { how_.wait ? how_.wait(*this, e) : SimStream::wait(e); }
  void prefetch(const HostView& managed, Direction direction) override {
    how_.prefetch ? how_.prefetch(managed) : SimStream::prefetch(managed, direction);
  }
  void replay(GraphImpl& g) override { how_.replay ? how_.replay(*this, g) : SimStream::replay(g); }
  void synchronize() override { how_.synchronize ? how_.synchronize(*this) : SimStream::synchronize(); }
  sim::OperationPtr hold(double seconds) override {
    return how_.hold ? how_.hold(*this, seconds) : SimStream::hold(seconds);
  }

 private:
  const Override& how_;
};

class EventOverride final : public sim::SimEvent {
 public:
  EventOverride(sim::SimDevice& device, EventKind kind, const Override& how) : SimEvent(device, kind), how_(how) {}
  void synchronize() override { how_.synchronize_event ? how_.synchronize_event() : SimEvent::synchronize(); }
  bool finished() override { return how_.finished ? how_.finished() : SimEvent::finished(); }

 private:
  const Override& how_;
};

class DeviceOverride : public sim::SimDevice {
 public:
  explicit DeviceOverride(sim::SimMachine& machine, Override how, std::size_t number = 0)
      : SimDevice(machine, number), how_(std::move(how)) {}
  [[nodiscard]] bool usable() noexcept override { return how_.usable ? how_.usable() : SimDevice::usable(); }
  [[nodiscard]] MemoryInfo memory() override {
    if (!usable()) throw DeviceError("memory", "made to fail");
    return SimDevice::memory();
  }

 protected:
  std::unique_ptr<sim::SimStream> new_stream(StreamKind kind) override {
    return std::make_unique<StreamOverride>(*this, kind, how_);
  }
  std::unique_ptr<sim::SimEvent> new_event(EventKind kind) override {
    return std::make_unique<EventOverride>(*this, kind, how_);
  }

 private:
  Override how_;
};

/// A loaded kernel of a user that claims to run on the device itself.
class CapableKernel final : public LoadedKernel {
 public:
  [[nodiscard]] bool has_stand_in() const override { return false; }
  [[nodiscard]] const LaunchRequest& launch_request() const override { return wishes_; }
  [[nodiscard]] unsigned best_block_size() const override { return 128; }
  void launch(const OwnLaunch&, void*) const override { throw std::logic_error("there is no GPU"); }

 private:
  LaunchRequest wishes_{.elements_per_thread = 4, .shared_bytes = 1024};
};

/// Claims to be a real device with every capability, so that every scenario runs. Its times mean nothing.
class CapableDevice : public DeviceOverride {
 public:
  explicit CapableDevice(sim::SimMachine& machine, Override how = {}, std::size_t number = 0)
      : DeviceOverride(machine, std::move(how), number), capabilities_(SimDevice::capabilities()) {
    capabilities_.environment.backend = "willing";
    capabilities_.multiprocessor = {.compute_capability = 90,
                                    .shared_per_block = 227 * KiB,
                                    .shared_in_all = 228 * KiB,
                                    .shared_reserved = KiB,
                                    .threads = 2048};
  }
  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  const LoadedKernel& load_kernel(const KernelSource&) override { return own_kernel_; }
  std::size_t reserve_device_launches(std::size_t pending) override { return room_ = pending; }
  [[nodiscard]] std::size_t reserved_device_launches() const override { return room_; }
  [[nodiscard]] std::optional<KernelResources> resources(const Kernel&) override {
    return KernelResources{.registers = 32, .shared_bytes = 8 * KiB, .local_bytes = 0, .blocks_per_multiprocessor = 8};
  }

 protected:
  Capabilities capabilities_;

 private:
  CapableKernel own_kernel_;
  std::size_t room_ = 0;
};

/// The path of a kernel in examples/kernels.
inline std::string example_kernel(const std::string& name) {
  return std::string(XFERBENCH_SOURCE_DIR) + "/examples/kernels/" + name + ".cu";
}
inline std::vector<std::string> flags_of_kernel(const std::string& name) {
  return {"--kernel-file", example_kernel(name), "--kernel-name", name};
}

/// A simulated H200 whose device is of this class.
template <class SomeDevice, class... Arguments>
sim::SimMachine machine_with(Arguments... arguments) {
  return sim::SimMachine(profile("h200"), {0}, [&](sim::SimMachine& machine, std::size_t) {
    return std::make_unique<SomeDevice>(machine, std::move(arguments)...);
  });
}

inline sim::SimMachine machine_that(Override how) { return machine_with<DeviceOverride>(std::move(how)); }

/// A machine with several GPUs of a profile, all with these replacements.
inline sim::SimMachine machine_that(const Override& how, std::string_view of_profile, std::vector<int> gpus) {
  return sim::SimMachine(profile(of_profile), std::move(gpus), [&how](sim::SimMachine& machine, std::size_t number) {
    return std::make_unique<DeviceOverride>(machine, how, number);
  });
}

/// A machine whose GPUs are WillingDevices, which run every scenario.
inline std::unique_ptr<sim::SimMachine> capable_machine(std::string_view of_profile = "h200",
                                                        std::vector<int> gpus = {0}) {
  return std::make_unique<sim::SimMachine>(profile(of_profile), std::move(gpus),
                                           [](sim::SimMachine& machine, std::size_t number) {
                                             return std::make_unique<CapableDevice>(machine, Override{}, number);
                                           });
}

/// One with as many GPUs as the case needs.
inline std::unique_ptr<sim::SimMachine> capable_machine_for(const PlannedCase& planned) {
  const bool several = planned.scenario->descriptor().gpus == UsesGpus::several || planned.config.has("split") ||
                       planned.config.has("sharing") || planned.config.is("strategy", "multipath");
  return several ? capable_machine("h200-x2", {0, 1}) : capable_machine();
}

/// Few samples suffice, since simulated times repeat exactly. Without `verify` no data is moved, which makes runs much
/// faster and changes no time.
inline RunContext quick_bench(Device& device, bool verify = true) {
  SamplingPolicy policy;
  policy.min_samples = policy.max_samples = 6;
  return {device.machine(), device, policy, 5, verify, [](const SamplingProgress&) {}};
}

/// A simulated H200 and a payload that goes from in_ through gpu_ to out_.
class SimTest : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 16U << 20;
  static constexpr std::uint64_t kSeed = 9;

  Stream stream(StreamKind kind = StreamKind::nonblocking) { return device_.make_stream(kind); }
  Event event(EventKind kind = EventKind::ordering) { return device_.make_event(kind); }
  double now() { return machine_.host().now(); }
  void work(double seconds) {
    machine_.host().work({.seconds = seconds}, [] {});
  }

  Copy in() { return {gpu_.data, in_.data, kBytes, Direction::h2d}; }
  Copy out() { return {out_.data, gpu_.data, kBytes, Direction::d2h}; }
  /// Fills in_ with the payload, and poisons gpu_ and out_.
  void prepare(std::uint64_t seed = kSeed) {
    pattern::fill_bytes({in_.data, kBytes}, seed);
    pattern::poison({out_.data, kBytes});
    stream().fill(gpu_, pattern::kPoison);
    device_.synchronize();
  }
  /// Waits for the device. Whether out_ holds the whole payload.
  bool came_back(std::uint64_t seed = kSeed) {
    device_.synchronize();
    return !pattern::check_bytes({out_.data, kBytes}, seed).has_value();
  }

  const sim::Profile& profile_ = profile("h200");
  sim::SimMachine machine_{profile_};
  Device& device_ = machine_.device();
  HostBuffer in_ = device_.allocate_host(kBytes, HostMemory::pinned);
  HostBuffer out_ = device_.allocate_host(kBytes, HostMemory::pinned);
  DeviceBuffer gpu_ = device_.allocate_device(kBytes);
  double one_way_ = kBytes / profile_.h2d_rate;
};

using Words = std::vector<std::string>;

inline std::vector<PlannedCase> overlap_cases(Words flags) {
  flags.insert(flags.begin(), "overlap");
  return test::cases_of(flags);
}

inline std::vector<Result> run_all(std::span<const PlannedCase> cases, const RunContext& bench) {
  return run_cases(cases, bench, {});
}

/// Runs all cases of a command, with a few samples each.
inline std::vector<Result> run_on(Device& device, const Words& command, bool verify = true) {
  return run_all(cases_of(command), quick_bench(device, verify));
}

/// The metric's value; throws if the result has none of that name.
inline double metric(const Result& r, std::string_view name) {
  const Metric* found = r.metric(name);
  if (found == nullptr) throw std::runtime_error(fmt::format("{} has no {}: {}", r.config.key(), name, r.reason));
  return found->value;
}
/// The measurement's median; throws if the result has none of that name.
inline double median(const Result& r, std::string_view name) {
  const Measurement* found = r.measurement(name);
  if (found == nullptr) throw std::runtime_error(fmt::format("{} has no {}: {}", r.config.key(), name, r.reason));
  return found->median;
}

/// Expects this status for all results, and a reason that contains `reason`. `count`: number of results; 0: at least
/// one.
inline void expect_all(std::span<const Result> results, Status status, std::string_view reason = "",
                       std::size_t count = 0) {
  EXPECT_TRUE(count == 0 ? !results.empty() : results.size() == count) << results.size() << " results";
  for (const Result& r : results) {
    EXPECT_EQ(r.status, status) << r.config.key() << ": " << r.reason;
    EXPECT_NE(r.reason.find(reason), std::string::npos) << r.config.key() << ": " << r.reason;
  }
}

/// The cases of a command on this machine, with its GPUs as the requested ones.
inline std::vector<PlannedCase> cases_on(const Machine& machine, std::span<const PlannedCase> planned) {
  return expanded({planned.begin(), planned.end()}, {machine.device().capabilities().environment, true});
}
inline std::vector<PlannedCase> cases_on(const Machine& machine, const Words& command) {
  return cases_on(machine, cases_of(command));
}
inline std::vector<PlannedCase> cases_on(const Machine& machine, const std::string& line) {
  return cases_on(machine, cases_of_line(line));
}

/// Runs the cases of a command on this machine.
template <class Command>
std::vector<Result> run_on_gpus(Machine& machine, const Command& command, bool verify = true) {
  return run_all(cases_on(machine, command), quick_bench(machine.device(), verify));
}

inline Words keys_of(std::span<const PlannedCase> cases) {
  Words keys;
  for (const PlannedCase& c : cases) keys.push_back(c.config.key());
  return keys;
}

/// Two GPUs without peer access.
inline sim::SimMachine strangers() {
  static const sim::Profile apart = [] {
    sim::Profile p = profile("h200-x2");
    p.nvlinks = 0;
    return p;
  }();
  return sim::SimMachine(apart, {0, 1});
}

/// Runs a case on two GPUs. Returns the largest number of bytes allocated on either, looked up at copies and kernels.
inline std::uint64_t most_device_memory(const PlannedCase& c) {
  std::uint64_t most = 0;
  const auto look = [&most](sim::SimStream& stream) {
    for (Device* device : stream.device().machine().devices()) {
      const MemoryInfo memory = device->memory();
      most = std::max<std::uint64_t>(most, memory.total_bytes - memory.free_bytes);
    }
  };
  Override how;
  how.copy = [&look](sim::SimStream& stream, const Copy& copy) {
    look(stream);
    stream.SimStream::copy(copy);
  };
  how.launch = [&look](sim::SimStream& stream, const Kernel& kernel) {
    look(stream);
    stream.SimStream::launch(kernel);
  };
  sim::SimMachine machine = machine_that(how, "h200-x2", {0, 1});
  expect_all(run_all({{c}}, quick_bench(machine.device())), Status::ok, "", 1);
  return most;
}

/// Expects a UsageError whose message contains `why`.
inline void expect_refused(const std::string& line, std::string_view why) {
  try {
    cases_of_line(line);
    ADD_FAILURE() << line;
  } catch (const UsageError& error) {
    EXPECT_NE(std::string_view(error.what()).find(why), std::string_view::npos) << line << ": " << error.what();
  }
}

/// The texts of all findings from these results.
inline std::vector<std::string> sentences(std::span<const Result> results) {
  std::vector<std::string> texts;
  for (const Finding& f : conclude(scenarios(), results)) texts.push_back(f.text);
  return texts;
}

/// Runs commands on a simulated H200.
class OnSim : public testing::Test {
 protected:
  std::vector<Result> run(const Words& command) { return run_on(device_, command, verify_); }
  Result run_one(const Words& command) { return run(command).front(); }

  bool verify_ = true;
  sim::SimMachine machine_{profile("h200")};
  Device& device_ = machine_.device();
};

}  // namespace xferbench::test
