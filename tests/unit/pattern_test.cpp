// Payload patterns and their verification. A check that misses wrong bytes would make every result worthless, so each
// check is given wrong bytes of every kind.
#include "measure/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "kernels/elementwise.hpp"

namespace xferbench {
namespace {

using kernels::Elementwise;
using kernels::ElementwiseOp;

using Bytes = std::vector<std::byte>;

// Larger than one thread's share, with a tail shorter than a word.
constexpr std::size_t kLarge = (std::size_t{13} << 20) + 3;

Bytes filled(std::size_t size, std::uint64_t seed) {
  Bytes bytes(size);
  pattern::fill_bytes(bytes, seed);
  return bytes;
}

// --- Bytes ----------------------------------------------------------------------------------------------------------

TEST(Pattern, OfBytesIsRightAsFilledAtEverySize) {
  for (std::size_t size = 0; size <= 70; ++size) EXPECT_FALSE(pattern::check_bytes(filled(size, 5), 5)) << size;
  EXPECT_FALSE(pattern::check_bytes(filled(kLarge, 5), 5));
}

TEST(Pattern, OfBytesDependsOnPositionAndSeedOnly) {
  const Bytes longer = filled(1000, 5);
  const Bytes shorter = filled(501, 5);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
  EXPECT_NE(filled(1000, 6), longer);
}

TEST(Pattern, OfBytesIsNoConstantAndNoRamp) {
  const Bytes bytes = filled(4096, 1);
  EXPECT_EQ(std::set(bytes.begin(), bytes.end()).size(), 128U) << "all values with a clear top bit occur";
  EXPECT_FALSE(std::equal(bytes.begin(), bytes.begin() + 2048, bytes.begin() + 2048)) << "halves can be told apart";
}

TEST(Pattern, OfBytesIsNotThatOfAnotherSeed) {
  // The two directions of a scenario use neighbouring seeds.
  for (const std::uint64_t seed : {0ULL, 1ULL, 41ULL, 0xFFFFFFFFULL, 0xFFFFFFFFFFFFFFFFULL}) {
    EXPECT_TRUE(pattern::check_bytes(filled(4096, seed), seed + 1)) << seed;
  }
}

TEST(Pattern, FindsEveryWrongByteAndPoisonWhereverItIsLeft) {
  for (const std::byte wrong : {std::byte{1}, pattern::kPoison}) {
    for (std::size_t size = 1; size <= 20; ++size) {
      for (std::size_t at = 0; at < size; ++at) {
        Bytes bytes = filled(size, 9);
        bytes[at] = wrong == pattern::kPoison ? wrong : bytes[at] ^ wrong;
        const auto found = pattern::check_bytes(bytes, 9);
        ASSERT_TRUE(found) << "byte " << at << " of " << size;
        EXPECT_EQ(found->offset, at) << "of " << size;
      }
    }
  }
}

TEST(Pattern, FindsTheFirstOfSeveralWrongBytesWhicheverThreadMeetsThem) {
  const Bytes right = filled(kLarge, 3);
  const std::vector<std::size_t> places{17, kLarge / 3, kLarge / 2 - 1, kLarge / 2 + 5, kLarge - 1};
  for (std::size_t first = 0; first < places.size(); ++first) {
    Bytes bytes = right;
    for (std::size_t i = first; i < places.size(); ++i) bytes[places[i]] = pattern::kPoison;
    const auto found = pattern::check_bytes(bytes, 3);
    ASSERT_TRUE(found) << places[first];
    EXPECT_EQ(found->offset, places[first]);
  }
}

TEST(Pattern, FindsTheLowestWrongIndexHoweverManyAreWrong) {
  constexpr std::size_t kCount = std::size_t{5} << 20;
  for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, kCount / 2, kCount - 1}) {
    EXPECT_EQ(pattern::first_wrong(kCount, [limit](std::size_t i) { return i < limit; }), limit);
  }
  EXPECT_EQ(pattern::first_wrong(kCount, [](std::size_t) { return true; }), std::nullopt);
  EXPECT_EQ(pattern::first_wrong(0, [](std::size_t) { return false; }), std::nullopt);
}

