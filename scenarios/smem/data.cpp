#include "scenarios/smem/data.hpp"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <cstring>

#include "core/error.hpp"
#include "core/units.hpp"
#include "measure/parallel.hpp"
#include "measure/pattern.hpp"
#include "scenarios/smem/case.hpp"

namespace xferbench {

namespace {

constexpr std::uint64_t kPart = 64 * MiB;        // bytes staged through page-locked memory at a time
constexpr std::uint64_t kGrain = MiB;            // minimum bytes per host thread
constexpr std::size_t kQueueBytes = 128;         // size of the queue: two words, padded
constexpr std::byte kPadding{0x7E};              // fills the input between rows; the output between rows is poison
constexpr std::size_t kSmallElements = 1 + 512;  // pattern::small_element is in [1, 2^9]

/// Computes the expected rows of the input (`worked` is false) or of the output, as the bits of their elements.
template <class Bits>
class Rows {
 public:
  Rows(const SmemShape& shape, std::uint64_t seed, bool worked)
      : shape_(shape),
        seed_(seed),
        intensity_(shape.part == SmemPart::memory ? 0 : shape.intensity),
        worked_(worked && (intensity_ > 0 || (shape.op == SmemOp::scale && shape.part != SmemPart::memory))) {
    for (std::size_t i = 1; i < halves_.size(); ++i) halves_[i] = kernels::half_bits(value(static_cast<float>(i)));
  }

  void fill(std::uint64_t row, std::span<std::byte> to) const {
    for (std::uint64_t i = 0; i < elements(row); ++i) {
      const Bits bits = expected(row, i);
      std::memcpy(&to[i * sizeof(Bits)], &bits, sizeof(Bits));
    }
    std::ranges::fill(to.subspan(shape_.used_bytes(row)), kPadding);
  }

  [[nodiscard]] bool is_right(std::uint64_t row, std::span<const std::byte> found, Between between) const {
    const auto right = [&](std::uint64_t i) { return element(found, i) == expected(row, i); };
    return pattern::all_right_fast(0, elements(row), right) &&
           (between == Between::anything || std::ranges::all_of(found.subspan(shape_.used_bytes(row)), is_poison));
  }

  /// Returns a description of the first error in a row for which is_right() is false.
  [[nodiscard]] std::string describe(std::uint64_t row, std::span<const std::byte> found) const {
    for (std::uint64_t i = 0; i < elements(row); ++i) {
      if (element(found, i) == expected(row, i)) continue;
      return fmt::format("wrong result at byte offset {} (row {}, element {} of that row): expected {:#x}, found {:#x}",
                         row * shape_.pitch + i * sizeof(Bits), row, i, expected(row, i), element(found, i));
    }
    const auto rest = found.subspan(shape_.used_bytes(row));
    const auto written = std::ranges::find_if_not(rest, is_poison) - rest.begin();
    return fmt::format("wrote past the end of row {}, at byte offset {}", row,
                       row * shape_.pitch + shape_.used_bytes(row) + static_cast<std::uint64_t>(written));
  }

  /// Returns the sum of the row's 32-bit words; missing bytes of the last word count as zero.
  [[nodiscard]] std::uint32_t sum(std::uint64_t row) const {
    std::uint32_t sum = 0;
    for (std::uint64_t i = 0; i < elements(row); ++i) {
      const unsigned place = sizeof(Bits) == sizeof(std::uint32_t) ? 0 : 16 * (i % 2);  // little-endian
      sum += static_cast<std::uint32_t>(expected(row, i)) << place;
    }
    return sum;
  }

 private:
  static bool is_poison(std::byte b) { return b == pattern::kPoison; }
  static Bits element(std::span<const std::byte> row, std::uint64_t i) {
    Bits bits;
    std::memcpy(&bits, row.data() + i * sizeof(Bits), sizeof(Bits));
    return bits;
  }

  [[nodiscard]] std::uint64_t elements(std::uint64_t row) const { return shape_.used_bytes(row) / sizeof(Bits); }
  [[nodiscard]] float value(float in) const { return worked_ ? kernels::smem_expected(shape_.op, in, intensity_) : in; }
  [[nodiscard]] Bits expected(std::uint64_t row, std::uint64_t i) const {
    const std::uint64_t index = row * (shape_.row_bytes / sizeof(Bits)) + i;
    if constexpr (sizeof(Bits) == sizeof(float)) {
      return std::bit_cast<std::uint32_t>(value(pattern::element(seed_, index)));
    } else {
      return halves_[static_cast<std::size_t>(pattern::small_element(seed_, index))];
    }
  }

  SmemShape shape_;
  std::uint64_t seed_;
  std::uint32_t intensity_;
  bool worked_;
  std::array<std::uint16_t, kSmallElements> halves_{};  ///< expected f16 result for each possible input value
};

/// Calls f with an object of class Rows for the element type of the shape.
template <class F>
auto with_rows(const SmemShape& shape, std::uint64_t seed, bool worked, const F& f) {
  return shape.type == SmemType::f32 ? f(Rows<std::uint32_t>(shape, seed, worked))
                                     : f(Rows<std::uint16_t>(shape, seed, worked));
}

std::size_t rows_per_thread(const SmemShape& shape) { return std::max<std::size_t>(1, kGrain / shape.pitch); }

}  // namespace

void fill_rows(const SmemShape& shape, std::uint64_t seed, std::uint64_t first, std::span<std::byte> rows) {
  with_rows(shape, seed, false, [&](const auto& wanted) {
    parallel_for(rows.size() / shape.pitch, rows_per_thread(shape), [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) wanted.fill(first + r, rows.subspan(r * shape.pitch, shape.pitch));
    });
  });
}

