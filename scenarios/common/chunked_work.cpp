#include "scenarios/common/chunked_work.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/units.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

using kernels::Elementwise;
using kernels::ElementwiseOp;
using model::Chunk;

namespace {

/// Minimum bytes of a piece, the part of a payload that the device holds at once if it cannot hold all. Stages are
/// timed piece by piece; at this size the cost of an additional copy is negligible (0.05 % on an H200).
constexpr std::size_t kLeastPiece = 256 * MiB;

/// scenarios/overlap/stages.cpp measures the cost of one more operation by cutting a payload of at least
/// kLeastBytesForCosts bytes and kLeastRowsForCosts rows into kPiecesForCosts pieces (at most one per row). If the
/// kernel has halo rows, each of these pieces needs device memory for its own halo.
constexpr std::size_t kLeastRowsForCosts = 32;
constexpr std::size_t kLeastBytesForCosts = MiB;
constexpr std::size_t kPiecesForCosts = 64;

/// Alignment of pieces in bytes. If only a part of the payload is really moved (PayloadPart), the moved bytes repeat at
/// this stride, so each piece begins at the same position in that pattern.
constexpr std::size_t kPieceAlignment = MiB;

/// Minimum bytes of the device buffer if input and output share one buffer: it must hold an input and an output piece
/// even for a tiny payload.
constexpr std::size_t kLeastInPlace = 2 * kDeviceAlignment;

/// Returns the alignment of chunk lengths, in elements. Payloads in rows are cut between rows of any length, so their
/// chunks are not aligned.
std::size_t elements_alignment(const ChunkedWork::Shape& shape) {
  return shape.own && shape.own->row_bytes > 0 ? 1 : std::max<std::size_t>(1, kDeviceAlignment / shape.element_bytes());
}

std::vector<Chunk> in_elements(std::vector<Chunk> units, const ChunkedWork::Shape& shape) {
  const std::size_t each = shape.unit_bytes() / shape.element_bytes();
  for (Chunk& c : units) c = {c.first * each, c.count * each};
  return units;
}

std::vector<Chunk> cut_one_round(const ChunkedWork::Shape& shape) {
  return in_elements(model::partition(shape.units(), shape.chunks, elements_alignment(shape), shape.growth), shape);
}

/// Returns the bytes reserved on each side of a chunk for halo rows, rounded up so that the chunk itself is aligned.
std::size_t room_for_halo(const ChunkedWork::Shape& shape) {
  return shape.own ? aligned_on_device(shape.own->halo_bytes()) : 0;
}

/// Returns the bytes of device memory for a chunk of `elements` elements with its halo rows.
std::size_t bytes_on_device(const ChunkedWork::Shape& shape, std::size_t elements) {
  return aligned_on_device(elements * shape.element_bytes()) + 2 * room_for_halo(shape);
}

/// Returns the bytes of one slot in device memory; 0 if every chunk has a place of its own.
std::size_t slot_bytes(const ChunkedWork::Shape& shape) {
  if (shape.slots == 0 || shape.slots >= shape.chunks * shape.rounds) return 0;
  return bytes_on_device(shape, std::ranges::max(cut_one_round(shape), {}, &Chunk::count).count);
}

/// Returns the byte offset of each chunk in the device buffers.
std::vector<std::size_t> places_of(const ChunkedWork::Shape& shape, const std::vector<Chunk>& chunks) {
  const std::size_t slot = slot_bytes(shape);
  const std::size_t halo = room_for_halo(shape);
  std::vector<std::size_t> places;
  std::size_t end = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (slot > 0) end = i % shape.slots * slot;
    if (slot == 0 && halo == 0) end = chunks[i].first * shape.element_bytes();
    places.push_back(end + halo);
    end += bytes_on_device(shape, chunks[i].count);
  }
  return places;
}

/// Returns the number of parts with halo rows on the device: of chunks or, if more, of pieces for measuring costs.
std::size_t pieces_with_halo(const ChunkedWork::Shape& shape) {
  const std::size_t chunks =
      slot_bytes(shape) > 0 ? 1 : shape.chunks * shape.rounds;  // slots are accounted for separately
  const bool costs = shape.costs && shape.units() >= kLeastRowsForCosts && shape.bytes >= kLeastBytesForCosts;
  return std::max(chunks, costs ? std::min(kPiecesForCosts, shape.units()) : 1);
}

