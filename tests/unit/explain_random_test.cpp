// Random programs: no predicted time may be less than the engines allow.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "core/units.hpp"
#include "unit/explain_fixture.hpp"

namespace xferbench::explain {
namespace {

using recording::CopyKind;
using recording::Memory;
using recording::StreamFlag;

/// A program of random steps, each repeated a few times.
Recording random_program(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&random](unsigned below) { return static_cast<unsigned>(random() % below); };
  SyntheticRecording m;
  std::vector<std::uint32_t> s;
  for (unsigned i = 0; i < 1 + pick(3); ++i) {
    s.push_back(m.stream(std::array{StreamFlag::legacy, StreamFlag::blocking, StreamFlag::non_blocking}[pick(3)]));
  }
  m.begin_range("steps");
  for (unsigned part = 0; part < 1 + pick(3); ++part) {
    const unsigned program = pick(1U << 30U);
    const unsigned steps = 1 + pick(30);
    for (unsigned step = 0; step < steps; ++step) {
      std::mt19937 same(program);
      const auto choose = [&same](unsigned below) { return static_cast<unsigned>(same() % below); };
      for (unsigned i = 0; i < 3 + program % 8; ++i) {
        const std::uint32_t stream = s[choose(static_cast<unsigned>(s.size()))];
        const Memory memory = choose(2) == 0 ? Memory::pageable : Memory::pinned;
        const std::uint64_t bytes = std::array{std::uint64_t{64}, 32 * KiB, MiB, 8 * MiB}[choose(4)];
        const bool asynchronous = choose(2) == 0;
        switch (choose(8)) {
          case 0:
          case 1: m.copy(CopyKind::h2d, memory, bytes, stream, asynchronous); break;
          case 2: m.copy(CopyKind::d2h, memory, bytes, stream, asynchronous); break;
          case 3: m.kernel("a", 5e-6, stream); break;
          case 4: m.kernel("b", 300e-6, stream); break;
          case 5: m.wait(stream); break;
          case 6: m.work(50e-6); break;
          default: m.call("cudaMalloc", 30e-6); break;
        }
      }
    }
  }
  m.wait_device();
  m.end_range();
  return m.finish();
}

TEST(ExplainRandom, NoMendTakesLessThanTheEnginesNeed) {
  unsigned gains_unavailable = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const Recording r = random_program(seed);
    if (r.copies.empty() && r.kernels.empty()) continue;
    const ProcessExplanation analysis = explained(r);
    std::array<double, 3> least{};
    for (const recording::Copy& c : r.copies) {
      least[c.kind == CopyKind::h2d ? 0 : 1] += pinned_seconds(c.bytes);
    }
    for (const recording::Kernel& k : r.kernels) least[2] += 1e-9 * static_cast<double>(k.on.end - k.on.begin);
    const double bound = 0.999 * std::ranges::max(least);
    EXPECT_NEAR(analysis.shares.total(), analysis.window_summary.seconds, 1e-6 * analysis.window_summary.seconds);
    if (!analysis.gains_unavailable.empty()) {
      ++gains_unavailable;
      continue;
    }
    for (const Finding& finding : analysis.findings) {
      EXPECT_GE(*finding.seconds_after, bound) << "seed " << seed << " " << to_text(finding.kind);
      EXPECT_GE(*finding.seconds_after_all, bound) << "seed " << seed << " up to " << to_text(finding.kind);
      EXPECT_TRUE(std::isfinite(*finding.seconds_after)) << "seed " << seed << " " << to_text(finding.kind);
    }
  }
  // The made-up machine runs kernels of all streams in call order; the replay does not. So a few explanations are
  // unavailable.
  EXPECT_LE(gains_unavailable, 3U);
}

}  // namespace
}  // namespace xferbench::explain
