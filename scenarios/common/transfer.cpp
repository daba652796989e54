#include "scenarios/common/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "device/cpu_cache.hpp"
#include "device/pages.hpp"
#include "kernels/copy.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

namespace {

/// Text for messages, for example "H2D copy".
std::string copy_text(Direction direction) {
  constexpr std::array<const char*, 3> kArrows{"H2D", "D2H", "D2D"};  // indexed by Direction
  return std::string(kArrows[static_cast<std::size_t>(direction)]) + " copy";
}

void check_bytes(const HostView& host, const PayloadPart& part, std::uint64_t seed, const std::string& what) {
  pattern::require(pattern::check_bytes({host.data, host.bytes}, seed, part), what);
}

/// Copies between a host and a device buffer, or between two device buffers. Between devices the host buffer is used
/// only to prepare the source and to check the result.
class BufferTransfer final : public Transfer {
 public:
  /// `from` and `to` are the same device, except for peer-to-peer copies.
  BufferTransfer(Device& from, Device& to, Device& worker, const TransferSpec& spec)
      : from_(from),
        to_(to),
        spec_(spec),
        host_(from.allocate_host(spec.bytes, spec.between_devices() ? HostMemory::pageable : spec.memory)),
        part_(from.payload_part(host_)),
        on_device_(to.allocate_device(spec.bytes, spec.gpu_memory)) {
    if (spec.between_devices()) from_device_ = from.allocate_device(spec.bytes, spec.gpu_memory);
    if (by_kernel()) worker.preload(kernel());
    if (spec.api != CopyApi::graph) return;
    const Stream stream = worker.make_stream(StreamKind::nonblocking);
    graph_ = stream.capture([&] { stream.copy(copy()); });
  }

  void prepare() override {
    pattern::fill_bytes(host_bytes(), spec_.seed, part_);
    if (spec_.direction == Direction::h2d) return;
    from_.copy_and_wait({source_on_device().data, host_.data, spec_.bytes, Direction::h2d});
  }

  void poison() override {
    if (spec_.direction == Direction::d2h) return pattern::poison(host_bytes(), part_);
    to_.fill_and_wait(on_device_, pattern::kPoison);
  }

  void reset() override {
    if (spec_.touch == Touch::cold) flush_from_cache(host_bytes());
    if (spec_.touch == Touch::warm) load_into_cache(host_bytes());
  }
  [[nodiscard]] bool needs_reset() const override { return spec_.touch != Touch::as_it_is; }

  void check() override {
    if (spec_.direction != Direction::d2h) {
      // Copy the result back to the host buffer. For H2D it still holds the source data, so poison it first.
      pattern::poison(host_bytes(), part_);
      to_.copy_and_wait({host_.data, on_device_.data, spec_.bytes, Direction::d2h});
    }
    check_bytes(host_, part_, spec_.seed, what());
  }

  void submit(StreamView stream) override {
    if (by_kernel()) return stream.launch(kernel());
    switch (spec_.api) {
      case CopyApi::async: return stream.copy(copy());
      case CopyApi::sync: return to_.copy_blocking(copy());
      case CopyApi::graph: return stream.replay(graph_);
    }
  }
  [[nodiscard]] bool blocks_host() const override { return spec_.blocks_host(); }
  [[nodiscard]] bool in_stream() const override { return spec_.api != CopyApi::sync; }

 private:
  [[nodiscard]] bool by_kernel() const { return spec_.engine == Engine::multiprocessors; }
  [[nodiscard]] Copy copy() const {
    std::byte* const source = spec_.direction == Direction::h2d ? host_.data : source_on_device().data;
    std::byte* const destination = spec_.direction == Direction::d2h ? host_.data : on_device_.data;
    return {destination, source, spec_.bytes, spec_.direction};
  }
  [[nodiscard]] kernels::MemoryCopy kernel() const { return kernels::MemoryCopy(copy()); }
  [[nodiscard]] std::span<std::byte> host_bytes() const { return {host_.data, host_.bytes}; }
  [[nodiscard]] const DeviceView& source_on_device() const {
    return spec_.between_devices() ? from_device_ : on_device_;
  }
  [[nodiscard]] std::string what() const {
    if (spec_.direction != Direction::p2p) return copy_text(spec_.direction);
    const auto number = [](const Device& d) { return d.capabilities().environment.number_of(d.number()); };
    return fmt::format("copy from GPU {} to GPU {}", number(from_), number(to_));
  }

