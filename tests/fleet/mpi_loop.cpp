// How fast MPI moves memory from rank 0 to rank 1, by plain calls of MPI, in the manner of osu_bw and osu_latency:
//   mpirun -n 2 mpi_loop BYTES [REPEATS]
// Rates: rank 0 begins 64 sends, waits for them, and waits for a short answer; in each repeat as often as it takes 64
// MiB, four times at least. Latencies: half a ping-pong, the mean of as many as a repeat has time for. One JSON object.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "fleet/mpi_loops.hpp"

namespace {

using mpi_loops::kWindow;
using mpi_loops::Loop;
using mpi_loops::round_trips;
using mpi_loops::windows;

void print(const char* name, const std::vector<double>& values, const char* end) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.6g", i == 0 ? "" : ", ", values[i]);
  std::printf("]%s", end);
}

void measure(Loop& loop, int repeats) {
  constexpr double kBytesOfARepeat = 64.0 * 1024 * 1024;
  const double window_bytes = static_cast<double>(kWindow) * loop.bytes;
  const int of_windows = std::clamp(static_cast<int>(kBytesOfARepeat / window_bytes), 4, 500);
  const int of_trips = std::clamp(static_cast<int>(kBytesOfARepeat / (2.0 * loop.bytes)), 4, 5000);
  windows(loop, std::max(1, of_windows / 10));  // to warm up
  round_trips(loop, std::max(1, of_trips / 10));
  std::vector<double> rates;
  std::vector<double> latencies;
  for (int i = 0; i < repeats; ++i) {
    rates.push_back(of_windows * window_bytes / windows(loop, of_windows) / 1e9);
    latencies.push_back(round_trips(loop, of_trips) / of_trips / 2 * 1e6);
  }
  if (loop.rank != 0) return;
  std::printf("{\"bytes\": %d, ", loop.bytes);
  print("GB/s", rates, ", ");
  print("us", latencies, "}\n");
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  Loop loop;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &loop.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  loop.bytes = count > 1 ? std::atoi(arguments[1]) : 0;
  const int repeats = count > 2 ? std::atoi(arguments[2]) : 5;
  const bool usable = size == 2 && loop.bytes > 0 && repeats > 0;
  if (usable) {
    loop.memory.assign(static_cast<std::size_t>(loop.bytes), 'x');
    measure(loop, repeats);
  } else if (loop.rank == 0) {
    std::fprintf(stderr, "usage: mpirun -n 2 mpi_loop BYTES [REPEATS]\n");
  }
  MPI_Finalize();
  return usable ? 0 : 2;
}
