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

/// Rates in bytes per second, times in seconds.
struct Profile {
  std::string name;
  std::string description;

  std::string gpu_name;
  std::string compute_capability;
  unsigned multiprocessors;
  std::uint64_t memory_bytes;
  std::uint64_t l2_bytes;
  double sm_clock_hz;
  double memory_bandwidth;  ///< theoretical, from clock x width
  unsigned pcie_generation;
  unsigned pcie_width;

  unsigned gpus;     ///< all alike, ...
  unsigned sockets;  ///< ... spread evenly over one or two of these, in order
  /// What GPUs read (in) and write (out) of the memory of one socket, all of them together.
  Capacity socket_memory;
  /// The link from the first socket to the second (in) and back.
  Capacity between_sockets;
  unsigned nvlinks;                ///< of each GPU, each of which leads to all others; 0: there are none
  double nvlink_rate;              ///< of one, each way, as NVML tells it
  unsigned peer_copies;            ///< that a GPU sends at once, and as many that it fetches
  double peer_read_rate;           ///< payload of copies that fetch from another GPU
  double peer_write_rate;          ///< of copies that send to it
  double peer_overhead;            ///< engine time per such copy beside its payload
  double peer_duplex_rate;         ///< of each direction while the other moves payload, over the same alone
  double staged_peer_rate;         ///< without peer access, through the host
  double staged_peer_rate_all;     ///< of all such copies together
  double staged_peer_overhead;     ///< engine time per such copy
  double kernel_peer_read_rate;    ///< a kernel that reads another GPU's memory
  double kernel_peer_write_rate;   ///< a kernel that writes it
  double kernel_peer_read_duplex;  ///< their rates while the other direction moves payload, over those of copies
  double kernel_peer_write_duplex;
  double peer_event_cost;  ///< from others on its own GPU seeing an event to those on another one

  unsigned copy_engines;  ///< 1 or 2: with 1, H2D and D2H take turns
  double h2d_rate;
  double d2h_rate;
  double h2d_overhead;  ///< engine time per copy beside its payload
  double d2h_overhead;
  // While the other direction moves payload, over the same alone.
  double h2d_duplex_rate;
  double d2h_duplex_rate;
  double h2d_duplex_overhead;
  double d2h_duplex_overhead;
  double copy_overhead;  ///< of copies and fills inside the GPU
  double d2d_rate;       ///< payload
  double fill_rate;

  double pageable_h2d_rate;
  double pageable_d2h_rate;
  double pageable_overhead;             ///< per copy
  std::uint64_t pageable_inline_bytes;  ///< H2D up to this size is copied aside by the host, and the call returns
  double host_copy_rate;                ///< the host's own memory copy, one thread
  double host_copy_rate_all;            ///< of all threads together
  double host_read_rate;                ///< one thread that reads and sums up
  double register_call;                 ///< pinning touched small pages in place: of each call ...
  double register_rate;                 ///< ... and for the bytes
  double unregister_call;
  double unregister_rate;

  double kernel_overhead;  ///< engine time per launch beside the work
  double kernel_traffic_rate;
  double fma_rate;              ///< fused multiply-adds per second
  double kernel_h2d_rate;       ///< a kernel that reads host memory
  double kernel_d2h_rate;       ///< a kernel that writes host memory
  double kernel_link_overhead;  ///< of such a kernel, beside what every kernel has and its payload
  double kernel_duplex_ratio;   ///< rate of each direction in a kernel that does both, over its rate alone

  // From the end of an operation to the start of the next that waited for it, on another engine.
  double copy_to_kernel;
  double kernel_to_copy;
  double copy_to_copy;    ///< of the other direction
  double gate_to_copy;    ///< from the opening of a gate to the first copy behind it
  double gate_to_kernel;  ///< the same to a kernel
  double stream_switch;   ///< of a copy engine that takes up a copy of another stream than the one before

  double copy_call;  ///< host time of an asynchronous copy's call
  double launch_call;
  double graph_call;
  double graph_copy_call;  ///< of that call, for each copy in the graph between host and GPU
  double graph_start;      ///< stream time of a graph before its first operation
  double graph_node;       ///< engine time of a kernel in a graph beside the work
  double event_call;       ///< of recording or waiting for an event
  double event_cost;       ///< stream time of an event that takes the time
  double order_cost;       ///< from a stream reaching an event that only keeps order to others seeing it
  double query_call;       ///< of asking whether an event has finished
  double wake_up;          ///< from completion to the waiting host running again
  double handoff;          ///< from one host thread to another that polls for it
  double stamp_cost;       ///< stream time of writing the GPU's timer to host memory

  double callback_call;          ///< of launching a host function
  double host_function_start;    ///< from the stream reaching a host function to its first line, cudaLaunchHostFunc
  double stream_callback_start;  ///< the same, cudaStreamAddCallback
  double host_function_end;      ///< from its return to the stream going on

  // What only a profile file has.
  std::string base{};                                 ///< the built-in profile that it changes
  std::vector<Environment::ProfileChange> changes{};  ///< by name
  std::string uuid{};                                 ///< of the GPU; of several, each has its number behind it
  Variation varies{};
};

/// The built-in profiles, the default first.
std::span<const Profile> profiles();

}  // namespace xferbench::sim