/// Returns the bytes of a device buffer for a user's kernel, which also runs on the whole payload at once. With
/// Shape::in_place, the one device buffer holds input and output of that run side by side.
std::size_t device_bytes_for_own(const ChunkedWork::Shape& shape) {
  const std::size_t bytes = shape.bytes * shape.rounds;
  if (shape.in_place) return 2 * aligned_on_device(bytes);  // kernels that work in place have no halo rows
  if (shape.own->halo_rows == 0) return aligned_on_device(bytes);
  return aligned_on_device(bytes) + pieces_with_halo(shape) * (2 * room_for_halo(shape) + kDeviceAlignment);
}

}  // namespace

std::vector<Chunk> cut(const ChunkedWork::Shape& shape) {
  const std::size_t elements = shape.bytes / shape.element_bytes();
  const std::vector<Chunk> one = cut_one_round(shape);
  std::vector<Chunk> all;
  all.reserve(one.size() * shape.rounds);
  for (std::size_t round = 0; round < shape.rounds; ++round) {
    for (const Chunk& c : one) all.push_back({round * elements + c.first, c.count});
  }
  return all;
}

std::optional<SkipReason> ChunkedWork::skip_reason(const Shape& shape, const Capabilities* can) {
  if (shape.own) {
    if (auto reason = reason_against(*shape.own, can)) return reason;
    if (shape.in_place && shape.own->halo_rows > 0) {
      return SkipReason::impossible(
          "--in-place and --halo-rows contradict each other: a chunk would overwrite rows that other chunks read; "
          "leave one out");
    }
  }
  const std::string wanted = format_size_exact(shape.bytes);
  if (shape.bytes % shape.element_bytes() != 0) {
    return SkipReason::impossible(
        fmt::format("--size {} is not a whole number of 4-byte elements; choose a multiple of 4", wanted));
  }
  if (shape.chunks <= shape.units()) return std::nullopt;
  const char* const what = shape.unit_bytes() == shape.element_bytes() ? "elements" : "rows";
  return SkipReason::impossible(
      fmt::format("--chunks {} is more than the {} {} of --size {}; choose fewer chunks or a larger size", shape.chunks,
                  shape.units(), what, wanted));
}

Payload::Shape ChunkedWork::payload_of(const Shape& shape) {
  const std::size_t bytes = shape.bytes * shape.rounds;
  const std::size_t slots = slot_bytes(shape) * shape.slots;
  const std::size_t least = std::min(bytes, (shape.in_place ? 2 : 1) * kLeastPiece);
  std::size_t on_device = slots == 0 ? bytes : std::max(slots, least);
  if (shape.own) on_device = std::max(slots, device_bytes_for_own(shape));
  if (shape.in_place) on_device = std::max(on_device, kLeastInPlace);
  return {.bytes = bytes,
          .device_bytes = on_device,
          .in_place = shape.in_place,
          .op = shape.op,
          .seed = shape.seed,
          .own = shape.own};
}

ChunkedWork::ChunkedWork(Device& device, const Shape& shape, std::shared_ptr<Payload> payload)
    : device_(device),
      shape_(shape),
      payload_(payload ? std::move(payload) : std::make_shared<Payload>(device, payload_of(shape))),
      chunks_(cut(shape)),
      places_(places_of(shape, chunks_)) {
  for (std::size_t i = 0; i < chunks_.size(); ++i) names_.push_back("chunk " + std::to_string(i));
  if (!shape_.own) device_.preload(built_in({0, 1}, 0, 0, shape.blocks));
}

Elementwise ChunkedWork::built_in(const Chunk& c, std::size_t place, std::size_t out_place, unsigned blocks) const {
  const float* addends = shape_.op == ElementwiseOp::vector_add ? payload_->addends() + c.first : nullptr;
  const auto* const in = reinterpret_cast<const float*>(payload_->device_in() + place);
  auto* const out = reinterpret_cast<float*>(payload_->device_out() + out_place);
  return {shape_.op, {in, addends, out, c.count, shape_.work, blocks}};
}

kernels::OwnKernel ChunkedWork::own_kernel(const std::byte* in, std::byte* out, std::size_t elements) const {
  return shape_.own->over(*payload_->own_kernel(), in, out, elements);
}

