// Tile kernels: their closed form, host reference and result check, against each other and against explicit arithmetic.
#include "kernels/smem/smem.hpp"

#include <cmath>
#include <cstring>

#include "core/error.hpp"
#include "measure/pattern.hpp"
#include "scenarios/smem/data.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

using kernels::Smem;
using kernels::SmemOp;
using kernels::SmemPart;
using kernels::SmemShape;
using kernels::SmemType;
using test::mentions;
using test::message_of;

constexpr std::uint64_t kSeed = 11;

SmemShape shape(SmemOp op, SmemType type, std::uint32_t intensity) {
  return {.op = op, .type = type, .threads = 128, .intensity = intensity};
}

SmemShape matrix(SmemOp op, SmemType type, std::uint64_t rows, std::uint64_t columns, std::uint32_t intensity) {
  SmemShape s = shape(op, type, intensity);
  s.set_matrix(rows, columns * kernels::bytes_of(type));
  return s;
}

SmemShape array(SmemOp op, SmemType type, std::uint64_t elements, std::uint32_t intensity) {
  SmemShape s = shape(op, type, intensity);
  s.set_array(elements * kernels::bytes_of(type));
  return s;
}

std::vector<SmemShape> shapes() {
  std::vector<SmemShape> all;
  for (const SmemOp op : {SmemOp::copy, SmemOp::scale, SmemOp::read}) {
    for (const SmemType type : {SmemType::f32, SmemType::f16}) {
      for (const std::uint32_t intensity : {0U, 3U, 512U}) {
        all.push_back(matrix(op, type, 1000, 1003, intensity));
        all.push_back(matrix(op, type, 1, 1, intensity));
        all.push_back(array(op, type, 1, intensity));
        all.push_back(array(op, type, 100'003, intensity));
      }
    }
  }
  return all;
}

std::string name_of(const SmemShape& s) {
  return std::string(kernels::kSmemOpNames[static_cast<std::size_t>(s.op)]) + " " +
         std::string(kernels::kSmemTypeNames[static_cast<std::size_t>(s.type)]) + " " + std::to_string(s.rows) + "x" +
         std::to_string(s.row_bytes) + " " + std::to_string(s.intensity);
}

/// The input, and the output of the host reference.
struct Reference {
  explicit Reference(const SmemShape& shape)
      : in(shape.buffer_bytes()),
        out(shape.op == SmemOp::read ? shape.sum_bytes() : shape.buffer_bytes(), pattern::kPoison) {
    fill_rows(shape, kSeed, 0, in);
    std::vector<std::byte> result(out.size());
    Smem(shape, {.in = in.data(), .out = out.data()}).compute(result);
    out = result;
  }
  std::vector<std::byte> in;
  std::vector<std::byte> out;
};

void check(const SmemShape& shape, std::span<const std::byte> out) {
  if (shape.op != SmemOp::read) return check_rows(shape, kSeed, 0, out, "test");
  if (sum_of_words(out) != expected_sum(shape, kSeed)) throw VerificationError("wrong sum");
}

/// The value of a half-precision float from its definition.
double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  return exponent == 0 ? std::ldexp(bits & 1023, -24) : std::ldexp(1024 + (bits & 1023), exponent - 25);
}

TEST(HalfBits, AreThoseOfTheValue) {
  for (unsigned twice = 0; twice <= 2048; ++twice) {
    const auto value = static_cast<float>(twice) / 2;
    EXPECT_EQ(half_value(kernels::half_bits(value)), value);
  }
}

TEST(SmemReference, EqualsTheClosedFormOfEveryElement) {
  for (const SmemShape& s : shapes()) {
    if (s.op == SmemOp::read) continue;
    const Reference reference(s);
    const std::uint64_t columns = s.row_bytes / kernels::bytes_of(s.type);
    const std::uint64_t elements = s.payload_bytes() / kernels::bytes_of(s.type);
    for (std::uint64_t i = 0; i < elements; ++i) {
      const std::byte* at = &reference.out[i / columns * s.pitch + i % columns * kernels::bytes_of(s.type)];
      const double add = s.intensity;
      const double by = s.op == SmemOp::scale ? 0.5 : 1;
      if (s.type == SmemType::f32) {
        float found;
        std::memcpy(&found, at, sizeof(found));
        ASSERT_EQ(found, pattern::element(kSeed, i) * by + add) << name_of(s) << " at " << i;
      } else {
        std::uint16_t found;
        std::memcpy(&found, at, sizeof(found));
        ASSERT_EQ(half_value(found), pattern::small_element(kSeed, i) * by + add) << name_of(s) << " at " << i;
      }
    }
  }
}

TEST(SmemReference, TheSumOfReadIsThatOfTheWordsOfEachRow) {
  for (const SmemShape& s : shapes()) {
    if (s.op != SmemOp::read) continue;
    SmemShape copy = s;  // same elements
    copy.op = SmemOp::copy;
    const Reference elements(copy);
    std::uint32_t expected = 0;
    for (std::uint64_t row = 0; row < s.rows; ++row) {
      const std::uint64_t used = row + 1 == s.rows ? s.last_row_bytes : s.row_bytes;
      for (std::uint64_t byte = 0; byte < used; ++byte) {
        expected += std::to_integer<std::uint32_t>(elements.out[row * s.pitch + byte]) << 8 * (byte % 4);
      }
    }
    EXPECT_EQ(sum_of_words(Reference(s).out), expected) << name_of(s);
    EXPECT_EQ(expected_sum(s, kSeed), expected) << name_of(s);
  }
}

TEST(SmemCheck, AcceptsTheReference) {
  for (const SmemShape& s : shapes()) EXPECT_NO_THROW(check(s, Reference(s).out)) << name_of(s);
}

TEST(SmemCheck, FindsEveryWrongByte) {
  for (const SmemShape& s : shapes()) {
    Reference r(s);
    for (const std::size_t at : {std::size_t{0}, r.out.size() / 2, r.out.size() - 1}) {
      r.out[at] ^= std::byte{1};
      EXPECT_THROW(check(s, r.out), VerificationError) << name_of(s) << " at " << at;
      r.out[at] ^= std::byte{1};
    }
  }
}

TEST(SmemCheck, FindsWhatWasNeverWritten) {
  for (const SmemShape& s : shapes()) {
    std::vector<std::byte> out(Reference(s).out.size());
    pattern::poison(out);
    EXPECT_THROW(check(s, out), VerificationError) << name_of(s);
  }
}

TEST(SmemCheck, SaysWhere) {
  const SmemShape s = matrix(SmemOp::copy, SmemType::f32, 1000, 1003, 0);
  Reference r(s);
  r.out[7 * s.pitch + 4 * 5] ^= std::byte{1};
  EXPECT_TRUE(mentions(message_of<VerificationError>([&] { check(s, r.out); }),
                       "test: wrong result at byte offset 28132 (row 7, element 5 of that row): expected 0x"));
  r = Reference(s);
  r.out[7 * s.pitch + s.row_bytes + 1] = std::byte{0};
  EXPECT_TRUE(mentions(message_of<VerificationError>([&] { check(s, r.out); }),
                       "test: wrote past the end of row 7, at byte offset " + std::to_string(7 * s.pitch + 4013)));
}

TEST(SmemCheck, SeesPaddingThatWasCopied) {
  const SmemShape s = matrix(SmemOp::copy, SmemType::f32, 10, 1003, 0);
  std::vector<std::byte> copied(s.buffer_bytes());
  fill_rows(s, kSeed, 0, copied);
  EXPECT_TRUE(mentions(message_of<VerificationError>([&] { check(s, copied); }), "wrote past the end of row 0"));
}

TEST(SmemCheck, LooksAtAPartOfTheRowsAsAtAll) {
  const SmemShape s = matrix(SmemOp::scale, SmemType::f16, 1000, 1003, 3);
  const Reference r(s);
  const std::span<const std::byte> all(r.out);
  EXPECT_NO_THROW(check_rows(s, kSeed, 300, all.subspan(300 * s.pitch, 50 * s.pitch), "part"));
  EXPECT_THROW(check_rows(s, kSeed, 301, all.subspan(300 * s.pitch, 50 * s.pitch), "part"), VerificationError);
}

TEST(SmemCheck, TheMemoryPartDoesNoArithmetic) {
  SmemShape s = matrix(SmemOp::scale, SmemType::f32, 10, 100, 7);
  SmemShape plain = matrix(SmemOp::copy, SmemType::f32, 10, 100, 0);
  const Reference r(plain);
  EXPECT_THROW(check(s, r.out), VerificationError);
  s.part = SmemPart::memory;
  EXPECT_NO_THROW(check(s, r.out));
}

}  // namespace
}  // namespace xferbench
