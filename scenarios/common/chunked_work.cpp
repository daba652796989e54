#include "scenarios/common/chunked_work.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/units.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

using kernels::Elementwise;
using kernels::ElementwiseOp;
using model::Chunk;

namespace {

// 256 bytes, as cudaMalloc aligns. Copies that begin at odd multiples of 128 bytes or less cost an H200 up to 1 % of
// the pipeline (docs/h200/overlap.md).
constexpr std::size_t kChunkAlignment = 64;

/// Stages are timed in pieces of this size where the device does not hold the whole payload: large enough for what a
/// further copy costs to vanish (0.05 % on an H200).
constexpr std::size_t kLeastPiece = 256 * MiB;

/// So that pieces begin at like places of a payload of which only a part is moved (PayloadPart).
constexpr std::size_t kPieceAlignment = MiB / ChunkedWork::kElement;

/// In place, input and output of a stage share the buffer, so that it must hold two pieces, however small the payload.
constexpr std::size_t kLeastInPlace = 2 * kChunkAlignment * ChunkedWork::kElement;

std::vector<Chunk> cut_one_round(const ChunkedWork::Shape& shape) {
  return model::partition(shape.bytes / ChunkedWork::kElement, shape.chunks, kChunkAlignment, shape.growth);
}

/// Elements of a slot, or 0 where every chunk may have a place of its own.
std::size_t slot_elements(const ChunkedWork::Shape& shape) {
  if (shape.slots == 0 || shape.slots >= shape.chunks * shape.rounds) return 0;
  const std::size_t longest = std::ranges::max(cut_one_round(shape), {}, &Chunk::count).count;
  return (longest + kChunkAlignment - 1) / kChunkAlignment * kChunkAlignment;
}

template <class Expected>
void check_output(std::span<const float> output, const PayloadPart& part, const std::string& what,
                  const Expected& expected) {
  if (const auto wrong = pattern::check_elements(output, expected, part)) {
    throw VerificationError(what + ": " + wrong->describe());
  }
}

}  // namespace

std::vector<Chunk> cut(const ChunkedWork::Shape& shape) {
  const std::size_t elements = shape.bytes / ChunkedWork::kElement;
  const std::vector<Chunk> one = cut_one_round(shape);
  std::vector<Chunk> all;
  all.reserve(one.size() * shape.rounds);
  for (std::size_t round = 0; round < shape.rounds; ++round) {
    for (const Chunk& c : one) all.push_back({round * elements + c.first, c.count});
  }
  return all;
}

// --- Payload --------------------------------------------------------------------------------------------------------

MemoryNeeds Payload::needs(const Shape& s) {
  const std::size_t buffers = s.in_place ? 1 : 2;
  return {2 * s.bytes, buffers * s.device_bytes + (s.op == ElementwiseOp::vector_add ? s.bytes : 0)};
}

Payload::Payload(Device& device, const Shape& shape, Device& near)
    : device_(device),
      shape_(shape),
      host_in_(near.allocate_host(shape.bytes, shape.host)),
      host_out_(near.allocate_host(shape.bytes, shape.host)),
      part_(device.payload_part(host_in_)),
      device_in_(device.allocate_device(shape.device_bytes)),
      stream_(device.make_stream(StreamKind::nonblocking)) {
  static_cast<void>(device.payload_part(host_out_));  // as large, so it is the same
  if (!shape.in_place) device_out_ = device.allocate_device(shape.device_bytes);
  if (shape.op == ElementwiseOp::vector_add) addends_ = device.allocate_device(shape.bytes);
}

void Payload::prepare() {
  const std::span<float> input(host_in(), elements());
  if (addends_) {
    pattern::for_part(input.size(), kElement, part_, pattern::kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) input[i] = kernels::addend(i);
    });
    device_.copy_and_wait({addends_.data, host_in_.data, shape_.bytes, Direction::h2d});
  }
  pattern::fill_elements(input, shape_.seed, part_);
}