void ChunkedWork::launch_over(const Chunk& c, std::size_t place, std::size_t out_place, unsigned blocks,
                              StreamView stream) {
  if (!shape_.own) return stream.launch(built_in(c, place, out_place, blocks));
  stream.launch(own_kernel(payload_->device_in() + place, payload_->device_out() + out_place, c.count));
}

Copy ChunkedWork::copy(Direction direction, const Chunk& c, std::size_t place) const {
  const std::size_t begin = c.first * shape_.element_bytes();
  const std::size_t bytes = c.count * shape_.element_bytes();
  if (direction == Direction::d2h) {
    return {payload_->host_out() + begin, payload_->device_out() + place, bytes, direction};
  }
  const std::size_t halo = payload_->shape().halo_bytes();
  return {payload_->device_in() + place - halo, payload_->host_in() + begin - halo, bytes + 2 * halo, direction};
}

Copy ChunkedWork::input(std::size_t index) const { return copy(Direction::h2d, chunks_[index], places_[index]); }

Copy ChunkedWork::output(std::size_t index) const { return copy(Direction::d2h, chunks_[index], places_[index]); }

void ChunkedWork::launch(std::size_t index, StreamView stream) {
  const Chunk& c = chunks_[index];
  const std::size_t each = shape_.unit_bytes() / shape_.element_bytes();
  const std::size_t parts = std::min(shape_.kernels_per_chunk, c.count / each);
  for (const Chunk& part : in_elements(model::partition(c.count / each, parts, elements_alignment(shape_)), shape_)) {
    const std::size_t at = places_[index] + part.first * shape_.element_bytes();
    launch_over({c.first + part.first, part.count}, at, at, shape_.blocks, stream);
  }
}

void ChunkedWork::launch_empty(StreamView stream) {
  const Chunk least{0, shape_.unit_bytes() / shape_.element_bytes()};
  launch_over(least, in_place_of_pieces(), in_place_of_pieces(), 0, stream);
}

std::size_t ChunkedWork::piece_elements() const {
  const std::size_t buffers = shape_.in_place ? 2 : 1;
  const std::size_t room = payload_->shape().device_bytes / buffers;
  if (shape_.own) return elements();  // device_bytes_for_own() has room for the whole payload
  const std::size_t alignment = room < kPieceAlignment ? kDeviceAlignment : kPieceAlignment;
  return std::min(elements(), std::max<std::size_t>(1, room / alignment * alignment / kElement));
}

std::vector<Chunk> ChunkedWork::pieces_of(std::size_t step) const {
  std::vector<Chunk> all;
  for (std::size_t first = 0; first < elements(); first += step) {
    all.push_back({first, std::min(step, elements() - first)});
  }
  return all;
}

void ChunkedWork::copy_all(Direction direction, std::size_t place, std::size_t parts, StreamView stream) {
  const std::size_t unit = shape_.unit_bytes() / shape_.element_bytes();
  for (const Chunk& piece : pieces()) {
    const std::size_t units = piece.count / unit;
    const auto cuts = model::partition(units, std::min(parts, units), elements_alignment(shape_));
    for (const Chunk& part : in_elements(cuts, shape_)) {
      stream.copy(copy(direction, {piece.first + part.first, part.count}, place + part.first * shape_.element_bytes()));
    }
  }
}

void ChunkedWork::copy_all_in(StreamView stream, std::size_t parts) {
  copy_all(Direction::h2d, in_place_of_pieces(), parts, stream);
}

void ChunkedWork::launch_all(StreamView stream) {
  for (const Chunk& piece : pieces()) launch_over(piece, in_place_of_pieces(), out_place(), 0, stream);
}

void ChunkedWork::copy_all_out(StreamView stream, std::size_t parts) {
  copy_all(Direction::d2h, out_place(), parts, stream);
}

void ChunkedWork::run_blocking(StreamView default_stream) {
  // The stages run one after another, so input and output of a piece can share the whole device buffer.
  const std::size_t at = in_place_of_pieces();
  const std::size_t step = shape_.own ? elements() : payload_->shape().device_bytes / kElement;
  for (const Chunk& piece : pieces_of(step)) {
    device_.copy_blocking(copy(Direction::h2d, piece, at));
    launch_over(piece, at, at, 0, default_stream);
    device_.copy_blocking(copy(Direction::d2h, piece, at));
  }
}

