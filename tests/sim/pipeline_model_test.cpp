// The pipeline model against the simulated device, on the same pipelines with streams and events. The two were written
// independently.
#include "model/pipeline.hpp"

#include <array>

#include "kernels/delay.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

using model::Arrangement;
using model::StageCosts;

constexpr std::size_t kModelBytes = 64U << 20;
constexpr std::array<std::size_t, 14> kChunkCounts{1, 2, 3, 4, 7, 8, 16, 32, 33, 64, 100, 128, 200, 256};
/// Kernel time relative to H2D time: light, balanced, heavy.
constexpr std::array<double, 4> kBalances{0.1, 0.8, 1, 3};
/// Relative; the two add the same numbers in different orders.
constexpr double kClose = 1e-6;
/// Relative. Simultaneous events may differ in the last digit, and then copies contend with others for a while.
constexpr double kNearlySo = 1e-4;

/// Chunks of very different sizes, in whole bytes.
std::vector<double> uneven(std::size_t chunks) {
  std::vector<double> sizes(chunks, static_cast<double>(kModelBytes / chunks));
  for (std::size_t i = 0; i + 1 < chunks; i += 2) {
    const double moved = static_cast<double>((i * 7919) % 97) / 100 * sizes[i];
    sizes[i] -= moved;
    sizes[i + 1] += moved;
  }
  for (double& size : sizes) size = static_cast<double>(static_cast<std::size_t>(size));
  return sizes;
}

std::vector<double> even(std::size_t chunks) {
  return std::vector<double>(chunks, static_cast<double>(kModelBytes / chunks));
}

/// A simulated device that runs pipelines.
class Bed {
 public:
  Bed(std::string_view name, double balance) : profile_(profile(name)), machine_(profile_) {
    machine_.set_data_movement(false);
    costs_.h2d = {profile_.h2d_overhead, 1 / profile_.h2d_rate, profile_.h2d_duplex_rate, profile_.h2d_duplex_overhead};
    costs_.kernel = {profile_.kernel_overhead, balance / profile_.h2d_rate};
    costs_.d2h = {profile_.d2h_overhead, 1 / profile_.d2h_rate, profile_.d2h_duplex_rate, profile_.d2h_duplex_overhead};
    costs_.copy_engines = profile_.copy_engines;
    costs_.handoff = {profile_.copy_to_kernel, profile_.kernel_to_copy, profile_.copy_to_copy};
    costs_.stream_switch = profile_.stream_switch;
    costs_.start = profile_.gate_to_copy;
    for (int i = 0; i < 16; ++i) streams_.push_back(device_.make_stream(StreamKind::nonblocking));
  }

  [[nodiscard]] const StageCosts& costs() const { return costs_; }
  [[nodiscard]] const sim::Profile& of() const { return profile_; }

  /// Costs of pipelines ordered by events: an event delays the stream that waits for it, not the one that records it.
  [[nodiscard]] StageCosts costs_with_events() const {
    StageCosts c = costs_;
    for (double* handoff : {&c.handoff.copy_to_kernel, &c.handoff.kernel_to_copy, &c.handoff.copy_to_copy}) {
      *handoff += profile_.order_cost;
    }
    return c;
  }

  /// Makespan in seconds. Chunks take turns on `slots` streams; `wave` chunks at a time are submitted stage by stage.
  double round_robin(const std::vector<double>& chunks, std::size_t slots, std::size_t wave) {
    return gated(slots, [&] { submit_round_robin(chunks, slots, wave); });
  }

  /// The same without a gate, from the first call on, by the host's clock.
  double round_robin_submitted(const std::vector<double>& chunks, std::size_t slots, std::size_t wave) {
    device_.synchronize();
    const double begun = machine_.host().now();
    submit_round_robin(chunks, slots, wave);
    device_.synchronize();
    return machine_.host().now() - profile_.wake_up - begun;
  }

