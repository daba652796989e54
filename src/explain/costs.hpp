// What copies, launches and waits cost on a machine, in seconds.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/enum_text.hpp"
#include "core/units.hpp"
#include "recording/recording.hpp"

namespace xferbench::explain {

using recording::CopyKind, recording::Memory;

/// In bytes. Up to this size, latency dominates the duration of a copy, and durations measured between two CUDA events
/// include some of the events' latency.
inline constexpr std::uint64_t kSmallCopy = 64 * KiB;

/// Speed of copies in each direction while copies run in both directions, as a share of their speed in one direction.
struct Duplex {
  double h2d = 1;
  double d2h = 1;
};

/// Relative difference of CPU copy times between processes of a machine. In the fixed examples `fresh` and `mapped`, 29
/// of 32 processes on four H100s were within this share of their machine's median.
inline constexpr double kCpuSpread = 0.15;

/// How the pieces of a run of small copies can be moved together, as scenario scatter measures it.
enum class PieceWay { batch, kernel, staged };
inline constexpr std::array kPieceWays{PieceWay::batch, PieceWay::kernel, PieceWay::staged};
constexpr auto texts_of(PieceWay) { return enum_texts("batch", "kernel", "staged"); }

/// Seconds for each of many pieces that are moved together.
struct PieceCost {
  double result = 0;  ///< from the first call to the result
  double calls = 0;   ///< the part of `result` that the host spends in the calls
};

/// The members below are typical values. Measured values of the machine replace them (explain/limits.hpp).
struct Costs {
  /// Returns the seconds of one copy between the GPU and this kind of host memory on an otherwise idle link; nothing if
  /// unknown.
  std::function<std::optional<double>(CopyKind, Memory, std::uint64_t bytes)> copy = [](auto, auto, auto) {
    return std::nullopt;
  };
  /// Returns the cost of each piece of this size between the GPU and pinned memory; nothing if unknown.
  std::function<std::optional<PieceCost>(CopyKind, PieceWay, std::uint64_t bytes)> piece = [](auto, auto, auto) {
    return std::nullopt;
  };
  Duplex duplex{};
  std::optional<double> pin{};      ///< seconds per byte to register memory (cudaHostRegister) and unregister it
  double asynchronous_copy = 3e-6;  ///< host time of an asynchronous copy call
  double launch = 2e-6;             ///< host time of a kernel launch call
  double start = 5e-6;              ///< seconds from the launch call to the begin of the kernel
  double wake = 5e-6;            ///< seconds from the end of an operation to the return of the call that waits for it
  double graph_launch = 6e-6;    ///< host time of launching a small graph
  double graph_node = 1.1e-6;    ///< GPU time of each empty kernel node in a graph whose nodes form a chain
  double handover = 1.5e-6;      ///< seconds from the end of an operation to the begin of one that depends on it
  double touch = 3e-10;          ///< seconds per byte to allocate memory, write to each page once, and free it
  double read_cached = 1.9e-10;  ///< seconds per byte for one of several threads to read() a file in the page cache
  /// Seconds per byte to prefetch managed memory back to the host and to map its pages there. (Measured in a program on
  /// an H100: 64 MiB took 7.7 ms, and 5 ms when they were touched.)
  double prefetch_back = 1.9e-10;
  double gather = 1e-10;  ///< seconds per byte of a host copy between two buffers: 10 GB/s
};

}  // namespace xferbench::explain
