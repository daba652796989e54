// Faults of every device call, once or from then on, in every scenario. The case must fail with its reason, later cases
// must run or be skipped, and no thread may hang or be left behind. Tests try a selection of calls; the long form tries
// three times as many. All calls:
//   XFERBENCH_EVERY_CALL=1 sim_tests --gtest_filter='*DeviceFaults*'
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "sim/faulty_device.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

using Effect = InjectedFault::Effect;
using Faulty = InterceptedSim<FaultInjector>;

/// Small cases of each scenario, which together make every device call that it can make.
const std::vector<std::pair<std::string, std::vector<std::string>>>& small_cases() {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> all{
      {"overlap",
       {"overlap --size 64K --streams 2 --chunks 4 --strategy serial,streams,zero-copy,batch,graph",
        "overlap --size 64K --streams 2 --chunks 4 --rounds 2 --balance 1 --kernel vector-add",
        "overlap --size 64000 --chunks 4 --row-bytes 1000 --halo-rows 1 --kernel-name sobel --kernel-file " +
            example_kernel("sobel"),
        "overlap --size 64K --chunks 4 --slots 1 --strategy multipath"}},
      {"memcpy",
       {"memcpy --size 64K --dir h2d,d2d,bidirectional --host pinned", "memcpy --size 64K --dir d2h --host registered",
        "memcpy --size 64K --dir bidirectional --host pinned --api sync",
        "memcpy --size 64K --dir bidirectional --host pageable",
        "memcpy --size 64K --dir d2d --api graph --device-memory pool"}},
      {"p2p", {"p2p --pairs 0-1 --size 64K --dir write,bidirectional --engine ce,sm"}},
      {"together", {"together --pattern both,ring --group 0+1 --memory shared --size 64K"}},
      {"multipath", {"multipath --target 0 --via 1 --size 256K --share 50 --chunk 64K --slots 1"}},
      {"async", {"async --size 64K --host pinned --dir h2d", "async --size 64K --host pageable --dir d2h"}},
      {"latency", {"latency --op copy,launch,graph,wait,event-wait --schedule spin --size 8 --nodes 3 --dir h2d"}},
      {"alloc", {"alloc --size 64K --memory pinned,register,device,device-pool"}},
      {"staging",
       {"staging --size 64K --dir h2d,d2h --slot 4K --slots 2 --threads 3",
        "staging --size 256K --dir h2d,d2h --method threads --slot 64K --slots 2 --threads 3 --crew together",
        "staging --size 64K --dir h2d,d2h --method register-chunks --slot 4K --slots 2 --threads 3"}},
      {"scatter",
       {"scatter --size 64K --piece 8K --dir h2d,d2h --way calls,graph,batch,kernel,staged,packed --chunks 2 --threads "
        "2",
        "scatter --size 64K --piece 8K --dir h2d --way strided --layout strided --beside compute"}},
      {"storage",
       {"storage --size 64K --way read,threads,mmap,mmap-threads,mmap-register --cache warm --threads 2 --request 16K "
        "--slots 2",
        "storage --size 64K --way uring --depth 2 --request 16K",
        "storage --size 64K --way threads --cache cold --threads 2 --request 16K --crew together",
        "storage --size 64K --way read,threads --dir save --threads 2 --request 16K",
        "storage --size 64K --way read,mmap --layout tensors,placed --cache warm --request 16K",
        "storage --size 64K --way read,threads --cache warm --threads 2 --request 16K --sharing each,broadcast"}},
      {"callback", {"callback --size 64K --chunks 4 --streams 2 --consumers 2"}},
      {"smem",
       {"smem --size 64K --method sync --op copy --intensity 2 --stages 1 --schedule dynamic --l2 resident --tile 4K"}},
      {"dynpar", {"dynpar --task children --children 16"}},
  };
  return all;
}

/// Ends the process with a message unless destroyed in time: a test that hangs would say nothing.
class Deadline {
 public:
  explicit Deadline(std::string what)
      : thread_([what = std::move(what)](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any ended;
          std::unique_lock lock(mutex);
          ended.wait_for(lock, stop, std::chrono::minutes(2), [] { return false; });
          if (stop.stop_requested()) return;
          std::fprintf(stderr, "it hangs: %s\n", what.c_str());
          std::abort();
        }) {}