void check_rows(const SmemShape& shape, std::uint64_t seed, std::uint64_t first, std::span<const std::byte> rows,
                std::string_view what, Between between) {
  const auto row = [&](std::size_t r) { return rows.subspan(r * shape.pitch, shape.pitch); };
  with_rows(shape, seed, true, [&](const auto& wanted) {
    const auto right = [&](std::size_t r) { return wanted.is_right(first + r, row(r), between); };
    const auto wrong = pattern::first_wrong(rows.size() / shape.pitch, right, rows_per_thread(shape));
    if (wrong) throw VerificationError(fmt::format("{}: {}", what, wanted.describe(first + *wrong, row(*wrong))));
  });
}

std::uint32_t expected_sum(const SmemShape& shape, std::uint64_t seed) {
  std::atomic<std::uint32_t> all{0};
  with_rows(shape, seed, true, [&](const auto& wanted) {
    parallel_for(shape.rows, rows_per_thread(shape), [&](std::size_t begin, std::size_t end) {
      std::uint32_t sum = 0;
      for (std::size_t r = begin; r < end; ++r) sum += wanted.sum(r);
      all += sum;
    });
  });
  return all;
}

std::uint32_t sum_of_words(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint32_t)) {
    std::uint32_t word;
    std::memcpy(&word, &bytes[i], sizeof(word));
    sum += word;
  }
  return sum;
}

// --- On the device ---------------------------------------------------------------------------------------------------

void SmemSizes::include(const SmemShape& shape) {
  constexpr unsigned kMostBlocks = 1U << 14;  // more than any GPU runs at once
  SmemShape largest = shape;
  largest.blocks = std::max(shape.blocks, kMostBlocks);
  in = std::max(in, shape.buffer_bytes());
  out = std::max(out, shape.op == SmemOp::read ? largest.sum_bytes() : shape.buffer_bytes());
}

SmemData::SmemData(Device& device, const SmemSizes& sizes, std::uint64_t seed)
    : device_(device),
      seed_(seed),
      in_(device.allocate_device(sizes.in)),
      out_(device.allocate_device(sizes.out)),
      queue_(device.allocate_device(kQueueBytes)) {
  device_.fill_and_wait(queue_, std::byte{0});
}

kernels::SmemArgs SmemData::args() const {
  return {.in = in_.data, .out = out_.data, .queue = reinterpret_cast<std::uint32_t*>(queue_.data)};
}

void SmemData::for_parts(std::uint64_t items, std::uint64_t bytes_of_item, const OnPart& on_part) {
  const std::uint64_t most = std::clamp<std::uint64_t>(kPart / bytes_of_item, 1, items);
  const HostBuffer host = device_.allocate_host(most * bytes_of_item, HostMemory::pinned);
  for (std::uint64_t first = 0; first < items; first += most) {
    on_part(first, {host.data, std::min(most, items - first) * bytes_of_item});
  }
}

void SmemData::prepare(const SmemShape& shape) {
  for_parts(shape.rows, shape.pitch, [&](std::uint64_t first, std::span<std::byte> part) {
    fill_rows(shape, seed_, first, part);
    device_.copy_and_wait({in_.data + first * shape.pitch, part.data(), part.size(), Direction::h2d});
  });
}

void SmemData::poison() { device_.fill_and_wait(out_, pattern::kPoison); }

void SmemData::fetch(const std::byte* from, std::span<std::byte> to) {
  device_.copy_and_wait({to.data(), from, to.size(), Direction::d2h});
}

void SmemData::check(const SmemShape& shape, std::string_view what, Between between) {
  shape.op == SmemOp::read ? check_sum(shape, what) : check_elements(shape, out_.data, what, between);
  check_queue(what);
}

void SmemData::check_copy(const SmemShape& shape, const std::byte* copy, std::string_view what) {
  SmemShape copied = only(SmemPart::memory, shape);
  copied.op = SmemOp::copy;
  check_elements(copied, copy, what, Between::anything);
}

void SmemData::check_elements(const SmemShape& shape, const std::byte* from, std::string_view what, Between between) {
  for_parts(shape.rows, shape.pitch, [&](std::uint64_t first, std::span<std::byte> part) {
    fetch(from + first * shape.pitch, part);
    check_rows(shape, seed_, first, part, what, between);
  });
}

void SmemData::check_sum(const SmemShape& shape, std::string_view what) {
  constexpr std::uint64_t kWord = sizeof(std::uint32_t);
  std::uint32_t found = 0;
  for_parts(shape.sum_bytes() / kWord, kWord, [&](std::uint64_t first, std::span<std::byte> part) {
    fetch(out_.data + first * kWord, part);
    found += sum_of_words(part);
  });
  const std::uint32_t expected = expected_sum(shape, seed_);
  if (found == expected) return;
  throw VerificationError(
      fmt::format("{}: wrong sum of all words: expected {:#x}, found {:#x}", what, expected, found));
}

void SmemData::check_queue(std::string_view what) {
  for_parts(1, kQueueBytes, [&](std::uint64_t, std::span<std::byte> queue) {
    fetch(queue_.data, queue);
    if (std::ranges::all_of(queue, [](std::byte b) { return b == std::byte{0}; })) return;
    throw VerificationError(
        fmt::format("{}: the kernel left its tile queue in a state that would break the next launch", what));
  });
}

}  // namespace xferbench