void Payload::poison_host_out() { pattern::poison({host_out_.data, shape_.bytes}, part_); }

void Payload::poison_device(float* first, std::size_t elements) {
  stream_.fill({reinterpret_cast<std::byte*>(first), elements * kElement}, pattern::kPoison);
  device_.synchronize();
}

void Payload::poison_all() {
  poison_host_out();
  poison_device(device_in(), shape_.device_bytes / kElement);
  poison_device(device_out(), shape_.device_bytes / kElement);
}

float Payload::input(std::size_t i) const { return pattern::element(shape_.seed, i); }

float Payload::expected(std::size_t i, std::uint32_t work) const {
  return kernels::expected(shape_.op, input(i), i, work);
}

// --- ChunkedWork ----------------------------------------------------------------------------------------------------

std::optional<SkipReason> ChunkedWork::skip_reason(std::uint64_t size, std::uint64_t chunks) {
  const std::string wanted = format_size_exact(size);
  if (size % kElement != 0) {
    return SkipReason::impossible(
        fmt::format("--size {} is not a whole number of 4-byte elements; choose a multiple of 4", wanted));
  }
  if (chunks <= size / kElement) return std::nullopt;
  return SkipReason::impossible(
      fmt::format("--chunks {} is more than the {} elements of --size {}; choose fewer chunks or a larger size", chunks,
                  size / kElement, wanted));
}

Payload::Shape ChunkedWork::payload_of(const Shape& shape) {
  const std::size_t bytes = shape.bytes * shape.rounds;
  const std::size_t slot = slot_elements(shape) * kElement;
  const std::size_t least = std::min(bytes, (shape.in_place ? 2 : 1) * kLeastPiece);
  const std::size_t on_device = slot == 0 ? bytes : std::max(slot * shape.slots, least);
  return {bytes, shape.in_place ? std::max(on_device, kLeastInPlace) : on_device, shape.in_place, shape.op, shape.seed};
}

ChunkedWork::ChunkedWork(Device& device, const Shape& shape, std::shared_ptr<Payload> payload)
    : device_(device),
      shape_(shape),
      payload_(payload ? std::move(payload) : std::make_shared<Payload>(device, payload_of(shape))),
      chunks_(cut(shape)),
      slot_elements_(slot_elements(shape)) {
  for (std::size_t i = 0; i < chunks_.size(); ++i) names_.push_back("chunk " + std::to_string(i));
  device_.preload(kernel({0, 1}, 0, 0, shape.blocks));
}

std::size_t ChunkedWork::place(std::size_t index) const {
  return slot_elements_ == 0 ? chunks_[index].first : index % shape_.slots * slot_elements_;
}

Elementwise ChunkedWork::kernel(const Chunk& c, std::size_t in_place, std::size_t out_place, unsigned blocks) const {
  const float* addends = shape_.op == ElementwiseOp::vector_add ? payload_->addends() + c.first : nullptr;
  return {
      shape_.op,
      {payload_->device_in() + in_place, addends, payload_->device_out() + out_place, c.count, shape_.work, blocks}};
}

Copy ChunkedWork::copy(Direction direction, const Chunk& c, std::size_t place) const {
  const auto bytes = [](float* at) { return reinterpret_cast<std::byte*>(at); };
  if (direction == Direction::h2d) {
    return {bytes(payload_->device_in() + place), bytes(payload_->host_in() + c.first), c.count * kElement, direction};
  }
  return {bytes(payload_->host_out() + c.first), bytes(payload_->device_out() + place), c.count * kElement, direction};
}

Copy ChunkedWork::input(std::size_t index) const { return copy(Direction::h2d, chunks_[index], place(index)); }

Copy ChunkedWork::output(std::size_t index) const { return copy(Direction::d2h, chunks_[index], place(index)); }

