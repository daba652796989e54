#include "scenarios/common/peer_transfer.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "kernels/copy.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

namespace {

kernels::MemoryCopy kernel_for(const Copy& c) {
  return kernels::MemoryCopy({c.destination, c.source, c.bytes, c.direction});
}

}  // namespace

PeerTransfer::PeerTransfer(const PeerTransferSpec& spec)
    : spec_(spec),
      host_(spec.from.allocate_host(spec.bytes, HostMemory::pageable)),
      part_(spec.from.payload_part(host_)),
      source_(spec.from.allocate_device(spec.bytes)),
      destination_(spec.to.allocate_device(spec.bytes)) {
  if (spec.engine == Engine::multiprocessors) spec.worker().preload(kernel_for(copy()));
}

void PeerTransfer::prepare() {
  pattern::fill_bytes({host_.data, host_.bytes}, spec_.seed, part_);
  spec_.from.copy_and_wait({source_.data, host_.data, spec_.bytes, Direction::h2d});
}

void PeerTransfer::poison() {
  const Stream legacy = spec_.to.make_stream(StreamKind::legacy_default);
  legacy.fill(destination_, pattern::kPoison);
  spec_.to.synchronize();
}

void PeerTransfer::submit(StreamView stream) {
  spec_.engine == Engine::multiprocessors ? stream.launch(kernel_for(copy())) : stream.copy(copy());
}

void PeerTransfer::check() {
  const std::span<std::byte> host{host_.data, host_.bytes};
  pattern::poison(host, part_);
  spec_.to.copy_and_wait({host_.data, destination_.data, spec_.bytes, Direction::d2h});
  const auto wrong = pattern::check_bytes(host, spec_.seed, part_);
  if (!wrong) return;
  const auto number = [](const Device& device) { return device.capabilities().environment.number_of(device.number()); };
  throw VerificationError(
      fmt::format("copy from GPU {} to GPU {}: {}", number(spec_.from), number(spec_.to), wrong->describe()));
}

}  // namespace xferbench
