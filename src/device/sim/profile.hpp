// What the simulated device takes from a real one. All numbers are of one machine, measured; see profile.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/environment.hpp"
#include "device/sim/event_simulator.hpp"
#include "device/sim/randomness.hpp"

namespace xferbench::sim {

/// Rates in bytes per second, times in seconds. The numbers that stand here are those of h200.
struct Profile {
  std::string name = "h200";
  std::string description = "NVIDIA H200 SXM, PCIe Gen5 x16, two copy engines";

  std::string gpu_name = "NVIDIA H200";
  std::string compute_capability = "9.0";
  unsigned multiprocessors = 132;
  std::uint64_t memory_bytes = 150'000'000'000;
  std::uint64_t l2_bytes = 60 * 1024 * 1024;
  double sm_clock_hz = 1.98e9;
  double memory_bandwidth = 4.814e12;  ///< theoretical, from clock x width: 2 x 3201 MHz x 6016 bits
  unsigned pcie_generation = 5;
  unsigned pcie_width = 16;

  // Of the machine with two of them, see profile.cpp; the GPU of this one is alone.
  unsigned gpus = 1;     ///< all alike, ...
  unsigned sockets = 1;  ///< ... spread evenly over one or two of these, in order
  /// What GPUs read (in) and write (out) of the memory of one socket, all of them together.
  Capacity socket_memory{.in = 110.6e9, .out = 110.5e9, .duplex_in = 64e9, .duplex_out = 104.7e9};
  /// The link from the first socket to the second (in) and back.
  Capacity between_sockets;
  unsigned nvlinks = 0;                     ///< of each GPU, each of which leads to all others; 0: there are none
  double nvlink_rate = 26.5625e9;           ///< of one, each way, as NVML tells it
  unsigned peer_copies = 1;                 ///< that a GPU sends at once, and as many that it fetches
  double peer_read_rate = 391.6e9;          ///< payload of copies that fetch from another GPU
  double peer_write_rate = 396.2e9;         ///< of copies that send to it
  double peer_overhead = 2.3e-6;            ///< engine time per such copy beside its payload
  double peer_duplex_rate = 0.989;          ///< of each direction while the other moves payload, over the same alone
  double staged_peer_rate = 37e9;           ///< without peer access, through the host
  double staged_peer_rate_all = 52e9;       ///< of all such copies together
  double staged_peer_overhead = 16e-6;      ///< engine time per such copy
  double kernel_peer_read_rate = 376.3e9;   ///< a kernel that reads another GPU's memory
  double kernel_peer_write_rate = 370.6e9;  ///< a kernel that writes it
  double kernel_peer_read_duplex = 0.91;  ///< their rates while the other direction moves payload, over those of copies
  double kernel_peer_write_duplex = 1;
  double peer_event_cost = 2e-6;  ///< from others on its own GPU seeing an event to those on another one

  unsigned copy_engines = 2;  ///< 1 or 2: with 1, H2D and D2H take turns
  double h2d_rate = 55.55e9;
  double d2h_rate = 55.45e9;
  double h2d_overhead = 2.4e-6;  ///< engine time per copy beside its payload
  double d2h_overhead = 1.9e-6;
  // While the other direction moves payload, over the same alone.
  double h2d_duplex_rate = 0.945;
  double d2h_duplex_rate = 0.914;
  double h2d_duplex_overhead = 1.2;
  double d2h_duplex_overhead = 2.4;
  double copy_overhead = 2.5e-6;  ///< of copies and fills inside the GPU
  double d2d_rate = 2.125e12;     ///< payload
  double fill_rate = 4.534e12;

  double pageable_h2d_rate = 8.9e9;
  double pageable_d2h_rate = 18.1e9;
  double pageable_overhead = 5e-6;  ///< per copy
  /// H2D up to this size is copied aside by the host, and the call returns.
  std::uint64_t pageable_inline_bytes = 64 * 1024;
  double host_copy_rate = 10e9;      ///< the host's own memory copy, one thread
  double host_copy_rate_all = 60e9;  ///< of all threads together
  double host_read_rate = 12e9;      ///< one thread that reads and sums up
  double register_call = 20e-6;      ///< pinning touched small pages in place: of each call ...
  double register_rate = 42e9;       ///< ... and for the bytes
  double unregister_call = 17e-6;
  double unregister_rate = 82e9;

  double kernel_overhead = 2.2e-6;  ///< engine time per launch beside the work
  double kernel_traffic_rate = 4.27e12;
  /// Fused multiply-adds per second: of dependent ones beside traffic; the arithmetic units alone could 33.4e12.
  double fma_rate = 21.2e12;
  double kernel_h2d_rate = 51.35e9;     ///< a kernel that reads host memory
  double kernel_d2h_rate = 52.6e9;      ///< a kernel that writes host memory
  double kernel_link_overhead = 12e-6;  ///< of such a kernel, beside what every kernel has and its payload
  double kernel_duplex_ratio = 0.814;   ///< rate of each direction in a kernel that does both, over its rate alone

  // From the end of an operation to the start of the next that waited for it, on another engine.
  double copy_to_kernel = 3.5e-6;
  double kernel_to_copy = 3.5e-6;
  double copy_to_copy = 2e-6;   ///< of the other direction
  double gate_to_copy = 5e-6;   ///< from the opening of a gate to the first copy behind it
  double gate_to_kernel = 0;    ///< the same to a kernel
  double stream_switch = 3e-6;  ///< of a copy engine that takes up a copy of another stream than the one before

  double copy_call = 1.5e-6;  ///< host time of an asynchronous copy's call
  double launch_call = 2.2e-6;
  // Graphs of 1, 10 and 100 empty kernels: the wait for them returns 5.8, 12.5 and 76.7 us after the call.
  // With copies in them the call itself takes long: 21, 39 to 41 and 75 to 81 us of graphs with 16, 32 and 64 copies
  // of 1 MiB and more (pipeline-submit of strategy graph in docs/results/h200-overlap.json.xz).
  double graph_call = 1.0e-6;
  double graph_copy_call = 1.22e-6;  ///< of that call, for each copy in the graph between host and GPU
  double graph_start = 0.55e-6;      ///< stream time of a graph before its first operation
  double graph_node = 0.716e-6;      ///< engine time of a kernel in a graph beside the work
  double event_call = 0.5e-6;        ///< of recording or waiting for an event
  double event_cost = 1.3e-6;        ///< stream time of an event that takes the time
  double order_cost = 0.7e-6;        ///< from a stream reaching an event that only keeps order to others seeing it
  double query_call = 0.4e-6;        ///< of asking whether an event has finished
  double wake_up = 3.5e-6;           ///< from completion to the waiting host running again
  double handoff = 0.3e-6;           ///< from one host thread to another that polls for it
  double stamp_cost = 3e-6;          ///< stream time of writing the GPU's timer to host memory

  double callback_call = 2e-6;  ///< of launching a host function
  /// From the stream reaching a host function to its first line, cudaLaunchHostFunc.
  double host_function_start = 45e-6;
  double stream_callback_start = 45e-6;  ///< the same, cudaStreamAddCallback
  double host_function_end = 5e-6;       ///< from its return to the stream going on

  // What only a profile file has.
  std::string base{};                                 ///< the built-in profile that it changes
  std::vector<Environment::ProfileChange> changes{};  ///< by name
  std::string uuid{};                                 ///< of the GPU; of several, each has its number behind it
  Variation varies{};
};

/// The built-in profiles, the default first.
std::span<const Profile> profiles();

}  // namespace xferbench::sim