  Device& from_;
  Device& to_;
  TransferSpec spec_;
  HostBuffer host_;
  PayloadPart part_;
  DeviceBuffer on_device_;
  DeviceBuffer from_device_;  // used for copies between devices only
  Graph graph_;               // used for CopyApi::graph only
};

/// Migration of managed memory: source and destination have the same address. So there is no destination to poison;
/// check() verifies that the side to which the memory migrated reads the right bytes.
class Migration final : public Transfer {
 public:
  Migration(Device& device, const TransferSpec& spec)
      : device_(device),
        spec_(spec),
        managed_(device.allocate_host(spec.bytes, HostMemory::managed)),
        seen_by_gpu_(device.allocate_device(spec.window == 0 ? spec.bytes : std::min(spec.bytes, spec.window))),
        stream_(device.make_stream(StreamKind::nonblocking)) {
    for_each_window([this](const kernels::MemoryCopy& reader, std::size_t) { device_.preload(reader); });
  }

  void prepare() override { pattern::fill_bytes({managed_.data, spec_.bytes}, spec_.seed); }
  void poison() override { device_.fill_and_wait(seen_by_gpu_, pattern::kPoison); }

  [[nodiscard]] bool needs_reset() const override { return true; }
  /// Migrates the memory back to the side where the pass starts.
  void reset() override { migrate(spec_.direction == Direction::h2d ? Direction::d2h : Direction::h2d); }

  void submit(StreamView stream) override {
    if (spec_.engine == Engine::prefetch) {
      stream.prefetch(managed_, spec_.direction);
      stream.synchronize();
    } else if (spec_.direction == Direction::h2d) {
      for_each_window([&](const kernels::MemoryCopy& reader, std::size_t) { stream.launch(reader); });
      stream.synchronize();
    } else {
      touch_from_host();
    }
  }
  [[nodiscard]] bool blocks_host() const override { return true; }
  [[nodiscard]] bool in_stream() const override { return false; }

  void check() override {
    if (spec_.direction == Direction::d2h) return check_bytes(managed_, {}, spec_.seed, copy_text(spec_.direction));
    // With page faults, the kernel of the pass itself has read the memory; what it read is there unless it was too
    // much.
    const bool is_there = spec_.engine == Engine::page_faults && seen_by_gpu_.bytes == spec_.bytes;
    const HostBuffer host = device_.allocate_host(spec_.bytes, HostMemory::pageable);
    pattern::poison({host.data, host.bytes});
    for_each_window([&](const kernels::MemoryCopy& reader, std::size_t at) {
      if (!is_there) stream_.launch(reader);
      stream_.synchronize();
      device_.copy_and_wait({host.data + at, seen_by_gpu_.data, reader.output().size(), Direction::d2h});
    });
    check_bytes(host, {}, spec_.seed, copy_text(spec_.direction));
  }

 private:
  /// Calls step(reader, offset) for each part of the managed memory that fits into the GPU's buffer, into which the
  /// kernel `reader` reads it.
  template <class Step>
  void for_each_window(const Step& step) const {
    for (std::size_t at = 0; at < spec_.bytes; at += seen_by_gpu_.bytes) {
      const std::size_t bytes = std::min(seen_by_gpu_.bytes, spec_.bytes - at);
      step(kernels::MemoryCopy({seen_by_gpu_.data, managed_.data + at, bytes, Direction::h2d}), at);
    }
  }

  void migrate(Direction direction) {
    stream_.prefetch(managed_, direction);
    stream_.synchronize();
  }

  void touch_from_host() {
    const volatile std::byte* page = managed_.data;  // volatile: the read, which migrates the page, must be executed
    for (std::size_t i = 0; i < spec_.bytes; i += page_bytes()) static_cast<void>(page[i]);
  }

  Device& device_;
  TransferSpec spec_;
  HostBuffer managed_;
  DeviceBuffer seen_by_gpu_;
  Stream stream_;
};

}  // namespace

std::unique_ptr<Transfer> make_transfer(Device& device, const TransferSpec& spec) {
  const bool migrates = spec.engine == Engine::prefetch || spec.engine == Engine::page_faults;
  if (migrates) return std::make_unique<Migration>(device, spec);
  return std::make_unique<BufferTransfer>(device, device, device, spec);
}

std::unique_ptr<Transfer> make_peer_transfer(Device& from, Device& to, Device& worker, const TransferSpec& spec) {
  return std::make_unique<BufferTransfer>(from, to, worker, spec);
}

void verify(std::span<const std::unique_ptr<Transfer>> transfers, Machine& machine, const Region& region,
            VerifiedRun run) {
  run(machine, region, [transfers] {
    for (const auto& transfer : transfers) transfer->poison();
  });
  for (const auto& transfer : transfers) transfer->check();
}

void report_specified_limit(double limit, double bandwidth, std::string_view warning, Result& result) {
  constexpr double kNoise = 1.01;
  if (limit <= 0) return;
  if (bandwidth > kNoise * limit) {
    result.warnings.emplace_back(warning);
    return;
  }
  result.add("limit", limit, "GB/s");
  result.add("of_limit", std::min(1.0, bandwidth / limit), "1");
}

}  // namespace xferbench
