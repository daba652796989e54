#include "device/sim/profile.hpp"

#include <array>

namespace xferbench::sim {

namespace {

/// Profile h200: medians measured on one NVIDIA H200 SXM on PCIe Gen5 x16, driver 580, CUDA 13.0, in a virtual machine
/// with 16 CPUs.
const Profile kH200;

/// Profile h100: one of two NVIDIA H100 80GB HBM3, driver 580, CUDA 13.0, in a virtual machine with 32 CPUs. Sources:
/// `calibrate` (docs/results/h100-x2-calibrate.json.xz), and suite gpus for copies between the two GPUs and for copies
/// by both GPUs at once. h2d_overhead, d2h_overhead and copy_call are from thousands of copies in a row on a third H100
/// (docs/results/h100-scatter.json.xz), whose short copies take as long as those of the first one. All other numbers
/// are the H200's, including the overhead of pageable copies, because the times measured on the H100 did not fit a
/// straight line.
Profile h100(Profile profile) {
  profile.name = "h100";
  profile.description = "NVIDIA H100 SXM, PCIe Gen5 x16, two copy engines";
  profile.gpu_name = "NVIDIA H100 80GB HBM3";
  profile.memory_bytes = 85'017'493'504;
  profile.l2_bytes = 50 * 1024 * 1024;
  profile.memory_bandwidth = 3.352e12;
  profile.socket_memory = {.in = 108.3e9, .out = 106.0e9, .duplex_in = 56e9, .duplex_out = 94e9};
  profile.peer_read_rate = 391.3e9;
  profile.peer_write_rate = 395.8e9;
  profile.peer_duplex_rate = 0.987;
  profile.kernel_peer_read_rate = 373.9e9;
  profile.kernel_peer_write_rate = 373.1e9;
  profile.kernel_peer_write_duplex = 0.985;
  profile.h2d_rate = 53.87e9;
  profile.d2h_rate = 55.17e9;
  profile.h2d_overhead = 2.7e-6;
  profile.d2h_overhead = 2.4e-6;
  profile.h2d_duplex_rate = 0.929;
  profile.d2h_duplex_rate = 0.920;
  profile.h2d_duplex_overhead = 1.63;
  profile.d2h_duplex_overhead = 1.78;
  profile.d2d_rate = 1.508e12;
  profile.fill_rate = 3.16e12;  // estimated: the H200's, scaled by memory bandwidth
  profile.pageable_h2d_rate = 13.9e9;
  profile.pageable_d2h_rate = 14.9e9;
  profile.kernel_overhead = 3.0e-6;
  profile.kernel_traffic_rate = 2.986e12;
  profile.fma_rate = 26.3e12;
  profile.kernel_h2d_rate = 50.86e9;
  profile.kernel_d2h_rate = 52.47e9;
  profile.kernel_link_overhead = 1.9e-6;
  profile.kernel_duplex_ratio = 0.809;
  profile.copy_to_kernel = 4.0e-6;
  profile.kernel_to_copy = 4.0e-6;
  profile.copy_to_copy = 2.8e-6;
  profile.stream_switch = 0.56e-6;
  profile.copy_call = 1.6e-6;
  profile.launch_call = 3.5e-6;
  profile.order_cost = 0.65e-6;
  profile.wake_up = 4.1e-6;
  return profile;
}

Profile with_one_copy_engine(Profile profile) {
  profile.name = "h200-one-engine";
  profile.description = "what-if: the h200 with one copy engine for both directions";
  profile.copy_engines = 1;
  return profile;
}

/// Returns a profile with two GPUs of the given one on one socket, in a virtual machine with 32 CPUs. Measured: copies
/// between the GPUs by copy engines and by kernels, each way alone and both at once, with and without peer access; and
/// the total host memory traffic of both GPUs, one way (socket_memory.in and out, slightly less than twice that of one
/// GPU) and both ways. socket_memory.duplex_in and duplex_out are fitted to the traffic both ways: if both GPUs copy
/// both ways, the model gives H2D 68 GB/s (measured 60 to 68) and D2H 101 GB/s, the limit of the GPUs' links in the
/// model (measured 105). peer_event_cost and peer_copies = 1 are estimates.
Profile two_of(Profile profile) {
  profile.description = "two of the " + profile.name + " on one socket, with 18 NVLinks between them";
  profile.name += "-x2";
  profile.gpus = 2;
  profile.nvlinks = 18;
  return profile;
}

/// Returns a profile with eight GPUs, which is an estimate: only single GPUs and pairs with NVLink were measured. The
/// memory of a socket is assumed to sustain the one-way traffic of two GPUs, but neither that of three nor the two-way
/// traffic of two. The link between sockets is typical of two-socket servers with PCIe Gen5. NVSwitch ports accept
/// copies from all seven other GPUs at once.
Profile eight_of(Profile profile) {
  profile.name = "h200-x8";
  profile.description = "what-if: eight of the h200 on two sockets, NVLink between all";
  profile.gpus = 8;
  profile.sockets = 2;
  profile.socket_memory = {.in = 150e9, .out = 150e9, .duplex_in = 45e9, .duplex_out = 130e9};
  profile.between_sockets = {.in = 120e9, .out = 120e9, .duplex_in = 100e9, .duplex_out = 100e9};
  profile.nvlinks = 18;
  profile.peer_copies = 7;
  return profile;
}

const std::array<Profile, 6> kProfiles{kH200,       with_one_copy_engine(kH200), two_of(kH200), eight_of(kH200),
                                       h100(kH200), two_of(h100(kH200))};

}  // namespace

std::span<const Profile> profiles() { return kProfiles; }

}  // namespace xferbench::sim
