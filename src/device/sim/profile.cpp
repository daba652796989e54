#include "device/sim/profile.hpp"

#include <array>

namespace xferbench::sim {

namespace {

/// One NVIDIA H200 SXM on PCIe Gen5 x16, driver 580, CUDA 13.0, in a virtual machine with 16 CPUs; medians.
const Profile kH200{
    .name = "h200",
    .description = "NVIDIA H200 SXM, PCIe Gen5 x16, two copy engines",
    .gpu_name = "NVIDIA H200",
    .compute_capability = "9.0",
    .multiprocessors = 132,
    .memory_bytes = 150'000'000'000,
    .l2_bytes = 60 * 1024 * 1024,
    .sm_clock_hz = 1.98e9,
    .memory_bandwidth = 4.814e12,  // 2 x 3201 MHz x 6016 bits
    .pcie_generation = 5,
    .pcie_width = 16,

    // Of the machine with two of them, see below; the GPU of this one is alone.
    .gpus = 1,
    .sockets = 1,
    .socket_memory = {.in = 110.6e9, .out = 110.5e9, .duplex_in = 64e9, .duplex_out = 104.7e9},
    .between_sockets = {},
    .nvlinks = 0,
    .nvlink_rate = 26.5625e9,
    .peer_copies = 1,
    .peer_read_rate = 391.6e9,
    .peer_write_rate = 396.2e9,
    .peer_overhead = 2.3e-6,
    .peer_duplex_rate = 0.989,
    .staged_peer_rate = 37e9,
    .staged_peer_rate_all = 52e9,
    .staged_peer_overhead = 16e-6,
    .kernel_peer_read_rate = 376.3e9,
    .kernel_peer_write_rate = 370.6e9,
    .kernel_peer_read_duplex = 0.91,
    .kernel_peer_write_duplex = 1,
    .peer_event_cost = 2e-6,

    .copy_engines = 2,
    .h2d_rate = 55.55e9,
    .d2h_rate = 55.45e9,
    .h2d_overhead = 2.4e-6,
    .d2h_overhead = 1.9e-6,
    .h2d_duplex_rate = 0.945,
    .d2h_duplex_rate = 0.914,
    .h2d_duplex_overhead = 1.2,
    .d2h_duplex_overhead = 2.4,
    .copy_overhead = 2.5e-6,
    .d2d_rate = 2.125e12,
    .fill_rate = 4.534e12,

    .pageable_h2d_rate = 8.9e9,
    .pageable_d2h_rate = 18.1e9,
    .pageable_overhead = 5e-6,
    .pageable_inline_bytes = 64 * 1024,
    .host_copy_rate = 10e9,
    .host_copy_rate_all = 60e9,
    .host_read_rate = 12e9,
    .register_call = 20e-6,
    .register_rate = 42e9,
    .unregister_call = 17e-6,
    .unregister_rate = 82e9,

    .kernel_overhead = 2.2e-6,
    .kernel_traffic_rate = 4.27e12,
    .fma_rate = 21.2e12,  // of dependent ones beside traffic; the arithmetic units alone could 33.4e12
    .kernel_h2d_rate = 51.35e9,
    .kernel_d2h_rate = 52.6e9,
    .kernel_link_overhead = 12e-6,
    .kernel_duplex_ratio = 0.814,

    .copy_to_kernel = 3.5e-6,
    .kernel_to_copy = 3.5e-6,
    .copy_to_copy = 2e-6,
    .gate_to_copy = 5e-6,
    .gate_to_kernel = 0,
    .stream_switch = 3e-6,

    .copy_call = 1.5e-6,
    .launch_call = 2.2e-6,
    // Graphs of 1, 10 and 100 empty kernels: the wait for them returns 5.8, 12.5 and 76.7 us after the call.
    // With copies in them the call itself takes long: 21, 39 to 41 and 75 to 81 us of graphs with 16, 32 and 64 copies
    // of 1 MiB and more (pipeline-submit of strategy graph in docs/results/h200-overlap.json.xz).
    .graph_call = 1.0e-6,
    .graph_copy_call = 1.22e-6,
    .graph_start = 0.55e-6,
    .graph_node = 0.716e-6,
    .event_call = 0.5e-6,
    .event_cost = 1.3e-6,
    .order_cost = 0.7e-6,
    .query_call = 0.4e-6,
    .wake_up = 3.5e-6,
    .handoff = 0.3e-6,
    .stamp_cost = 3e-6,

    .callback_call = 2e-6,
    .host_function_start = 45e-6,
    .stream_callback_start = 45e-6,
    .host_function_end = 5e-6,
};

/// One of two NVIDIA H100 80GB HBM3, driver 580, CUDA 13.0, in a virtual machine with 32 CPUs. What `calibrate` said of
/// it (docs/results/h100-x2-calibrate.json.xz), and suite gpus of copies between the two and of both at once; all else
/// as of the H200. Its copies of pageable memory followed no straight line, so that what each costs is the H200's, too.
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
  profile.h2d_overhead = 2.5e-6;
  profile.d2h_overhead = 2.8e-6;
  profile.h2d_duplex_rate = 0.929;
  profile.d2h_duplex_rate = 0.920;
  profile.h2d_duplex_overhead = 1.63;
  profile.d2h_duplex_overhead = 1.78;
  profile.d2d_rate = 1.508e12;
  profile.fill_rate = 3.16e12;  // the H200's, as the bandwidths of their memories are to each other
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
  profile.copy_call = 2.4e-6;
  profile.launch_call = 3.5e-6;
  profile.order_cost = 0.65e-6;
  profile.wake_up = 4.1e-6;
  return profile;
}

Profile with_one_copy_engine(Profile profile) {
  profile.name = "h200-one-engine";
  profile.description = "what if: the h200 with a single copy engine for both directions";
  profile.copy_engines = 1;
  return profile;
}

/// Two such GPUs on one socket, in a virtual machine with 32 CPUs. Measured: copies between the GPUs by the copy
/// engines and by kernels, each way alone and both at once, with peer access and without; and what both GPUs together
/// read and write of the host's memory, one way (socket_memory.in and out, hardly less than twice one GPU) and both
/// ways at once, from which duplex_in and duplex_out follow: with both GPUs copying both ways, the model's direction to
/// the GPUs gets 68 GB/s where 60 to 68 were seen, and the other one all that the GPUs' links leave it, 101 where 105
/// were seen. peer_event_cost is an estimate, and so is that a GPU sends one copy at a time and fetches one.
Profile two_of(Profile profile) {
  profile.description = "two of the " + profile.name + " on one socket, with 18 NVLinks between them";
  profile.name += "-x2";
  profile.gpus = 2;
  profile.nvlinks = 18;
  return profile;
}

/// Nobody measured this machine: of it, only what single GPUs do, and pairs of them by NVLink, is as above. A socket's
/// memory carries two links one way but not three, and both ways not even two. The link between sockets is about that
/// of two-socket servers with PCIe Gen5. Ports through switches take copies of all seven others at once.
Profile eight_of(Profile profile) {
  profile.name = "h200-x8";
  profile.description = "what if: eight of the h200 on two sockets, NVLink between all";
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
