#include "scenarios/common/payload.hpp"

#include <fmt/format.h>

#include <cstring>

#include "core/error.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

using kernels::ElementwiseOp;

std::size_t Payload::halo_room(const Shape& shape) { return aligned_on_device(shape.halo_bytes()); }

MemoryNeeds Payload::needs(const Shape& s) {
  const std::size_t buffers = s.in_place ? 1 : 2;
  const std::size_t expected = s.own ? s.bytes : 0;
  const std::size_t addends = !s.own && s.op == ElementwiseOp::vector_add ? s.bytes : 0;
  return {2 * (s.bytes + halo_room(s)) + expected, buffers * s.device_bytes + addends};
}

Payload::Payload(Device& device, const Shape& shape, Device& near)
    : device_(device),
      shape_(shape),
      own_kernel_(shape.own ? &load_own_kernel(device, *shape.own) : nullptr),
      host_in_(near.allocate_host(shape.bytes + 2 * halo_room(shape), shape.host)),
      host_out_(near.allocate_host(shape.bytes, shape.host)),
      device_in_(device.allocate_device(shape.device_bytes)) {
  // With halo rows, the whole payload is filled: output elements depend on rows outside of a PayloadPart.
  if (shape.halo_bytes() == 0) {
    part_ = device.payload_part(host_in_);
    // This call tells the device which part of the output buffer is used. Both buffers have the same size, so the
    // returned part is the same, too.
    static_cast<void>(device.payload_part(host_out_));
  }
  if (!shape.in_place) device_out_ = device.allocate_device(shape.device_bytes);
  if (!shape.own && shape.op == ElementwiseOp::vector_add) addends_ = device.allocate_device(shape.bytes);
}

void Payload::prepare() {
  if (shape_.own) return prepare_own();
  const std::span<float> input(reinterpret_cast<float*>(host_in()), shape_.bytes / kElement);
  if (addends_) {
    pattern::for_part(input.size(), kElement, part_, pattern::kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) input[i] = kernels::addend(i);
    });
    device_.copy_and_wait({addends_.data, host_in(), shape_.bytes, Direction::h2d});
  }
  pattern::fill_elements(input, shape_.seed, part_);
}

void Payload::prepare_own() {
  const std::size_t element = shape_.own->element_bytes();
  std::memset(host_in() - shape_.halo_bytes(), 0, shape_.halo_bytes());
  std::memset(host_in() + shape_.bytes, 0, shape_.halo_bytes());
  pattern::for_part(shape_.bytes / element, element, part_, pattern::kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      write_own_element(shape_.own->type, shape_.seed, i, host_in() + i * element);
    }
  });
  if (!expected_) {
    expected_ = device_.allocate_host(shape_.bytes, HostMemory::pageable, Prefault::no);
    if (!part_.is_all()) static_cast<void>(device_.payload_part(expected_));
  }
  run_at_once(expected_.data);
  run_at_once(host_out());
  repeats_ = !pattern::compare_bytes({host_out(), shape_.bytes}, expected_.data, part_);
}

void Payload::run_at_once(std::byte* to) {
  const std::size_t room = halo_room(shape_);
  const std::size_t halo = shape_.halo_bytes();
  std::byte* const in = device_in() + room;
  std::byte* const out = shape_.in_place ? in + aligned_on_device(shape_.bytes) : device_out() + room;
  poison_device(out, shape_.bytes);
  device_.copy_and_wait({in - halo, host_in() - halo, shape_.bytes + 2 * halo, Direction::h2d});
  const Stream stream = device_.make_stream(StreamKind::nonblocking);
  stream.launch(shape_.own->over(*own_kernel_, in, out, shape_.bytes / shape_.own->element_bytes()));
  stream.synchronize();
  device_.copy_and_wait({to, out, shape_.bytes, Direction::d2h});
}

void Payload::poison_host_out() { pattern::poison({host_out_.data, shape_.bytes}, part_); }

void Payload::poison_device(std::byte* first, std::size_t bytes) {
  device_.fill_and_wait({first, bytes}, pattern::kPoison);
}

void Payload::poison_all() {
  poison_host_out();
  poison_device(device_in(), shape_.device_bytes);
  poison_device(device_out(), shape_.device_bytes);
}

float Payload::input(std::size_t element) const { return pattern::element(shape_.seed, element); }

float Payload::expected(std::size_t element, std::uint32_t work) const {
  return kernels::expected(shape_.op, input(element), element, work);
}

const std::byte* Payload::expected_bytes() const {
  if (repeats_) return expected_.data;
  throw VerificationError(fmt::format(
      "{} gives different output each time it runs over the whole payload, so its output cannot be checked: each "
      "thread must write only its own elements of out, and read only in; or skip the check with --no-verify",
      shape_.own->source.name));
}

}  // namespace xferbench