TEST(Pattern, SaysWhatWasExpectedAndFound) {
  Bytes bytes = filled(64, 2);
  const auto expected = std::to_integer<unsigned>(bytes[30]);
  bytes[30] = std::byte{0xFF};
  const auto found = pattern::check_bytes(bytes, 2);
  ASSERT_TRUE(found);
  char text[8];
  std::snprintf(text, sizeof(text), "0x%02x", expected);
  EXPECT_EQ(found->describe(), "wrong result at byte offset 30: expected " + std::string(text) + ", found 0xff");
}

// --- Poison ---------------------------------------------------------------------------------------------------------

TEST(Poison, CoversEveryByte) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, kLarge}) {
    Bytes bytes = filled(size, 1);
    pattern::poison(bytes);
    EXPECT_EQ(std::ranges::count(bytes, pattern::kPoison), static_cast<std::ptrdiff_t>(size));
  }
}

TEST(Poison, NeverEqualsARightByte) {
  for (const std::uint64_t seed : {0U, 1U, 12345U}) {
    const Bytes bytes = filled(std::size_t{1} << 20, seed);
    EXPECT_EQ(std::ranges::count(bytes, pattern::kPoison), 0) << seed;
  }
}

TEST(Poison, IsNoNumberAsAFloat) {
  Bytes bytes(sizeof(float));
  pattern::poison(bytes);
  float value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  EXPECT_TRUE(std::isnan(value));
}

// --- Elements -------------------------------------------------------------------------------------------------------

TEST(Elements, AreWholeNumbersThatLeaveRoomForExactSums) {
  float least = 1e9F;
  float most = 0;
  for (std::uint64_t i = 0; i < (1U << 20); ++i) {
    const float x = pattern::element(1, i);
    ASSERT_EQ(x, std::floor(x)) << i;
    least = std::min(least, x);
    most = std::max(most, x);
  }
  EXPECT_GE(least, 1.0F);
  EXPECT_LE(most, 4194304.0F) << "2^22";
  EXPECT_LT(least, 1000.0F) << "the range is used";
  EXPECT_GT(most, 4190000.0F) << "the range is used";
}

TEST(Elements, ThatAreWrongAreFoundByTheirFirst) {
  std::vector<float> elements((std::size_t{5} << 20) + 1);
  pattern::fill_elements(elements, 8);
  const auto found = [&](std::uint64_t seed) {
    return pattern::check_elements(elements, [seed](std::size_t i) { return pattern::element(seed, i); });
  };
  EXPECT_FALSE(found(8));
  EXPECT_TRUE(found(9));
  elements[4'000'000] += 1;
  elements[3'000'000] = std::numeric_limits<float>::quiet_NaN();
  ASSERT_TRUE(found(8));
  EXPECT_EQ(found(8)->offset / sizeof(float), 3'000'000U);
}

/// Errors of one bit must be found in every place: vector instructions have edges at block and vector ends.
TEST(Elements, WithSomethingAddedAreWrongByTheLeastBitAnywhere) {
  constexpr std::size_t kCount = (std::size_t{3} << 20) + 37;
  constexpr float kAdded = 64;
  std::vector<float> elements(kCount);
  pattern::fill_elements(elements, 8);
  for (float& e : elements) e += kAdded;
  EXPECT_FALSE(pattern::check_elements_plus(elements, 8, kAdded));
  EXPECT_TRUE(pattern::check_elements_plus(elements, 9, kAdded));
  EXPECT_TRUE(pattern::check_elements_plus(elements, 8, kAdded + 1));
  for (const std::size_t at : {std::size_t{0}, std::size_t{7}, std::size_t{1023}, std::size_t{1024},
                               std::size_t{1} << 20, kCount - 37, kCount - 1}) {
    const float right = elements[at];
    for (const float wrong : {std::nextafter(right, 0.0F), std::nextafter(right, 2 * right), -right,
                              std::numeric_limits<float>::quiet_NaN()}) {
      elements[at] = wrong;
      const auto found = pattern::check_elements_plus(elements, 8, kAdded);
      ASSERT_TRUE(found) << at << " " << wrong;
      EXPECT_EQ(found->offset / sizeof(float), at);
    }
    elements[at] = right;
  }
}

