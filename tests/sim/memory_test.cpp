// Memory of the simulated device, including payloads of which only a part is moved.
#include "device/sim/memory.hpp"

#include <random>

#include "scenarios/common/chunked_work.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

constexpr std::size_t kSize = 64 * KiB + 12;  // ends in the middle of a page
using Bytes = std::vector<std::byte>;

/// Reads a range of the memory through for_each().
Bytes content(const sim::DeviceMemory& memory, std::size_t offset, std::size_t bytes) {
  Bytes all;
  memory.for_each(offset, bytes, [&](std::size_t at, std::size_t count, std::optional<std::byte> value) {
    EXPECT_EQ(at, offset + all.size());
    for (std::size_t i = at; i < at + count; ++i) all.push_back(value ? *value : memory.data()[i]);
  });
  return all;
}

TEST(SimulatedMemory, HoldsWhatPlainMemoryWouldAfterAnyFillsAndWrites) {
  sim::DeviceMemory memory(kSize, 0);
  EXPECT_EQ(content(memory, 0, kSize), Bytes(kSize, std::byte{0xFF})) << "never written: what kernels need not look at";
  Bytes plain(kSize);
  memory.fill(0, kSize, std::byte{0});
  std::mt19937 random(5);
  const auto below = [&random](std::size_t limit) { return random() % limit; };
  for (int step = 0; step < 400; ++step) {
    const std::size_t offset = below(3) == 0 ? below(kSize) / 4096 * 4096 : below(kSize);
    const std::size_t bytes = below(4) == 0 ? kSize - offset : below(kSize - offset);
    const auto value = static_cast<std::byte>(below(256));
    const auto at = plain.begin() + static_cast<std::ptrdiff_t>(offset);
    const int kind = static_cast<int>(below(3));
    if (kind == 0) {
      memory.fill(offset, bytes, value);
      std::fill_n(at, bytes, value);
    } else if (kind == 1) {
      memory.prepare_to_write(offset, bytes);
      for (std::size_t i = 0; i < bytes; ++i) memory.data()[offset + i] = at[static_cast<std::ptrdiff_t>(i)] = value;
    } else {
      memory.write_out(offset, bytes);
      ASSERT_TRUE(std::equal(memory.data() + offset, memory.data() + offset + bytes, at)) << step;
    }
    ASSERT_EQ(content(memory, 0, kSize), plain) << "after step " << step;
    ASSERT_EQ(content(memory, offset, bytes), Bytes(at, at + static_cast<std::ptrdiff_t>(bytes))) << step;
  }
}

TEST(PayloadPart, IsAllOfSmallPayloadsAndSomeOfEachChunkOfLargeOnes) {
  for (const std::size_t bytes : {std::size_t{1}, 64 * KiB, 4 * MiB}) EXPECT_TRUE(sim::part_of_payload(bytes).is_all());
  for (const std::size_t bytes : {4 * MiB + 1, 37 * MiB + 12, 256 * MiB, 2 * GiB}) {
    const PayloadPart part = sim::part_of_payload(bytes);
    std::size_t moved = 0;
    part.for_each(0, bytes, [&](std::size_t begin, std::size_t end) { moved += end - begin; });
    EXPECT_LE(moved, MiB + 256) << bytes;
    const std::size_t chunk = bytes / 2048;
    for (std::size_t begin = 0; begin + chunk <= bytes; begin += chunk) {
      std::size_t of_chunk = 0;
      part.for_each(begin, begin + chunk, [&](std::size_t from, std::size_t to) { of_chunk += to - from; });
      ASSERT_GT(of_chunk, 0) << bytes << " at " << begin;
    }
  }
}

/// Payloads above 4 MiB, of which the simulated device moves only a part, in many chunks.
class LargePayload : public testing::TestWithParam<ChunkedWork::Shape> {
 protected:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// Sends all chunks through the stages, leaving out one stage of some chunk (kNone: nothing). Returns whether the
  /// check passes.
  bool right_without(std::size_t copy_in, std::size_t kernel, std::size_t copy_out) {
    work_.poison_all();
    for (std::size_t i = 0; i < work_.chunks().size(); ++i) {
      if (i != copy_in) work_.copy_in(i, stream_);
      if (i != kernel) work_.launch(i, stream_);
      if (i != copy_out) work_.copy_out(i, stream_);
    }
    device_.synchronize();
    try {
      work_.check("chunks");
    } catch (const VerificationError&) {
      return false;
    }
    return true;
  }

  void SetUp() override { work_.prepare(); }

  sim::SimMachine machine_{profile("h200")};
  Device& device_ = machine_.device();
  ChunkedWork work_{device_, GetParam()};
  Stream stream_ = device_.make_stream(StreamKind::nonblocking);
};

TEST_P(LargePayload, IsRightOnlyIfEveryChunkHasBeenThroughAllStages) {
  EXPECT_FALSE(work_.payload()->part().is_all());
  EXPECT_TRUE(right_without(kNone, kNone, kNone));
  for (const std::size_t left_out : {std::size_t{0}, work_.chunks().size() / 2, work_.chunks().size() - 1}) {
    EXPECT_FALSE(right_without(left_out, kNone, kNone)) << left_out;
    EXPECT_FALSE(right_without(kNone, left_out, kNone)) << left_out;
    EXPECT_FALSE(right_without(kNone, kNone, left_out)) << left_out;
  }
  EXPECT_TRUE(right_without(kNone, kNone, kNone));
}

TEST_P(LargePayload, ShowsThatAKernelDidNotWaitForItsCopy) {
  const Stream other = device_.make_stream(StreamKind::nonblocking);
  work_.poison_all();
  for (std::size_t i = 0; i < work_.chunks().size(); ++i) {
    work_.copy_in(i, stream_);
    work_.launch(i, other);
    work_.copy_out(i, other);
  }
  device_.synchronize();
  EXPECT_THROW(work_.check("chunks"), VerificationError);
}

TEST_P(LargePayload, IsRightAfterStagesOfTheWhole) {
  work_.poison_all();
  work_.copy_all_in(stream_);
  work_.launch_all(stream_);
  work_.copy_all_out(stream_);
  device_.synchronize();
  work_.check_stages("stages");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, LargePayload,
    testing::Values(ChunkedWork::Shape{.bytes = 64 * MiB, .chunks = 100, .seed = 1},
                    ChunkedWork::Shape{.bytes = 37 * MiB + 12, .chunks = 33, .growth = 1.1, .slots = 3, .seed = 2},
                    ChunkedWork::Shape{
                        .bytes = 20 * MiB, .chunks = 7, .rounds = 3, .slots = 2, .in_place = true, .seed = 3},
                    ChunkedWork::Shape{.bytes = 600 * MiB, .chunks = 9, .slots = 5, .seed = 4},
                    ChunkedWork::Shape{.bytes = 64 * MiB,
                                       .chunks = 11,
                                       .op = kernels::ElementwiseOp::vector_add,
                                       .kernels_per_chunk = 3,
                                       .seed = 5}));

}  // namespace

}  // namespace xferbench::test