 private:
  std::jthread thread_;
};

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// Waits for at most ten seconds: a joined thread may still be listed in /proc, on a busy machine for longer than a
/// second. A thread that is left behind stays.
bool comes_down_to(std::ptrdiff_t threads) {
  for (int look = 0; look < 10'000; ++look) {
    if (threads_of_this_process() <= threads) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

std::vector<Result> run_with(Faulty& faulty, const std::vector<PlannedCase>& cases) {
  RunContext bench = quick_bench(faulty.device());
  bench.policy.min_samples = bench.policy.max_samples = 2;
  bench.policy.budget = 0;
  return run_all(cases, bench);
}

/// Records the kinds of the case's calls that may throw, in order.
class Sequence final : public CallObserver {
 public:
  void enter(const DeviceCall& call) override {
    const std::lock_guard lock(mutex_);
    if (may_throw(call.kind)) calls_.push_back(call.kind);
  }
  void leave(const DeviceCall&, bool) noexcept override {}
  [[nodiscard]] const std::vector<CallKind>& calls() const { return calls_; }

 private:
  std::mutex mutex_;
  std::vector<CallKind> calls_;
};

/// Numbers of the calls to fail, from 1: the first and the last of each kind, and about `count` in between.
std::set<std::size_t> chosen(const std::vector<CallKind>& calls, std::size_t count) {
  std::set<std::size_t> numbers;
  std::map<CallKind, std::pair<std::size_t, std::size_t>> ends;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ends.try_emplace(calls[i], i + 1, i + 1).first->second.second = i + 1;
  }
  for (const auto& [kind, firstlast] : ends) numbers.insert({firstlast.first, firstlast.second});
  const std::size_t step = std::max<std::size_t>(1, calls.size() / std::max<std::size_t>(1, count));
  for (std::size_t n = 1; n <= calls.size(); n += step) numbers.insert(n);
  return numbers;
}

/// Whether a fault may leave the case ok: destructors cannot report that their last wait or a restored setting failed.
bool may_go_unnoticed(std::string_view scenario, CallKind hit) {
  switch (hit) {
    case CallKind::synchronize_device: return scenario == "callback" || scenario == "dynpar";
    case CallKind::reserve_launches: return scenario == "dynpar";
    case CallKind::set_wait_policy: return scenario == "latency";
    case CallKind::set_peer_access:
      return scenario == "p2p" || scenario == "together" || scenario == "multipath" || scenario == "overlap" ||
             scenario == "storage";
    default: return false;
  }
}

class DeviceFaults : public testing::TestWithParam<std::size_t> {
 protected:
  const std::string& scenario_ = small_cases()[GetParam()].first;

  /// Fails about `calls` calls, spread over all cases of the scenario.
  void sweep(std::size_t calls) const {
    const bool every_call = std::getenv("XFERBENCH_EVERY_CALL") != nullptr;
    std::vector<PlannedCase> cases;
    for (const std::string& line : small_cases()[GetParam()].second) {
      for (const PlannedCase& planned : cases_of_line(line)) {
        const auto machine = capable_machine_for(planned);
        const auto all = expanded(std::vector{planned}, {machine->device().capabilities().environment});
        cases.insert(cases.end(), all.begin(), all.end());
      }
    }
    const std::size_t of_each = std::max<std::size_t>(1, calls / cases.size());
    for (const PlannedCase& planned : cases) sweep(planned, every_call ? std::size_t{1} << 30 : of_each);
  }

 private:
  void sweep(const PlannedCase& planned, std::size_t count) const {
    InterceptedSim<Sequence> well(capable_machine_for(planned));
    RunContext bench = quick_bench(well.device());
    bench.policy.min_samples = bench.policy.max_samples = 2;
    bench.policy.budget = 0;
    expect_all(run_all(std::vector{planned}, bench), Status::ok);
    for (const std::size_t nth : chosen(well.observer().calls(), count)) {
      // With one call per case, alternate between both effects.
      if (count > 1 || nth % 2 == 0) fail(planned, {.effect = Effect::fail, .kind = {}, .nth = nth});
      if (count > 1 || nth % 2 == 1) fail(planned, {.effect = Effect::lose, .kind = {}, .nth = nth});
    }
  }

  void fail(const PlannedCase& planned, const InjectedFault& fault) const {
    const std::string what = fmt::format("{}, call {}: {}", planned.config.key(), fault.nth, to_text(fault.effect));
    SCOPED_TRACE(what);
    const Deadline deadline(what);
    const std::ptrdiff_t threads = threads_of_this_process();
    {
      Faulty faulty(capable_machine_for(planned), fault);
      const auto results = run_with(faulty, {planned, planned});
      const auto hit = faulty.observer().hit();
      ASSERT_TRUE(hit) << "the case made fewer calls than before";
      expect_failure(results[0], *hit, fault.effect == Effect::lose);
      if (fault.effect == Effect::fail) {
        EXPECT_EQ(results[1].status, Status::ok) << results[1].reason;
      } else {
        EXPECT_EQ(results[1].status, Status::skipped);
        EXPECT_NE(results[1].reason.find("destroyed the GPU's context"), std::string::npos) << results[1].reason;
      }
    }
    EXPECT_TRUE(comes_down_to(threads)) << "threads that stayed behind";
  }

  void expect_failure(const Result& result, CallKind hit, bool lost) const {
    if (result.status == Status::ok && may_go_unnoticed(scenario_, hit)) return;
    EXPECT_EQ(result.status, Status::failed) << to_text(hit);
    EXPECT_NE(result.reason.find("injected fault"), std::string::npos) << result.reason;
    if (lost) return;  // another thread may have reported another call first
    EXPECT_NE(result.reason.find(to_text(hit)), std::string::npos) << result.reason;
  }
};

using DeviceFaultsLong = DeviceFaults;

TEST_P(DeviceFaults, FailTheCaseAndNothingElse) { sweep(10); }
TEST_P(DeviceFaultsLong, FailTheCaseAndNothingElse) { sweep(30); }

const auto kEvery = testing::Range(std::size_t{0}, small_cases().size());
const auto kItsName = [](const auto& scenario) { return small_cases()[scenario.param].first; };
INSTANTIATE_TEST_SUITE_P(OfEvery, DeviceFaults, kEvery, kItsName);
INSTANTIATE_TEST_SUITE_P(OfEvery, DeviceFaultsLong, kEvery, kItsName);

/// Scenarios that need several ranks are covered by exchange_test.cpp.
TEST(DeviceFaultsOfScenarios, AreTriedForEveryScenario) {
  const auto alone = [](const Scenario* scenario) { return !scenario->descriptor().needs_ranks; };
  EXPECT_EQ(small_cases().size(), static_cast<std::size_t>(std::ranges::count_if(scenarios(), alone)));
}

}  // namespace

}  // namespace xferbench::test