TEST(Elements, WithSomethingAddedAreLookedAtInTheirPartAlone) {
  std::vector<float> elements(std::size_t{1} << 20);
  pattern::fill_elements(elements, 8);
  for (float& e : elements) e += 1;
  const PayloadPart part{256, 4096};
  elements[64] = 0;  // first element after the part
  EXPECT_FALSE(pattern::check_elements_plus(elements, 8, 1, part));
  elements[1024 + 63] = 0;
  ASSERT_TRUE(pattern::check_elements_plus(elements, 8, 1, part));
  EXPECT_EQ(pattern::check_elements_plus(elements, 8, 1, part)->offset / sizeof(float), 1087U);
}

TEST(Elements, ThatDifferNameTheFirstByteThatDoes) {
  // 1.0f is 00 00 80 3f in memory, 1.5f is 00 00 c0 3f: byte 2 of element 10 differs.
  const pattern::Mismatch mismatch = pattern::element_mismatch(10, 1.0F, 1.5F);
  EXPECT_EQ(mismatch.offset, 42U);
  EXPECT_EQ(mismatch.describe(), "wrong result at byte offset 42: expected 1 (element 10), found 1.5");
}

// --- Elementwise kernels --------------------------------------------------------------------------------------------

/// Buffers of one launch, filled as a scenario fills them.
struct Launch {
  explicit Launch(std::size_t elements) : in(elements), addends(elements), out(elements) {
    pattern::fill_elements(in, 1);
    for (std::size_t i = 0; i < elements; ++i) addends[i] = kernels::addend(i);
  }
  [[nodiscard]] Elementwise kernel(ElementwiseOp op, std::uint32_t work, float* target) const {
    return {op, {in.data(), addends.data(), target, in.size(), work}};
  }
  std::vector<float> in;
  std::vector<float> addends;
  std::vector<float> out;
};

/// `work` steps in a loop, in single precision; the closed form and the reference must give the same.
float step_by_step(ElementwiseOp op, float value, float addend, std::uint32_t work) {
  for (std::uint32_t step = 0; step < work; ++step) {
    switch (op) {
      case ElementwiseOp::fma: value = std::fma(value, 1.0F, 1.0F); break;
      case ElementwiseOp::vector_add: value += addend; break;
      case ElementwiseOp::sincos: {
        const float sine = std::sin(value);
        const float cosine = std::cos(value);
        value += std::rint(std::sqrt(sine * sine + cosine * cosine));
        break;
      }
    }
  }
  return value;
}

constexpr ElementwiseOp kOps[]{ElementwiseOp::fma, ElementwiseOp::vector_add, ElementwiseOp::sincos};

TEST(ElementwiseClosedForm, IsWhatTheStepsGive) {
  for (const ElementwiseOp op : kOps) {
    for (const std::uint32_t work : {1U, 2U, 64U, 1000U}) {
      for (std::uint64_t i = 0; i < 200; ++i) {
        const float in = pattern::element(3, i);
        ASSERT_EQ(kernels::expected(op, in, i, work), step_by_step(op, in, kernels::addend(i), work))
            << "op " << static_cast<int>(op) << " work " << work << " element " << i;
      }
    }
  }
}

