// Effects of the fields of a profile file on simulated results.

#include <cmath>
#include <csignal>
#include <map>

#include "device/intercepted.hpp"
#include "device/sim/profile_file.hpp"
#include "measure/statistics.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {
namespace {

sim::Profile with_changes(const std::string& rest) {
  return sim::parse_profile(R"({"schema": "xferbench-profile/1", "base": "h200", "name": "n", )" + rest + "}", "p")
      .profile;
}

/// Bandwidth in GB/s of each kind of copy.
std::map<std::string, double> copy_rates(const sim::Profile& profile) {
  sim::SimMachine machine(profile);
  std::map<std::string, double> rates;
  for (const Result& r :
       run_on(machine.device(), {"memcpy", "--dir", "h2d,d2h,d2d", "--host", "pinned,pageable", "--size", "256M"})) {
    const std::string host = r.config.has("host") ? " " + r.config.word("host") : "";
    rates[r.config.word("dir") + host] = metric(r, "bandwidth");
  }
  return rates;
}

struct Knob {
  const char* part;
  std::vector<std::string> slows;  // keys of copy_rates()
};

class ScaledParts : public testing::TestWithParam<Knob> {};

TEST_P(ScaledParts, SlowWhatIsTheirsAndNothingElse) {
  static const auto usual = copy_rates(profile("h200"));
  const auto slow = copy_rates(with_changes(fmt::format(R"("scale": {{"{}": 0.9}})", GetParam().part)));
  ASSERT_EQ(usual.size(), 5U);
  for (const auto& [what, rate] : usual) {
    const bool slows = std::ranges::find(GetParam().slows, what) != GetParam().slows.end();
    EXPECT_NEAR(slow.at(what) / rate, slows ? 0.9 : 1, 0.003) << GetParam().part << ": " << what;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ScaledParts,
    testing::Values(Knob{"link", {"h2d pinned", "d2h pinned"}}, Knob{"gpu", {"d2d"}}, Knob{"nvlink", {}},
                    Knob{"host_memory", {"h2d pinned", "d2h pinned", "h2d pageable", "d2h pageable"}}),
    [](const auto& tested) { return std::string(tested.param.part); });

TEST(ScaledLinks, SlowAPipelineThatTheyLimit) {
  const auto bandwidth = [](const sim::Profile& p) {
    sim::SimMachine machine(p);
    return metric(run_on(machine.device(), {"overlap", "--size", "256M", "--chunks", "16"}).front(), "bandwidth");
  };
  const double usual = bandwidth(profile("h200"));
  EXPECT_NEAR(bandwidth(with_changes(R"("scale": {"link": 0.9})")) / usual, 0.9, 0.01);
  EXPECT_NEAR(bandwidth(with_changes(R"("scale": {"gpu": 0.9})")) / usual, 1, 0.01);
}

TEST(ScaledNvlinks, SlowCopiesBetweenGpus) {
  const auto bandwidth = [](const sim::Profile& p) {
    sim::SimMachine machine(p, {0, 1});
    return metric(run_on_gpus(machine, Words{"p2p", "--size", "256M", "--dir", "write"}).front(), "bandwidth");
  };
  sim::Profile slow = sim::parse_profile(R"({"schema": "xferbench-profile/1", "base": "h200-x2", "name": "n",
                                             "scale": {"nvlink": 0.9}})",
                                         "p")
                          .profile;
  EXPECT_NEAR(bandwidth(slow) / bandwidth(profile("h200-x2")), 0.9, 0.002);
}

// --- Noise ----------------------------------------------------------------------------------------------------------

std::vector<double> copy_samples(const sim::Profile& profile, std::uint64_t rank = 0) {
  sim::Profile p = profile;
  p.varies.rank = rank;
  sim::SimMachine machine(p);
  const auto results = run_on(machine.device(), {"memcpy", "--dir", "h2d", "--host", "pinned", "--size", "256M"});
  return results.front().measurement("copy")->samples.held();
}

TEST(Noise, IsTheSameForTheSameSeedAndRankOnly) {
  const sim::Profile one = with_changes(R"("noise": 0.01, "seed": 1)");
  const sim::Profile two = with_changes(R"("noise": 0.01, "seed": 2)");
  EXPECT_EQ(copy_samples(one), copy_samples(one));
  EXPECT_NE(copy_samples(one), copy_samples(two));
  EXPECT_NE(copy_samples(one), copy_samples(one, 1));
  EXPECT_NE(copy_samples(two), copy_samples(one, 1));
}

