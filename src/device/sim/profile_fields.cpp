#include "device/sim/profile_fields.hpp"

#include <type_traits>

#include "core/lists.hpp"

namespace xferbench::sim {

namespace {

// The limits keep arithmetic finite and simulations short; they do not say which values are plausible.
constexpr Quantity kRate{.unit = "per second", .least = 1e3, .most = 1e18, .faster = Faster::more};
constexpr Quantity kRateOrNone{.unit = "per second", .least = 0, .most = 1e18, .faster = Faster::more};
constexpr Quantity kClock{.unit = "Hz", .least = 1e6, .most = 1e11, .faster = Faster::more};
constexpr Quantity kSeconds{.unit = "seconds", .least = 0, .most = 1, .faster = Faster::less};
constexpr Quantity kShare{.unit = "of the rate alone", .least = 0.001, .most = 1, .faster = Faster::more};
constexpr Quantity kStretch{.unit = "times the overhead alone", .least = 1, .most = 1000, .faster = Faster::less};
constexpr Quantity kMemory{.unit = "bytes", .least = 1 << 20, .most = 1e15, .whole = true};
constexpr Quantity kBytes{.unit = "bytes", .least = 0, .most = 1e9, .whole = true};
constexpr Quantity kCount{.unit = "multiprocessors", .least = 1, .most = 10'000, .whole = true};
constexpr Quantity kGeneration{.unit = "generation", .least = 1, .most = 9, .whole = true};
constexpr Quantity kLanes{.unit = "lanes", .least = 1, .most = 32, .whole = true};
constexpr Quantity kGpus{.unit = "GPUs", .least = 1, .most = 64, .whole = true};
constexpr Quantity kSockets{.unit = "sockets", .least = 1, .most = 2, .whole = true};
constexpr Quantity kLinks{.unit = "links", .least = 0, .most = 64, .whole = true};
// With less room in a stream, calls would block behind a closed gate.
constexpr Quantity kOperations{.unit = "operations", .least = 1024, .most = 1e9, .whole = true};
constexpr Quantity kEngines{.unit = "engines", .least = 1, .most = 2, .whole = true};

constexpr unsigned bit(Part part) { return 1U << static_cast<unsigned>(part); }
constexpr unsigned kNoPart = 0;
constexpr unsigned kLink = bit(Part::link);
constexpr unsigned kGpu = bit(Part::gpu);
constexpr unsigned kHostMemory = bit(Part::host_memory);
constexpr unsigned kNvlink = bit(Part::nvlink);

template <auto member>
constexpr ProfileField of(std::string_view name, const Quantity& quantity, unsigned parts = kNoPart) {
  return {
      name, &quantity, parts, [](const Profile& p) { return static_cast<double>(p.*member); },
      [](Profile& p, double value) { p.*member = static_cast<std::remove_reference_t<decltype(p.*member)>>(value); }};
}

template <auto member, auto side>
constexpr ProfileField of_capacity(std::string_view name, unsigned parts, const Quantity& quantity = kRate) {
  return {name, &quantity, parts, [](const Profile& p) { return (p.*member).*side; },
          [](Profile& p, double value) { (p.*member).*side = value; }};
}

constexpr std::array kFields{
    of<&Profile::multiprocessors>("multiprocessors", kCount),
    of<&Profile::memory_bytes>("memory_bytes", kMemory),
    of<&Profile::l2_bytes>("l2_bytes", kMemory),
    of<&Profile::sm_clock_hz>("sm_clock_hz", kClock, kGpu),
    of<&Profile::memory_bandwidth>("memory_bandwidth", kRate),
    of<&Profile::pcie_generation>("pcie_generation", kGeneration),
    of<&Profile::pcie_width>("pcie_width", kLanes),
    of<&Profile::gpus>("gpus", kGpus),
    of<&Profile::sockets>("sockets", kSockets),
    of_capacity<&Profile::socket_memory, &Capacity::in>("socket_memory.in", kHostMemory),
    of_capacity<&Profile::socket_memory, &Capacity::out>("socket_memory.out", kHostMemory),
    of_capacity<&Profile::socket_memory, &Capacity::duplex_in>("socket_memory.duplex_in", kHostMemory),
    of_capacity<&Profile::socket_memory, &Capacity::duplex_out>("socket_memory.duplex_out", kHostMemory),
    of_capacity<&Profile::between_sockets, &Capacity::in>("between_sockets.in", kNoPart, kRateOrNone),
    of_capacity<&Profile::between_sockets, &Capacity::out>("between_sockets.out", kNoPart, kRateOrNone),
    of_capacity<&Profile::between_sockets, &Capacity::duplex_in>("between_sockets.duplex_in", kNoPart, kRateOrNone),
    of_capacity<&Profile::between_sockets, &Capacity::duplex_out>("between_sockets.duplex_out", kNoPart, kRateOrNone),
    of<&Profile::nvlinks>("nvlinks", kLinks),
    of<&Profile::nvlink_rate>("nvlink_rate", kRate),
    of<&Profile::peer_copies>("peer_copies", kGpus),
    of<&Profile::peer_read_rate>("peer_read_rate", kRate, kNvlink),
    of<&Profile::peer_write_rate>("peer_write_rate", kRate, kNvlink),
    of<&Profile::peer_overhead>("peer_overhead", kSeconds),
    of<&Profile::peer_duplex_rate>("peer_duplex_rate", kShare),
    of<&Profile::staged_peer_rate>("staged_peer_rate", kRate, kHostMemory),
    of<&Profile::staged_peer_rate_all>("staged_peer_rate_all", kRate, kHostMemory),
    of<&Profile::staged_peer_overhead>("staged_peer_overhead", kSeconds),
    of<&Profile::kernel_peer_read_rate>("kernel_peer_read_rate", kRate, kNvlink),
    of<&Profile::kernel_peer_write_rate>("kernel_peer_write_rate", kRate, kNvlink),
    of<&Profile::kernel_peer_read_duplex>("kernel_peer_read_duplex", kShare),
    of<&Profile::kernel_peer_write_duplex>("kernel_peer_write_duplex", kShare),
    of<&Profile::peer_event_cost>("peer_event_cost", kSeconds),
    of<&Profile::copy_engines>("copy_engines", kEngines),
    of<&Profile::h2d_rate>("h2d_rate", kRate, kLink | kHostMemory),
    of<&Profile::d2h_rate>("d2h_rate", kRate, kLink | kHostMemory),
    of<&Profile::h2d_overhead>("h2d_overhead", kSeconds),
    of<&Profile::d2h_overhead>("d2h_overhead", kSeconds),
    of<&Profile::h2d_duplex_rate>("h2d_duplex_rate", kShare),
    of<&Profile::d2h_duplex_rate>("d2h_duplex_rate", kShare),
    of<&Profile::h2d_duplex_overhead>("h2d_duplex_overhead", kStretch),
    of<&Profile::d2h_duplex_overhead>("d2h_duplex_overhead", kStretch),
    of<&Profile::copy_overhead>("copy_overhead", kSeconds),
    of<&Profile::d2d_rate>("d2d_rate", kRate, kGpu),
    of<&Profile::fill_rate>("fill_rate", kRate, kGpu),
    of<&Profile::pageable_h2d_rate>("pageable_h2d_rate", kRate, kHostMemory),
    of<&Profile::pageable_d2h_rate>("pageable_d2h_rate", kRate, kHostMemory),
    of<&Profile::pageable_overhead>("pageable_overhead", kSeconds),
    of<&Profile::pageable_inline_bytes>("pageable_inline_bytes", kBytes),
    of<&Profile::host_copy_rate>("host_copy_rate", kRate, kHostMemory),
    of<&Profile::host_copy_rate_all>("host_copy_rate_all", kRate, kHostMemory),
    of<&Profile::host_read_rate>("host_read_rate", kRate, kHostMemory),
    of<&Profile::register_call>("register_call", kSeconds),
    of<&Profile::register_rate>("register_rate", kRate),
    of<&Profile::unregister_call>("unregister_call", kSeconds),
    of<&Profile::unregister_rate>("unregister_rate", kRate),
    of<&Profile::disk_read_rate>("disk_read_rate", kRate),
    of<&Profile::disk_read_rate_scattered>("disk_read_rate_scattered", kRate),
    of<&Profile::disk_read_rate_cached>("disk_read_rate_cached", kRate),
    of<&Profile::disk_write_rate>("disk_write_rate", kRate),
    of<&Profile::disk_write_rate_scattered>("disk_write_rate_scattered", kRate),
    of<&Profile::disk_write_rate_cached>("disk_write_rate_cached", kRate),
    of<&Profile::disk_latency>("disk_latency", kSeconds),
    of<&Profile::file_copy_rate>("file_copy_rate", kRate, kHostMemory),
    of<&Profile::file_write_rate>("file_write_rate", kRate, kHostMemory),
    of<&Profile::fault_rate>("fault_rate", kRate),
    of<&Profile::populate_rate>("populate_rate", kRate),
    of<&Profile::kernel_overhead>("kernel_overhead", kSeconds),
    of<&Profile::kernel_traffic_rate>("kernel_traffic_rate", kRate, kGpu),
    of<&Profile::fma_rate>("fma_rate", kRate, kGpu),
    of<&Profile::kernel_h2d_rate>("kernel_h2d_rate", kRate, kLink | kHostMemory),
    of<&Profile::kernel_d2h_rate>("kernel_d2h_rate", kRate, kLink | kHostMemory),
    of<&Profile::kernel_link_overhead>("kernel_link_overhead", kSeconds),
    of<&Profile::kernel_duplex_ratio>("kernel_duplex_ratio", kShare),
    of<&Profile::piece_read_turn>("piece_read_turn", kSeconds),
    of<&Profile::piece_write_turn>("piece_write_turn", kSeconds),
    of<&Profile::bulk_turn>("bulk_turn", kSeconds),
    of<&Profile::list_read>("list_read", kSeconds),
    of<&Profile::kernels_duplex_rate>("kernels_duplex_rate", kShare),
    of<&Profile::copy_to_kernel>("copy_to_kernel", kSeconds),
    of<&Profile::kernel_to_copy>("kernel_to_copy", kSeconds),
    of<&Profile::copy_to_copy>("copy_to_copy", kSeconds),
    of<&Profile::gate_to_copy>("gate_to_copy", kSeconds),
    of<&Profile::gate_to_kernel>("gate_to_kernel", kSeconds),
    of<&Profile::stream_switch>("stream_switch", kSeconds),
    of<&Profile::copy_call>("copy_call", kSeconds),
    of<&Profile::stream_room>("stream_room", kOperations),
    of<&Profile::batch_copy_call>("batch_copy_call", kSeconds),
    of<&Profile::batch_copy>("batch_copy", kSeconds),
    of<&Profile::batch_inline_bytes>("batch_inline_bytes", kBytes),
    of<&Profile::batch_inline_rate>("batch_inline_rate", kRate),
    of<&Profile::batch_inline_call>("batch_inline_call", kSeconds),
    of<&Profile::launch_call>("launch_call", kSeconds),
    of<&Profile::graph_call>("graph_call", kSeconds),
    of<&Profile::graph_copy_call>("graph_copy_call", kSeconds),
    of<&Profile::graph_start>("graph_start", kSeconds),
    of<&Profile::graph_node>("graph_node", kSeconds),
    of<&Profile::event_call>("event_call", kSeconds),
    of<&Profile::event_cost>("event_cost", kSeconds),
    of<&Profile::order_cost>("order_cost", kSeconds),
    of<&Profile::query_call>("query_call", kSeconds),
    of<&Profile::wake_up>("wake_up", kSeconds),
    of<&Profile::handoff>("handoff", kSeconds),
    of<&Profile::stamp_cost>("stamp_cost", kSeconds),
    of<&Profile::callback_call>("callback_call", kSeconds),
    of<&Profile::host_function_start>("host_function_start", kSeconds),
    of<&Profile::stream_callback_start>("stream_callback_start", kSeconds),
    of<&Profile::host_function_end>("host_function_end", kSeconds),
};

}  // namespace

std::span<const ProfileField> profile_fields() { return kFields; }

const ProfileField* find_profile_field(std::string_view name) { return found_in(kFields, name, &ProfileField::name); }

}  // namespace xferbench::sim
