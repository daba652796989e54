// The profile of a simulated machine: its performance numbers. profile.cpp tells the sources of the built-in ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/environment.hpp"
#include "device/sim/event_simulator.hpp"
#include "device/sim/randomness.hpp"

namespace xferbench::sim {

/// Rates in bytes per second, times in seconds, unless a comment says otherwise. The defaults are the profile h200.
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

  // The numbers for several GPUs were measured on a machine with two GPUs (see profile.cpp); the default is one GPU.
  unsigned gpus = 1;     ///< number of GPUs, all identical
  unsigned sockets = 1;  ///< number of CPU sockets, 1 or 2; the GPUs are spread evenly over them, in order
  /// Total rate at which all GPUs read (in) and write (out) the memory of one socket.
  Capacity socket_memory{.in = 110.6e9, .out = 110.5e9, .duplex_in = 64e9, .duplex_out = 104.7e9};
  /// Capacity of the link from the first socket to the second (in) and back (out).
  Capacity between_sockets;
  unsigned nvlinks = 0;                 ///< NVLinks of each GPU, each leading to all other GPUs; 0: none
  double nvlink_rate = 26.5625e9;       ///< rate of one NVLink, each way, according to NVML
  unsigned peer_copies = 1;             ///< number of peer copies that a GPU can send at once, and fetch at once
  double peer_read_rate = 391.6e9;      ///< payload rate of copies that fetch from another GPU
  double peer_write_rate = 396.2e9;     ///< payload rate of copies that send to another GPU
  double peer_overhead = 2.3e-6;        ///< engine time per peer copy, in addition to its payload
  double peer_duplex_rate = 0.989;      ///< rate of each direction while the other is busy, relative to its rate alone
  double staged_peer_rate = 37e9;       ///< rate of one copy without peer access, staged through the host
  double staged_peer_rate_all = 52e9;   ///< total rate of all staged copies
  double staged_peer_overhead = 16e-6;  ///< engine time per staged copy
  double kernel_peer_read_rate = 376.3e9;   ///< rate of a kernel that reads another GPU's memory
  double kernel_peer_write_rate = 370.6e9;  ///< rate of a kernel that writes another GPU's memory
  double kernel_peer_read_duplex = 0.91;    ///< factor in addition to peer_duplex_rate, for kernels that read
  double kernel_peer_write_duplex = 1;      ///< factor in addition to peer_duplex_rate, for kernels that write
  double peer_event_cost = 2e-6;            ///< additional delay until streams of another GPU see an event

  unsigned copy_engines = 2;  ///< 1 or 2; with 1, H2D and D2H copies take turns
  double h2d_rate = 55.55e9;
  double d2h_rate = 55.45e9;
  double h2d_overhead = 2.4e-6;  ///< engine time per copy, in addition to its payload
  double d2h_overhead = 1.9e-6;
  // Factors on rate and overhead in one direction while the opposite direction moves payload.
  double h2d_duplex_rate = 0.945;
  double d2h_duplex_rate = 0.914;
  double h2d_duplex_overhead = 1.2;
  double d2h_duplex_overhead = 2.4;
  double copy_overhead = 2.5e-6;  ///< engine time of copies and fills inside the GPU
  double d2d_rate = 2.125e12;     ///< payload rate of copies inside the GPU
  double fill_rate = 4.534e12;

  double pageable_h2d_rate = 8.9e9;
  double pageable_d2h_rate = 18.1e9;
  double pageable_overhead = 5e-6;  ///< engine time per pageable copy, in addition to its payload
  /// Pageable H2D copies up to this size are buffered by the driver, and the call returns at once.
  std::uint64_t pageable_inline_bytes = 64 * 1024;
  double host_copy_rate = 10e9;      ///< rate of memcpy by one host thread
  double host_copy_rate_all = 60e9;  ///< rate of memcpy by all host threads together
  double host_read_rate = 12e9;      ///< rate of one host thread that reads memory and sums it
  double register_call = 20e-6;      ///< fixed host time of a call that pins touched small pages in place
  double register_rate = 42e9;       ///< bytes pinned per second after the fixed time register_call
  double unregister_call = 17e-6;
  double unregister_rate = 82e9;

  // Files. The figures are those of a virtual machine's disk and of its page cache.
  double disk_read_rate = 2e9;                ///< rate of direct reads into huge pages
  double disk_read_rate_scattered = 1.15e9;   ///< rate of direct reads into other memory
  double disk_read_rate_cached = 1.65e9;      ///< rate of reads into the page cache
  double disk_write_rate = 2.9e9;             ///< rate of direct writes from huge pages
  double disk_write_rate_scattered = 2.15e9;  ///< rate of direct writes from other memory
  double disk_write_rate_cached = 2.5e9;      ///< rate at which fdatasync() writes the page cache to the disk
  double disk_latency = 40e-6;     ///< time of a request in addition to its payload; the disk serves others meanwhile
  double file_copy_rate = 7e9;     ///< rate of read() of cached data by one host thread, at most host_copy_rate
  double file_write_rate = 4.6e9;  ///< rate of write() to the page cache; those to one file take turns
  double fault_rate = 15e9;        ///< bytes of a mapping, in cached pages, that page faults map per second
  double populate_rate = 40e9;     ///< bytes of a mapping, in cached pages, that one call maps per second