void ChunkedWork::launch_on_host_memory(StreamView stream, unsigned blocks) {
  if (shape_.own) {
    return stream.launch(own_kernel(payload_->host_in(), payload_->host_out(), elements()).on_host_memory());
  }
  const float* addends = shape_.op == ElementwiseOp::vector_add ? payload_->addends() : nullptr;
  const kernels::ElementwiseArgs args{reinterpret_cast<const float*>(payload_->host_in()),
                                      addends,
                                      reinterpret_cast<float*>(payload_->host_out()),
                                      elements(),
                                      shape_.work,
                                      blocks,
                                      true};
  stream.launch(Elementwise(shape_.op, args));
}

void ChunkedWork::compare(std::span<const std::byte> bytes, const std::byte* right, const std::string& what) const {
  pattern::require(pattern::compare_bytes(bytes, right, payload_->part()), what);
}

void ChunkedWork::check(const std::string& what) const {
  const std::span<const std::byte> bytes = output({0, elements()});
  if (shape_.own) return compare(bytes, payload_->expected_bytes(), what);
  if (shape_.op != ElementwiseOp::vector_add) return check_plus(shape_.work, bytes, what);
  const std::span<const float> output(reinterpret_cast<const float*>(bytes.data()), elements());
  const auto right = [this](std::size_t i) { return expected(i); };
  pattern::require(pattern::check_elements(output, right, payload_->part()), what);
}

void ChunkedWork::check_plus(std::uint32_t work, std::span<const std::byte> bytes, const std::string& what) const {
  const std::span<const float> output(reinterpret_cast<const float*>(bytes.data()), elements());
  const auto added = static_cast<float>(work);
  pattern::require(pattern::check_elements_plus(output, payload_->shape().seed, added, payload_->part()), what);
}

void ChunkedWork::check_chunked(const std::string& what) {
  try {
    check(what);
  } catch (const VerificationError&) {
    require_chunkable();
    throw;
  }
}

void ChunkedWork::require_chunkable() {
  if (!shape_.own) return;
  static_cast<void>(payload_->expected_bytes());  // throws if two runs of the kernel gave different output
  payload_->poison_all();
  const Stream stream = device_.make_stream(StreamKind::nonblocking);
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    copy_in(i, stream);
    launch(i, stream);
    copy_out(i, stream);
    stream.synchronize();
  }
  try {
    check("chunk by chunk");
  } catch (const VerificationError& error) {
    throw VerificationError(
        fmt::format("{} gives other results chunk by chunk than over the whole payload ({}). If the kernel reads "
                    "neighbouring rows, set --row-bytes and --halo-rows, or increase them; if every output depends on "
                    "all of the input, as in a histogram, use {}",
                    shape_.own->source.name, error.what(), shape_.in_one_piece));
  }
}

std::size_t ChunkedWork::last_in_place_of(std::size_t i) const {
  const std::size_t piece = piece_elements();
  const std::size_t offset = i % piece;
  return offset + (elements() - 1 - offset) / piece * piece;
}

void ChunkedWork::check_stages(const std::string& what) const {
  if (shape_.own || is_one_piece()) return check(what);
  const std::span<const float> all(reinterpret_cast<const float*>(payload_->host_out()), elements());
  const auto right = [this](std::size_t i) { return expected(last_in_place_of(i)); };
  pattern::require(pattern::check_elements(all, right, payload_->part()), what);
}

void ChunkedWork::check_stage_input(const std::string& what) {
  poison_host_out();
  device_.copy_and_wait(
      {payload_->host_out(), payload_->device_in() + in_place_of_pieces(), piece_bytes(), Direction::d2h});
  const std::span<const std::byte> bytes(payload_->host_out(), piece_bytes());
  if (shape_.own) return compare(bytes, payload_->host_in(), what);
  if (is_one_piece()) return check_plus(0, bytes, what);
  const std::span<const float> input(reinterpret_cast<const float*>(bytes.data()), piece_elements());
  const auto right = [this](std::size_t i) { return payload_->input(last_in_place_of(i)); };
  pattern::require(pattern::check_elements(input, right, payload_->part()), what);
}

void ChunkedWork::check_stage_output(const std::string& what, StreamView stream) {
  poison_host_out();
  copy_all_out(stream);
  stream.synchronize();
  check_stages(what);
}

}  // namespace xferbench
