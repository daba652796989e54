#include "scenarios/chunked_work.hpp"

#include "core/axis.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "measure/parallel.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

using kernels::Elementwise;
using kernels::ElementwiseOp;
using model::Chunk;

namespace {

constexpr std::size_t kChunkAlignment = 64;  // elements: 256 bytes, as cudaMalloc aligns

std::span<float> elements(const HostRange& range) {
  return {reinterpret_cast<float*>(range.data), range.bytes / ChunkedWork::kElement};
}

}  // namespace

std::optional<std::string> ChunkedWork::objection(std::uint64_t size, std::uint64_t chunks) {
  if (size % kElement != 0) {
    return "--size " + to_text(size, AxisKind::size) +
           " is not a whole number of 4-byte elements; choose a multiple of 4";
  }
  if (chunks > size / kElement) {
    return "--chunks " + std::to_string(chunks) + " is more than the " + std::to_string(size / kElement) +
           " elements of --size " + to_text(size, AxisKind::size) + "; choose fewer chunks or a larger size";
  }
  return std::nullopt;
}

ChunkedWork::ChunkedWork(Device& device, const Shape& shape)
    : device_(device),
      shape_(shape),
      chunks_(model::partition(shape.bytes / kElement, shape.chunks, kChunkAlignment)),
      host_in_(device.allocate_host(shape.bytes, HostMemory::pinned)),
      host_out_(device.allocate_host(shape.bytes, HostMemory::pinned)),
      device_in_(device.allocate_device(shape.bytes)),
      device_out_(device.allocate_device(shape.bytes)),
      stream_(device.make_stream(StreamKind::nonblocking)) {
  if (shape.op == ElementwiseOp::vector_add) addends_ = device.allocate_device(shape.bytes);
  device_.preload(kernel(whole(), shape_.work));
}

Elementwise ChunkedWork::kernel(const Chunk& c, std::uint32_t work) const {
  const auto at = [&c](const DeviceRange& range) { return reinterpret_cast<float*>(range.data) + c.first; };
  return {shape_.op, {at(device_in_), addends_ ? at(addends_) : nullptr, at(device_out_), c.count, work}};
}

void ChunkedWork::copy_in(const Chunk& c, StreamHandle stream) {
  const std::size_t offset = c.first * kElement;
  device_.copy({device_in_->data + offset, host_in_->data + offset, c.count * kElement, Direction::h2d}, stream);
}

void ChunkedWork::copy_out(const Chunk& c, StreamHandle stream) {
  const std::size_t offset = c.first * kElement;
  device_.copy({host_out_->data + offset, device_out_->data + offset, c.count * kElement, Direction::d2h}, stream);
}

void ChunkedWork::copy_in_blocking() {
  device_.copy_blocking({device_in_->data, host_in_->data, shape_.bytes, Direction::h2d});
}

void ChunkedWork::copy_out_blocking() {
  device_.copy_blocking({host_out_->data, device_out_->data, shape_.bytes, Direction::d2h});
}

void ChunkedWork::prepare() {
  if (addends_) {
    const std::span<float> table = elements(host_in_);
    parallel_for(table.size(), MiB, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) table[i] = kernels::addend(i);
    });
    device_.copy_blocking({addends_->data, host_in_->data, shape_.bytes, Direction::h2d});
  }
  pattern::fill_elements(elements(host_in_), shape_.seed);
}

void ChunkedWork::poison_host_out() { pattern::poison({host_out_->data, shape_.bytes}); }

void ChunkedWork::poison(const DeviceRange& range) {
  device_.fill(range, pattern::kPoison, stream_);
  device_.synchronize();
}

void ChunkedWork::poison_all() {
  poison_host_out();
  poison(device_in_);
  poison(device_out_);
}

float ChunkedWork::expected(std::size_t i) const {
  return kernels::expected(shape_.op, pattern::element(shape_.seed, i), i, shape_.work);
}

std::span<const float> ChunkedWork::output(const Chunk& c) const {
  return std::span<const float>(elements(host_out_)).subspan(c.first, c.count);
}

void ChunkedWork::check(const std::string& what) const {
  const auto wrong = pattern::check_elements(output(whole()), [this](std::size_t i) { return expected(i); });
  if (wrong) throw VerificationError(what + ": " + wrong->describe());
}

}  // namespace xferbench