  double kernel_overhead = 2.2e-6;  ///< engine time per launch, in addition to the work
  double kernel_traffic_rate = 4.27e12;
  /// Dependent fused multiply-adds per second in a kernel that also moves data. The arithmetic units alone reach
  /// 33.4e12.
  double fma_rate = 21.2e12;
  double kernel_h2d_rate = 51.35e9;     ///< rate of a kernel that reads host memory
  double kernel_d2h_rate = 52.6e9;      ///< rate of a kernel that writes host memory
  double kernel_link_overhead = 12e-6;  ///< additional engine time of a kernel that accesses host memory
  double kernel_duplex_ratio = 0.814;   ///< rate of each direction while a kernel uses both, relative to its rate alone

  // Times of kernels that copy pieces (PieceTurns).
  double piece_read_turn = 1.87e-6;    ///< turn of a block whose threads read host memory: one round trip
  double piece_write_turn = 0.98e-6;   ///< turn of a block whose threads write host memory
  double bulk_turn = 0.424e-6;         ///< turn of a block that issues bulk copies
  double list_read = 0.178e-6;         ///< time of a cache miss in the list of the pieces
  double kernels_duplex_rate = 0.715;  ///< factor on a kernel's rate while another moves data the opposite way

  // Handover times, from the end of an operation to the start of a dependent one on another engine.
  double copy_to_kernel = 3.5e-6;
  double kernel_to_copy = 3.5e-6;
  double copy_to_copy = 2e-6;   ///< between the copy engines of opposite directions
  double gate_to_copy = 5e-6;   ///< time from the opening of a gate to the first copy after it
  double gate_to_kernel = 0;    ///< time from the opening of a gate to the first kernel after it
  double stream_switch = 3e-6;  ///< delay of a copy engine that continues with another stream

  double copy_call = 1.5e-6;  ///< host time of an asynchronous copy call
  /// Number of operations for which a stream has room; further calls wait until the oldest has finished.
  unsigned stream_room = 1024;
  double batch_copy_call = 0.43e-6;  ///< additional host time for each copy of a batch
  double batch_copy = 0.02e-6;       ///< engine time for each copy of a batch, in addition to its payload
  /// The driver copies sources of H2D batches up to this size itself, during the call.
  std::uint64_t batch_inline_bytes = 24 * 1024;
  double batch_inline_rate = 7.7e9;    ///< rate of these copies by the driver
  double batch_inline_call = 0.51e-6;  ///< host time for each such copy, in addition to batch_copy_call
  double launch_call = 2.2e-6;
  // Measured: a wait for graphs of 1, 10 and 100 empty kernels returns 5.8, 12.5 and 76.7 us after the launch call.
  // With copies the call itself is slow: 21, 39 to 41, and 75 to 81 us for 16, 32 and 64 copies of 1 MiB and more
  // (pipeline-submit of strategy graph in docs/results/h200-overlap.json.xz).
  double graph_call = 1.0e-6;
  double graph_copy_call = 1.22e-6;  ///< additional host time per copy between host and GPU in the graph
  double graph_start = 0.55e-6;      ///< stream time before the first operation of a graph
  double graph_node = 0.716e-6;      ///< engine time of a kernel in a graph, in addition to the work
  double event_call = 0.5e-6;        ///< host time to record an event or to enqueue a wait for it
  double event_cost = 1.3e-6;        ///< stream time of an event with timing
  double order_cost = 0.7e-6;        ///< delay until other streams see an event without timing
  double query_call = 0.4e-6;        ///< host time of an event query
  double wake_up = 3.5e-6;           ///< time from completion until the waiting host thread runs again
  double handoff = 0.3e-6;           ///< latency of a message to a polling host thread
  double stamp_cost = 3e-6;          ///< stream time to write the GPU's timer to host memory

  double callback_call = 2e-6;  ///< host time to enqueue a host function
  /// Time from the stream reaching a host function to the function's first line, with cudaLaunchHostFunc.
  double host_function_start = 45e-6;
  double stream_callback_start = 45e-6;  ///< like host_function_start, with cudaStreamAddCallback
  double host_function_end = 5e-6;       ///< time from the function's return until the stream continues

  // The following members are set only by profile files.
  std::string base{};                                 ///< the built-in profile that the file modifies
  std::vector<Environment::ProfileChange> changes{};  ///< values of the file that influence results, sorted by name
  std::string uuid{};                                 ///< UUID of the GPU; with several GPUs, each appends its number
  Variation varies{};
};

/// Built-in profiles, the default first.
std::span<const Profile> profiles();

}  // namespace xferbench::sim
