// Plain MPI transfers between two ranks, timed in the manner of osu_bw and osu_latency.
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

namespace plain_mpi {

inline constexpr int kWindow = 64;
inline constexpr int kRateTag = 1;
inline constexpr int kAnswerTag = 2;
inline constexpr int kLatencyTag = 3;

struct Loop {
  int rank = 0;
  int bytes = 0;
  std::vector<char> memory;  // all messages of a window use the same memory, as in OSU's benchmarks
};

/// Seconds for `count` windows, measured on rank 0.
inline double windows(Loop& loop, int count) {
  std::array<MPI_Request, kWindow> requests{};
  char answer = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < count; ++i) {
    for (MPI_Request& request : requests) {
      if (loop.rank == 0) {
        MPI_Isend(loop.memory.data(), loop.bytes, MPI_CHAR, 1, kRateTag, MPI_COMM_WORLD, &request);
      } else {
        MPI_Irecv(loop.memory.data(), loop.bytes, MPI_CHAR, 0, kRateTag, MPI_COMM_WORLD, &request);
      }
    }
    MPI_Waitall(kWindow, requests.data(), MPI_STATUSES_IGNORE);
    if (loop.rank == 0) {
      MPI_Recv(&answer, 1, MPI_CHAR, 1, kAnswerTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(&answer, 1, MPI_CHAR, 0, kAnswerTag, MPI_COMM_WORLD);
    }
  }
  return MPI_Wtime() - begin;
}

/// Seconds for `count` round trips.
inline double round_trips(Loop& loop, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const int other = 1 - loop.rank;
  const double begin = MPI_Wtime();
  for (int i = 0; i < count; ++i) {
    if (loop.rank == 0) MPI_Send(loop.memory.data(), loop.bytes, MPI_CHAR, other, kLatencyTag, MPI_COMM_WORLD);
    MPI_Recv(loop.memory.data(), loop.bytes, MPI_CHAR, other, kLatencyTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (loop.rank == 1) MPI_Send(loop.memory.data(), loop.bytes, MPI_CHAR, other, kLatencyTag, MPI_COMM_WORLD);
  }
  return MPI_Wtime() - begin;
}

}  // namespace plain_mpi