TEST(Noise, SpreadsSamplesAroundTheSameMedian) {
  const std::vector<double> without = copy_samples(with_changes(R"("scale": {})"));
  const std::vector<double> with = copy_samples(with_changes(R"("noise": 0.01)"));
  EXPECT_EQ(without, copy_samples(profile("h200"))) << "no noise changes nothing at all";
  EXPECT_EQ(std::ranges::count(with, with.front()), 1);
  Measurement m;
  m.samples = with;
  statistics::summarise(m);
  EXPECT_NEAR(m.median / without.front(), 1, 0.02);
}

TEST(Noise, StretchesByItsDeviation) {
  constexpr int kDraws = 100'000;
  sim::Randomness random({.noise = 0.01, .seed = 3}, sim::Randomness::Purpose::engines);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double duration_factor = random.duration_factor();
    sum += duration_factor - 1;
    squares += (duration_factor - 1) * (duration_factor - 1);
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.0002);
  EXPECT_NEAR(std::sqrt(squares / kDraws), 0.01, 0.0002);
}

TEST(Noise, IsInWhatThreadsOfTheHostDo) {
  const auto works_for = [](const sim::Profile& p) {
    sim::SimMachine machine(p);
    const double begun = machine.host().now();
    machine.host().work({.bytes_copied = 1 << 30}, [] {});
    return machine.host().now() - begun;
  };
  const double usual = works_for(profile("h200"));
  EXPECT_NE(works_for(with_changes(R"("noise": 0.01)")), usual);
  EXPECT_NEAR(works_for(with_changes(R"("noise": 0.01)")) / usual, 1, 0.05);
}

TEST(Noise, LeavesDataRight) {
  sim::SimMachine machine(with_changes(R"("noise": 0.3)"));
  expect_all(run_on(machine.device(), {"overlap", "--size", "4M", "--chunks", "2,16", "--streams", "3"}), Status::ok);
}

// --- Late wake-ups of the host --------------------------------------------------------------------------------------

TEST(LateHosts, WakeUpLateAsOftenAsTheyShould) {
  sim::SimMachine machine(with_changes(R"("late": {"probability": 0.25, "seconds": 0.5})"));
  constexpr int kWaits = 1000;
  int late = 0;
  for (int i = 0; i < kWaits; ++i) {
    const double moment = machine.host().now() + 1;
    machine.host().wait_until(moment);
    const double by = machine.host().now() - moment;
    if (by > 0.25) {
      EXPECT_NEAR(by, 0.5, 1e-9);
      ++late;
    } else {
      EXPECT_NEAR(by, 0, 1e-9);
    }
  }
  EXPECT_NEAR(late, kWaits / 4, 50);
}

TEST(LateHosts, DoNotWaitForWhatIsPast) {
  sim::SimMachine machine(with_changes(R"("late": {"probability": 1, "seconds": 0.5})"));
  const double now = machine.host().now();
  machine.host().wait_until(now - 1);
  machine.host().wait_until(now);
  EXPECT_EQ(machine.host().now(), now);
}

// --- UUIDs ----------------------------------------------------------------------------------------------------------

TEST(UuidsOfProfiles, AreThoseOfTheFile) {
  const auto uuid = [](sim::Profile p, int gpu) {
    sim::SimMachine machine(std::move(p), {gpu});
    return machine.device().capabilities().environment.gpu.uuid;
  };
  EXPECT_EQ(uuid(profile("h200"), 0), "");
  EXPECT_EQ(uuid(with_changes(R"("uuid": "GPU-a")"), 0), "GPU-a");
  sim::Profile several = profile("h200-x8");
  several.uuid = "GPU-a";
  EXPECT_EQ(uuid(several, 5), "GPU-a-5");
}

TEST(ChangedProfiles, AreNamedByTheEnvironment) {
  sim::SimMachine machine(with_changes(R"("scale": {"link": 0.9})"));
  const Environment& e = machine.device().capabilities().environment;
  EXPECT_EQ(e.profile_text(), "n (h200 with link x 0.9)");
}

// --- Killed processes -----------------------------------------------------------------------------------------------

TEST(DyingProcesses, AreKilledInTheirNthCall) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const auto machine =
            with_fault(std::make_unique<sim::SimMachine>(profile("h200")), parse_fault("die:make-event:2"), "a test");
        const Event first = machine->device().make_event(EventKind::timing);
        const Event second = machine->device().make_event(EventKind::timing);
      },
      testing::KilledBySignal(SIGKILL), "");
}

}  // namespace
}  // namespace xferbench::test
