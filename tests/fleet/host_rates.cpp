// Scenario exchange between two hosts compared with plain MPI calls, from host memory to host memory, both in turn in
// the same two processes.
//   mpirun -n 2 host_rates [ROUNDS [LARGEST]]     LARGEST: bytes
// Measures rates of windows of 64 messages in one buffer, as osu_bw does, and half of a ping-pong. Prints a line of
// JSON per size: medians of both and of their ratio in each round.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/units.hpp"
#include "fleet/plain_mpi.hpp"
#include "measure/statistics.hpp"
#include "ranks/mpi_plugin.hpp"
#include "scenarios/exchange/flow.hpp"

namespace {

using namespace xferbench;

constexpr std::size_t kMessages = plain_mpi::kWindow;

/// The scenario's transfers in the same units as plain_mpi::Loop: windows and round trips.
class ScenarioLoop {
 public:
  ScenarioLoop(Communicator& ranks, std::uint64_t bytes)
      : sends_(ranks.rank() == 0),
        memory_(bytes),
        window_{kMessages * bytes, bytes},
        one_{bytes, bytes},
        there_(ranks, way(sends_), 1 - ranks.rank(), place(), window_, kMessages),
        answer_(ranks, way(!sends_), 1 - ranks.rank(), {answered_.data(), 1, 1}, {1, 1}, 1),
        going_(ranks, MessageStage::Way::send, 1 - ranks.rank(), place(), one_, 1),
        coming_(ranks, MessageStage::Way::receive, 1 - ranks.rank(), place(), one_, 1) {}

  double windows(int count) {
    Flow window(there_, nullptr, kMessages, kMessages);
    Flow answer(answer_, nullptr, 1, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    for (int i = 0; i < count; ++i) {
      run(window);
      run(answer);
    }
    return MPI_Wtime() - begun;
  }

  double round_trips(int count) {
    Flow there(sends_ ? going_ : coming_, nullptr, 1, 1);
    Flow back(sends_ ? coming_ : going_, nullptr, 1, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    for (int i = 0; i < count; ++i) {
      run(there);
      run(back);
    }
    return MPI_Wtime() - begun;
  }

 private:
  static MessageStage::Way way(bool sends) { return sends ? MessageStage::Way::send : MessageStage::Way::receive; }
  [[nodiscard]] Slots place() { return {memory_.data(), memory_.size(), 1}; }
  void run(Flow& flow) { drive(std::array{&flow}, waiting_); }

  bool sends_;
  std::vector<std::byte> memory_;
  std::array<std::byte, 1> answered_{};
  Chunks window_;
  Chunks one_;
  MessageStage there_;
  MessageStage answer_;
  MessageStage going_;
  MessageStage coming_;
  FlowWaiting waiting_{.what = "host_rates"};
};

double loop_windows(plain_mpi::Loop& loop, int count) { return plain_mpi::windows(loop, count); }
double loop_windows(ScenarioLoop& loop, int count) { return loop.windows(count); }
double loop_trips(plain_mpi::Loop& loop, int count) { return plain_mpi::round_trips(loop, count); }
double loop_trips(ScenarioLoop& loop, int count) { return loop.round_trips(count); }

struct Compared {
  std::vector<double> plain{};
  std::vector<double> ours{};

  /// Adds a value of each loop; the order alternates by round.
  template <class Value>
  void add(int round, plain_mpi::Loop& plain_loop, ScenarioLoop& our_loop, const Value& value) {
    if (round % 2 == 0) plain.push_back(value(plain_loop));
    ours.push_back(value(our_loop));
    if (round % 2 != 0) plain.push_back(value(plain_loop));
  }
  [[nodiscard]] std::string text(std::string_view unit) const {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / plain[i]);
    return fmt::format(R"("{}": {{"plain": {:.6g}, "exchange": {:.6g}, "ratio": {:.4f}}})", unit,
                       statistics::median(plain), statistics::median(ours), statistics::median(ratios));
  }
};

/// Compares both for one message size. Round -1 is a warm-up and not counted.
void compare(Communicator& ranks, std::uint64_t bytes, int rounds) {
  constexpr double kBytesOfARound = 256.0 * static_cast<double>(MiB);
  const bool small = bytes <= 64 * KiB;
  const double window = static_cast<double>(kMessages * bytes);
  const int windows = std::clamp(static_cast<int>(kBytesOfARound / window), 1, 200);
  const int trips = std::clamp(static_cast<int>(kBytesOfARound / (2 * static_cast<double>(bytes))), 1, 5000);
  plain_mpi::Loop plain{
      .rank = ranks.rank(), .bytes = static_cast<int>(bytes), .memory = std::vector<char>(bytes, 'x')};
  ScenarioLoop ours(ranks, bytes);
  Compared rates;
  Compared latencies;
  for (int round = -1; round < rounds; ++round) {
    if (round == 0) rates = latencies = {};
    rates.add(round, plain, ours, [&](auto& loop) { return windows * window / loop_windows(loop, windows) / 1e9; });
    if (small) latencies.add(round, plain, ours, [&](auto& loop) { return loop_trips(loop, trips) / trips / 2 * 1e6; });
  }
  if (ranks.rank() != 0) return;
  const std::string latency = small ? latencies.text("us") + ", " : "";
  std::printf("%s\n", fmt::format(R"({{"bytes": {}, {}{}}})", bytes, latency, rates.text("GB/s")).c_str());
  std::fflush(stdout);
}

/// The argument at this place as a number: 0 if it is none, `otherwise` if it is missing.
std::uint64_t number_in(std::span<char*> arguments, std::size_t place, std::uint64_t otherwise) {
  if (arguments.size() <= place) return otherwise;
  const std::string_view text = arguments[place];
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

int main(int count, char** arguments) {
  const std::span<char*> all(arguments, static_cast<std::size_t>(count));
  const int rounds = static_cast<int>(number_in(all, 1, 11));
  const std::uint64_t largest = number_in(all, 2, 256 * MiB);
  try {
    const std::unique_ptr<Communicator> ranks = start_mpi();
    if (ranks->size() != 2 || rounds < 1) {
      if (ranks->rank() == 0) std::fprintf(stderr, "usage: mpirun -n 2 host_rates [ROUNDS [LARGEST]]\n");
      return 2;
    }
    for (const std::uint64_t bytes :
         {std::uint64_t{8}, 4 * KiB, 64 * KiB, MiB, 4 * MiB, 16 * MiB, 64 * MiB, 256 * MiB}) {
      if (bytes <= largest) compare(*ranks, bytes, rounds);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