void ChunkedWork::launch(std::size_t index, StreamView stream) {
  const Chunk& c = chunks_[index];
  const std::size_t at = place(index);
  const std::size_t parts = std::min(shape_.kernels_per_chunk, c.count);
  for (const Chunk& part : model::partition(c.count, parts, kChunkAlignment)) {
    stream.launch(kernel({c.first + part.first, part.count}, at + part.first, at + part.first, shape_.blocks));
  }
}

void ChunkedWork::launch_empty(StreamView stream) { stream.launch(kernel({0, 1}, 0, 0, 0)); }

std::size_t ChunkedWork::piece_elements() const {
  const std::size_t room = payload_->shape().device_bytes / kElement / (shape_.in_place ? 2 : 1);
  const std::size_t alignment = room < kPieceAlignment ? kChunkAlignment : kPieceAlignment;
  return std::min(elements(), std::max<std::size_t>(1, room / alignment * alignment));
}

std::vector<Chunk> ChunkedWork::pieces_of(std::size_t step) const {
  std::vector<Chunk> all;
  for (std::size_t first = 0; first < elements(); first += step) {
    all.push_back({first, std::min(step, elements() - first)});
  }
  return all;
}

void ChunkedWork::copy_all_in(StreamView stream) {
  for (const Chunk& piece : pieces()) stream.copy(copy(Direction::h2d, piece, 0));
}

void ChunkedWork::launch_all(StreamView stream) {
  for (const Chunk& piece : pieces()) stream.launch(kernel(piece, 0, out_place(), 0));
}

void ChunkedWork::copy_all_out(StreamView stream) {
  for (const Chunk& piece : pieces()) stream.copy(copy(Direction::d2h, piece, out_place()));
}

void ChunkedWork::run_blocking(StreamView default_stream) {
  // One after the other, the stages need no room beside each other, in place or not.
  for (const Chunk& piece : pieces_of(payload_->shape().device_bytes / kElement)) {
    device_.copy_blocking(copy(Direction::h2d, piece, 0));
    default_stream.launch(kernel(piece, 0, 0, 0));
    device_.copy_blocking(copy(Direction::d2h, piece, 0));
  }
}

void ChunkedWork::launch_on_host_memory(StreamView stream, unsigned blocks) {
  const float* addends = shape_.op == ElementwiseOp::vector_add ? payload_->addends() : nullptr;
  const kernels::ElementwiseArgs args{
      payload_->host_in(), addends, payload_->host_out(), elements(), shape_.work, blocks, true};
  stream.launch(Elementwise(shape_.op, args));
}

void ChunkedWork::check(const std::string& what) const {
  check_output(output({0, elements()}), payload_->part(), what, [this](std::size_t i) { return expected(i); });
}

std::size_t ChunkedWork::last_in_place_of(std::size_t i) const {
  const std::size_t piece = piece_elements();
  const std::size_t offset = i % piece;
  return offset + (elements() - 1 - offset) / piece * piece;
}

void ChunkedWork::check_stages(const std::string& what) const {
  check_output(output({0, elements()}), payload_->part(), what,
               [this](std::size_t i) { return expected(last_in_place_of(i)); });
}

void ChunkedWork::check_stage_input(const std::string& what) {
  const Chunk piece{0, piece_elements()};
  poison_host_out();
  auto* const to = reinterpret_cast<std::byte*>(payload_->host_out());
  const auto* const from = reinterpret_cast<const std::byte*>(payload_->device_in());
  device_.copy_and_wait({to, from, piece.count * kElement, Direction::d2h});
  check_output(output(piece), payload_->part(), what,
               [this](std::size_t i) { return payload_->input(last_in_place_of(i)); });
}

void ChunkedWork::check_stage_output(const std::string& what, StreamView stream) {
  poison_host_out();
  copy_all_out(stream);
  stream.synchronize();
  check_stages(what);
}

}  // namespace xferbench