TEST(ElementwiseClosedForm, IsExactForTheLargestInputsAndTheMostWork) {
  // 2^22 + 4 * 2^20 = 2^23: up to here a float holds every whole number.
  constexpr float kMost = 4194304.0F;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const double exact = 4194304.0 + 1048576.0 * static_cast<double>(kernels::addend(i));
    EXPECT_EQ(static_cast<double>(kernels::expected(ElementwiseOp::vector_add, kMost, i, kernels::kMaxWork)), exact);
  }
  EXPECT_EQ(kernels::expected(ElementwiseOp::fma, kMost, 0, kernels::kMaxWork), 5242880.0F);
}

TEST(ElementwiseAddends, AreOneToFourInNoOrder) {
  std::set<float> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) seen.insert(kernels::addend(i));
  EXPECT_EQ(seen, (std::set<float>{1, 2, 3, 4}));
}

TEST(ElementwiseReference, AgreesWithTheClosedFormAtOddSizes) {
  for (const ElementwiseOp op : kOps) {
    for (const std::size_t elements : {1U, 3U, 1023U, 1024U, 1025U, 100'003U}) {
      Launch launch(elements);
      const Elementwise kernel = launch.kernel(op, 77, launch.out.data());
      kernel.compute(std::as_writable_bytes(std::span(launch.out)));
      const auto wrong = pattern::check_elements(
          launch.out, [op](std::size_t i) { return kernels::expected(op, pattern::element(1, i), i, 77); });
      EXPECT_FALSE(wrong) << kernel.name() << " of " << elements << ": " << wrong->describe();
    }
  }
}

TEST(ElementwiseReference, WorksInPlace) {
  Launch launch(5001);
  const Elementwise kernel = launch.kernel(ElementwiseOp::fma, 5, launch.in.data());
  Bytes result(kernel.output().size());
  kernel.compute(result);
  std::ranges::copy(result, kernel.output().begin());
  EXPECT_FALSE(pattern::check_elements(launch.in, [](std::size_t i) { return pattern::element(1, i) + 5; }));
}

TEST(ElementwiseReference, ReadsItsInputsAsTheyAre) {
  // A missing copy must change the result, so the reference must read its real input.
  Launch launch(100);
  launch.in[42] = 0.5F;
  launch.kernel(ElementwiseOp::fma, 1, launch.out.data()).compute(std::as_writable_bytes(std::span(launch.out)));
  EXPECT_EQ(launch.out[42], 1.5F);
  pattern::poison(std::as_writable_bytes(std::span(launch.in)));
  launch.kernel(ElementwiseOp::fma, 1, launch.out.data()).compute(std::as_writable_bytes(std::span(launch.out)));
  EXPECT_TRUE(std::isnan(launch.out[0]));
}

TEST(Elementwise, SaysWhatItWritesAndCosts) {
  Launch launch(1000);
  const Elementwise fma = launch.kernel(ElementwiseOp::fma, 10, launch.out.data());
  EXPECT_EQ(fma.output().data(), reinterpret_cast<std::byte*>(launch.out.data()));
  EXPECT_EQ(fma.output().size(), 4000U);
  EXPECT_EQ(fma.cost().bytes, 8000U) << "one vector read, one written";
  EXPECT_DOUBLE_EQ(fma.cost().fma, 10'000);
  EXPECT_EQ(launch.kernel(ElementwiseOp::vector_add, 10, launch.out.data()).cost().bytes, 12'000U);
  EXPECT_GT(launch.kernel(ElementwiseOp::sincos, 10, launch.out.data()).cost().fma, fma.cost().fma);
}

TEST(Elementwise, ItsCloneKeepsItsArguments) {
  Launch launch(10);
  const std::unique_ptr<Kernel> clone = launch.kernel(ElementwiseOp::fma, 3, launch.out.data()).clone();
  clone->compute(std::as_writable_bytes(std::span(launch.out)));
  EXPECT_EQ(launch.out[9], pattern::element(1, 9) + 3);
}

}  // namespace
}  // namespace xferbench