  /// Makespan with one stream per engine, and an event after each operation that another stream waits for.
  double stream_per_engine(const std::vector<double>& chunks, std::size_t slots) {
    std::array<std::vector<Event>, 3> done;
    for (auto& events : done) {
      for (std::size_t i = 0; i < chunks.size(); ++i) events.push_back(device_.make_event(EventKind::ordering));
    }
    const bool limited = slots > 0;
    return gated(3, [&] {
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        const bool reuses = limited && i >= slots;
        if (reuses) streams_[0].wait(done[1][i - slots]);
        copy(Direction::h2d, chunks[i], streams_[0]);
        streams_[0].record(done[0][i]);
        streams_[1].wait(done[0][i]);
        if (reuses) streams_[1].wait(done[2][i - slots]);
        launch(chunks[i], streams_[1]);
        streams_[1].record(done[1][i]);
        streams_[2].wait(done[1][i]);
        copy(Direction::d2h, chunks[i], streams_[2]);
        if (limited) streams_[2].record(done[2][i]);
      }
    });
  }

 private:
  void copy(Direction direction, double bytes, StreamView stream) {
    const auto n = static_cast<std::size_t>(bytes);
    if (direction == Direction::h2d) {
      stream.copy({gpu_.data, host_.data, n, direction});
    } else {
      stream.copy({host_.data, gpu_.data, n, direction});
    }
  }
  void launch(double bytes, StreamView stream) { stream.launch(kernels::Delay(bytes * costs_.kernel.per_byte)); }

  void submit_round_robin(const std::vector<double>& chunks, std::size_t slots, std::size_t wave) {
    for (std::size_t first = 0; first < chunks.size(); first += wave) {
      const std::size_t end = std::min(first + wave, chunks.size());
      for (std::size_t i = first; i < end; ++i) copy(Direction::h2d, chunks[i], streams_[i % slots]);
      for (std::size_t i = first; i < end; ++i) launch(chunks[i], streams_[i % slots]);
      for (std::size_t i = first; i < end; ++i) copy(Direction::d2h, chunks[i], streams_[i % slots]);
    }
  }

  /// Runs `submit` behind a gate. Seconds from the opening to the end of the last stream, without the final event.
  double gated(std::size_t streams, const std::function<void()>& submit) {
    const Gate gate = machine_.make_gate();
    const Stream root = device_.make_stream(StreamKind::nonblocking);
    const Event fork = device_.make_event(EventKind::timing);
    std::vector<Event> stops;
    gate.close(root);
    root.record(fork);
    for (std::size_t s = 0; s < streams; ++s) streams_[s].wait(fork);
    submit();
    for (std::size_t s = 0; s < streams; ++s) {
      streams_[s].record(stops.emplace_back(device_.make_event(EventKind::timing)));
    }
    gate.open();
    device_.synchronize();
    EXPECT_FALSE(gate.timed_out());
    double last = 0;
    for (const Event& stop : stops) last = std::max(last, elapsed(fork, stop));
    return last - profile_.event_cost;
  }

  const sim::Profile& profile_;
  sim::SimMachine machine_;
  Device& device_ = machine_.device();
  StageCosts costs_;
  HostBuffer host_ = device_.allocate_host(2 * kModelBytes, HostMemory::pinned);
  DeviceBuffer gpu_ = device_.allocate_device(2 * kModelBytes);
  std::vector<Stream> streams_;
};

/// Parameters: the profile and the balance.
class PipelineModelOnSim : public testing::TestWithParam<std::tuple<const char*, double>> {
 protected:
  /// For every number of chunks, even and uneven ones.
  static void each(const std::function<void(const std::vector<double>& chunks)>& check) {
    for (const std::size_t n : kChunkCounts) {
      check(even(n));
      if (n > 1) check(uneven(n));
    }
  }
  static std::string about(const std::vector<double>& chunks, std::size_t slots, std::size_t wave = 1) {
    const bool equal = chunks.front() == chunks.back() && chunks.front() == chunks[chunks.size() / 2];
    return std::to_string(chunks.size()) + (equal ? " even" : " uneven") + " chunks, " + std::to_string(slots) +
           " slots, waves of " + std::to_string(wave);
  }
  static void expect_close(double modelled, double simulated, const std::string& what, double tolerance = kClose) {
    EXPECT_NEAR(modelled, simulated, tolerance * simulated) << what;
  }

  Bed bed_{std::get<0>(GetParam()), std::get<1>(GetParam())};
};

TEST_P(PipelineModelOnSim, StreamsInTurn) {
  each([this](const std::vector<double>& chunks) {
    for (std::size_t slots = 1; slots <= 16; ++slots) {
      for (const std::size_t wave : {std::size_t{1}, slots}) {
        const Arrangement a{.chunks = chunks, .h2d_after_d2h = slots, .streams = slots, .wave = wave};
        expect_close(makespan(bed_.costs(), a), bed_.round_robin(chunks, slots, wave), about(chunks, slots, wave));
      }
    }
  });
}

TEST_P(PipelineModelOnSim, StreamsInTurnBehindASlowHost) {
  StageCosts costs = bed_.costs();
  costs.start = 0;  // no gate
  costs.submit_h2d = costs.submit_d2h = bed_.of().copy_call;
  costs.submit_kernel = bed_.of().launch_call;
  each([&](const std::vector<double>& chunks) {
    for (const std::size_t slots : {1U, 3U, 16U}) {
      for (const std::size_t wave : {std::size_t{1}, slots}) {
        const Arrangement a{.chunks = chunks, .h2d_after_d2h = slots, .streams = slots, .wave = wave};
        expect_close(makespan(costs, a), bed_.round_robin_submitted(chunks, slots, wave), about(chunks, slots, wave));
      }
    }
  });
}

TEST_P(PipelineModelOnSim, AStreamForEachEngine) {
  each([this](const std::vector<double>& chunks) {
    expect_close(makespan(bed_.costs_with_events(), {.chunks = chunks}), bed_.stream_per_engine(chunks, 0),
                 about(chunks, 0));
  });
}

TEST_P(PipelineModelOnSim, DoubleBuffers) {
  each([this](const std::vector<double>& chunks) {
    for (const std::size_t slots : {2U, 3U, 4U}) {
      const Arrangement a{.chunks = chunks, .h2d_after_kernel = slots, .kernel_after_d2h = slots};
      expect_close(makespan(bed_.costs_with_events(), a), bed_.stream_per_engine(chunks, slots), about(chunks, slots),
                   kNearlySo);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Grid, PipelineModelOnSim,
                         testing::Combine(testing::Values("h200", "h200-one-engine"), testing::ValuesIn(kBalances)));

}  // namespace

}  // namespace xferbench::test
