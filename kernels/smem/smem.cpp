// Host side of the tile kernels: launch parameters, cost model and reference result.
#include "kernels/smem/smem.hpp"

#include <algorithm>
#include <cstring>

namespace xferbench::kernels {

namespace {

constexpr unsigned kWarp = 32;

/// Returns the value of a half-precision float in [0, 2048), the range of the smem elements.
float half_value(std::uint16_t bits) {
  if (bits == 0) return 0;
  const auto mantissa = static_cast<float>(1024 + (bits & 1023));
  return mantissa * static_cast<float>(1U << (bits >> 10)) * 0x1p-25F;
}

bool works(const SmemShape& shape) {
  return shape.part != SmemPart::memory && (shape.op == SmemOp::scale || shape.intensity > 0);
}

/// Computes one row in place. If the shape has no arithmetic, the bytes stay unchanged.
void work_on(const SmemShape& shape, std::span<std::byte> row) {
  if (!works(shape)) return;
  for (std::size_t i = 0; i < row.size(); i += bytes_of(shape.type)) {
    if (shape.type == SmemType::f32) {
      float value;
      std::memcpy(&value, &row[i], sizeof(value));
      value = smem_expected(shape.op, value, shape.intensity);
      std::memcpy(&row[i], &value, sizeof(value));
    } else {
      std::uint16_t bits;
      std::memcpy(&bits, &row[i], sizeof(bits));
      bits = half_bits(smem_expected(shape.op, half_value(bits), shape.intensity));
      std::memcpy(&row[i], &bits, sizeof(bits));
    }
  }
}

/// Returns the sum of the 32-bit words of a part of a row. Missing bytes of the last word count as zero.
std::uint32_t sum_words(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, &bytes[i], std::min(sizeof(word), bytes.size() - i));
    sum += word;
  }
  return sum;
}

}  // namespace

void SmemShape::set_array(std::uint64_t bytes) {
  row_bytes = pitch = std::max(tile_width, 1U);
  rows = std::max<std::uint64_t>(1, (bytes + row_bytes - 1) / row_bytes);
  last_row_bytes = bytes - (rows - 1) * row_bytes;
}

void SmemShape::set_matrix(std::uint64_t how_many_rows, std::uint64_t bytes_of_row) {
  rows = how_many_rows;
  row_bytes = last_row_bytes = bytes_of_row;
  pitch = (row_bytes + kSmemVector - 1) / kSmemVector * kSmemVector;
}

unsigned SmemShape::launched_threads() const {
  if (method != SmemMethod::tma_specialized) return threads;
  return threads + kWarp * (uses_async_store() ? 2 : 1);
}

unsigned SmemShape::vectors_at_a_time() const {
  const unsigned all = tile_bytes / (kSmemVector * threads);
  if (all % 4 == 0) return 4;
  // The stage count is a template parameter of pipeline kernels, so there are many of them. To limit their number, none
  // is compiled for 2 vectors.
  return all % 2 == 0 && method != SmemMethod::pipeline ? 2 : 1;
}

std::size_t SmemShape::shared_bytes() const {
  // Space for aligning the tiles to 1024 bytes, as the widest swizzle requires.
  constexpr std::size_t kAlignment = 1024;
  switch (method) {
    case SmemMethod::direct: return 0;
    case SmemMethod::bulk:
    case SmemMethod::tma:
    case SmemMethod::tma_specialized: return std::size_t{stages} * tile_bytes + kAlignment;
    default: return std::size_t{stages} * tile_bytes;
  }
}

KernelCost Smem::cost() const {
  KernelCost cost;
  const auto payload = shape_.payload_bytes();
  if (shape_.part != SmemPart::compute) {
    cost.bytes = shape_.op == SmemOp::read ? payload + shape_.sum_bytes() : 2 * payload;
  }
  if (works(shape_)) cost.fma = static_cast<double>(payload / bytes_of(shape_.type)) * shape_.intensity;
  return cost;
}

std::span<std::byte> Smem::output() const {
  return {args_.out, static_cast<std::size_t>(shape_.op == SmemOp::read ? shape_.sum_bytes() : shape_.buffer_bytes())};
}

std::optional<std::vector<std::span<const std::byte>>> Smem::reads() const {
  return {{{args_.in, static_cast<std::size_t>(shape_.buffer_bytes())}, output()}};
}

void Smem::compute(std::span<std::byte> result) const {
  const bool reads = shape_.op == SmemOp::read;
  if (reads) {
    std::ranges::fill(result, std::byte{0});
  } else {
    std::memcpy(result.data(), args_.out, result.size());  // the kernel does not change the padding between rows
  }
  std::vector<std::byte> row(shape_.row_bytes);
  std::uint32_t sum = 0;
  for (std::uint64_t r = 0; r < shape_.rows; ++r) {
    const std::span used(row.data(), shape_.used_bytes(r));
    std::memcpy(used.data(), args_.in + r * shape_.pitch, used.size());
    work_on(shape_, used);
    if (!reads) {
      std::memcpy(result.data() + r * shape_.pitch, used.data(), used.size());
      continue;
    }
    sum += sum_words(used);
  }
  if (reads) std::memcpy(result.data(), &sum, sizeof(sum));
}

}  // namespace xferbench::kernels
