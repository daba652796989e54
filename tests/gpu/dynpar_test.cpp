// Scenario dynpar (kernels that launch kernels) on a real GPU: every child runs, failed launches are reported, and
// sorts are correct.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/error.hpp"
#include "gpu/gpu_fixture.hpp"
#include "kernels/dynpar/device_sort.hpp"
#include "kernels/dynpar/dynpar.hpp"
#include "measure/pattern.hpp"
#include "scenarios/dynpar/children.hpp"
#include "scenarios/dynpar/sort.hpp"

namespace xferbench::test {

namespace {

class Dynpar : public GpuTest {
 protected:
  static void expect_launches_failed(const Result& r) {
    EXPECT_EQ(r.status, Status::failed) << r.config.key();
    for (const char* part : {"launching 4096 children from the device: only ", " of 4096 ran; ",
                             "more launches were pending than ", "raise --pending, or choose fewer --children"}) {
      EXPECT_NE(r.reason.find(part), std::string::npos) << r.config.key() << ": " << r.reason;
    }
  }
};

// --- Children --------------------------------------------------------------------------------------------------------

TEST_F(Dynpar, EachWayRunsEveryChild) { run_ok("dynpar --task children --children 1,7,2048"); }

TEST_F(Dynpar, ChildrenThatWork) { run_ok("dynpar --task children --children 100 --work 1,1000,65537"); }

TEST_F(Dynpar, EachWayRunsEveryChildOfATree) {
  run_ok("dynpar --task children --shape tree --depth 1,2,5 --children 7,500");
}

TEST_F(Dynpar, ATreeAsDeepAsItMayBe) { run_ok("dynpar --task children --shape tree --depth 16 --children 16,2000"); }

TEST_F(Dynpar, SeveralStreamsBranchesAndLaunchers) {
  run_ok("dynpar --task children --launch host,graph --shape flat,tree --streams 3,32 --children 7,300");
  run_ok("dynpar --task children --launch fire-and-forget --shape flat,tree --launchers 2,32,1024 --children 7,2048");
}

TEST_F(Dynpar, TheKernelsDoWhatTheirReferenceSays) {
  using kernels::LaunchMode;
  constexpr std::uint32_t kChildren = 77;
  const Stream stream = device().make_stream(StreamKind::nonblocking);
  const DeviceBuffer slots = device().allocate_device(kChildren * sizeof(std::uint32_t));
  const HostBuffer host = device().allocate_host(slots.bytes, HostMemory::pageable);
  LaunchLog log(device());
  const kernels::ChildrenArgs args{.tree = kernels::LaunchTree(kChildren, 3),
                                   .slots = reinterpret_cast<std::uint32_t*>(slots.data),
                                   .status = log.get(),
                                   .work = 1234,
                                   .seed = 99};
  for (const LaunchMode way : {LaunchMode::fire_and_forget, LaunchMode::tail, LaunchMode::tail_chain}) {
    const kernels::Children children(way, args);
    device().preload(children);
    stream.fill(slots, std::byte{0xFF});
    stream.launch(children);
    stream.synchronize();
    device().copy_and_wait({host.data, slots.data, slots.bytes, Direction::d2h});
    std::vector<std::byte> expected(slots.bytes);
    children.compute(expected);
    EXPECT_EQ(std::memcmp(host.data, expected.data(), slots.bytes), 0) << static_cast<int>(way);
    EXPECT_EQ(log.read().failed, 0U) << static_cast<int>(way);
  }
}

/// Records the order in which child kernels began.
class Journal {
 public:
  explicit Journal(Device& device) : device_(device) {}

  std::vector<std::uint32_t> of(kernels::LaunchMode way, const kernels::LaunchTree& tree) {
    const Stream stream = device_.make_stream(StreamKind::nonblocking);
    const DeviceBuffer slots = device_.allocate_device(tree.children() * sizeof(std::uint32_t));
    const DeviceBuffer journal = device_.allocate_device((1 + tree.children()) * sizeof(std::uint32_t));
    LaunchLog log(device_);
    const kernels::Children children(way, {.tree = tree,
                                           .slots = reinterpret_cast<std::uint32_t*>(slots.data),
                                           .status = log.get(),
                                           .journal = reinterpret_cast<std::uint32_t*>(journal.data)});
    device_.preload(children);
    stream.fill(journal, std::byte{0});
    stream.launch(children);
    stream.synchronize();
    const HostBuffer host = device_.allocate_host(journal.bytes, HostMemory::pageable);
    device_.copy_and_wait({host.data, journal.data, host.bytes, Direction::d2h});
    const auto* words = reinterpret_cast<const std::uint32_t*>(host.data);
    EXPECT_EQ(words[0], tree.children());
    return {words + 1, words + 1 + std::min(words[0], tree.children())};
  }

 private:
  Device& device_;
};

/// Appends a child and then all of its descendants, depth first.
void append_family(const kernels::LaunchTree& tree, std::uint32_t level, std::uint32_t index,
                   std::vector<std::uint32_t>& order) {
  order.push_back(index);
  if (level + 1 == tree.levels()) return;
  const std::uint32_t end = tree.first_child(level, index + 1);
  for (std::uint32_t c = tree.first_child(level, index); c < end; ++c) append_family(tree, level + 1, c, order);
}

TEST_F(Dynpar, ChildrenInATailRunOnceAndInOrder) {
  const kernels::LaunchTree chain(100, 1);
  std::vector<std::uint32_t> one_by_one(100);
  std::iota(one_by_one.begin(), one_by_one.end(), 0U);
  EXPECT_EQ(Journal(device()).of(kernels::LaunchMode::tail_chain, chain), one_by_one);
  EXPECT_EQ(Journal(device()).of(kernels::LaunchMode::tail, chain), one_by_one);
  const kernels::LaunchTree tree(100, 3);
  std::vector<std::uint32_t> families;
  for (std::uint32_t c = 0; c < tree.width(0); ++c) append_family(tree, 0, c, families);
  EXPECT_EQ(Journal(device()).of(kernels::LaunchMode::tail, tree), families);
}

TEST_F(Dynpar, ChildrenThatAreFiredRunOnce) {
  std::vector<std::uint32_t> ran = Journal(device()).of(kernels::LaunchMode::fire_and_forget, {100, 3});
  std::ranges::sort(ran);
  std::vector<std::uint32_t> each(100);
  std::iota(each.begin(), each.end(), 0U);
  EXPECT_EQ(ran, each);
}

// --- More launches than the limit of pending launches ----------------------------------------------------------------

TEST_F(Dynpar, MoreLaunchesThanThereIsRoomForFailWithTheReason) {
  // At most 128 grids run at a time; with this much work children are launched faster than they end.
  const auto results =
      run("dynpar --task children --launch fire-and-forget --launchers 1 --children 4096 --work 2000000");
  expect_launches_failed(results.front());
  run_ok("dynpar --task children --launch fire-and-forget --children 7");
}

TEST_F(Dynpar, ATailThatIsTooLongFailsWithTheReason) {
  // Tail launches begin when the kernel has ended, so all of them are pending until then.
  expect_launches_failed(run("dynpar --task children --launch tail --shape tree --depth 1 --children 4096").front());
}

TEST_F(Dynpar, MoreRoomHoldsMoreLaunches) {
  const auto results =
      run("dynpar --task children --launch tail --shape tree --depth 1 --children 4096 --pending 8192");
  EXPECT_EQ(results.front().status, Status::ok) << results.front().reason;
  ASSERT_NE(results.front().metric("pending_limit"), nullptr);
  EXPECT_GE(results.front().metric("pending_limit")->value, 8192);
}

TEST_F(Dynpar, MoreRoomThanTheDeviceHasIsRefused) {
  const std::size_t before = device().reserved_device_launches();
  const std::uint64_t free_before = device().memory().free_bytes;
  constexpr std::size_t kTooMany = std::size_t{1} << 30;
  EXPECT_THROW(LaunchRoom(device(), kTooMany), DeviceError);
  EXPECT_EQ(device().reserved_device_launches(), before);
  EXPECT_GT(device().memory().free_bytes + LaunchRoom::bytes(2048), free_before);
}

TEST_F(Dynpar, RoomTakesNoMoreMemoryThanIsSaid) {
  for (const std::size_t pending : {4096UL, 32'768UL, 262'144UL}) {
    const std::uint64_t free_before = device().memory().free_bytes;
    const LaunchRoom room(device(), pending);
    EXPECT_GE(device().memory().free_bytes + LaunchRoom::bytes(pending), free_before) << pending;
  }
}

// --- The sort --------------------------------------------------------------------------------------------------------

TEST_F(Dynpar, SortsWhateverTheKeysAreLike) {
  // Bytes of 1, 2 and 1000 keys, of as many as one block sorts, of one more, and of 2^20.
  run_ok("dynpar --task sort --keys all --size 4,8,4000,16384,16388,4M");
}

TEST_F(Dynpar, SortsManyKeysAndAnOddNumberOfThem) { run_ok("dynpar --task sort --keys random,sorted --size 38797324"); }

TEST_F(Dynpar, OneBlockSortsASegmentThatStayedLarge) {
  // Such a segment arises if medians of nine samples never split it well; here it is made directly.
  constexpr std::uint32_t kCount = 50'003;
  const Stream stream = device().make_stream(StreamKind::nonblocking);
  const DeviceBuffer keys = device().allocate_device(kCount * sizeof(std::uint32_t));
  const HostBuffer host = device().allocate_host(keys.bytes, HostMemory::pageable);
  const HostBuffer lists = device().allocate_host(4096, HostMemory::pinned);  // readable by kernels
  const auto segment = kernels::sort_segment(0, kCount, kernels::kMostPartitions);
  ASSERT_EQ(segment.step, kernels::SortSegment::Step::sort);
  auto* segments = new (lists.data) kernels::SortSegment(segment);
  auto* work = new (lists.data + sizeof(segment)) kernels::SortWork{};
  const kernels::SortArgs args{.keys = reinterpret_cast<std::uint32_t*>(keys.data)};
  const kernels::SortGrid grid(
      args, {.step = segment.step, .depth = segment.depth, .segments = segments, .work = work, .blocks = 1}, kCount);
  pattern::fill_bytes({host.data, host.bytes}, 11);
  std::vector<std::uint32_t> expected(kCount);
  std::memcpy(expected.data(), host.data, host.bytes);
  std::ranges::sort(expected);
  device().copy_and_wait({keys.data, host.data, host.bytes, Direction::h2d});
  device().preload(grid);
  stream.launch(grid);
  stream.synchronize();
  device().copy_and_wait({host.data, keys.data, host.bytes, Direction::d2h});
  EXPECT_EQ(std::memcmp(host.data, expected.data(), host.bytes), 0);
}

TEST_F(Dynpar, ASortThatDoesNothingIsFoundOutWhateverTheKeysAreLike) {
  for (const SortKeys kind : {SortKeys::random, SortKeys::sorted, SortKeys::reversed, SortKeys::equal}) {
    for (const std::uint32_t count : {1U, 1000U, 100'003U}) {
      Sorter sorter(device(), count, kind, 5);
      Region idle = sorter.by_host("idle");
      EXPECT_NO_THROW(sorter.verify(idle)) << count;  // leaves a correct result behind
      idle.submit = [] {};
      EXPECT_THROW(sorter.verify(idle), VerificationError) << kSortKeysNames[static_cast<std::size_t>(kind)] << count;
    }
  }
}

TEST_F(Dynpar, OnlyTheHostDrivenSortMakesRoundTrips) {
  const Result sort = run("dynpar --task sort --size 4M").front();
  ASSERT_EQ(sort.status, Status::ok) << sort.reason;
  EXPECT_GE(sort.metric("round_trips")->value, 8) << "2^20 keys into parts of at most 2^12";
  EXPECT_LE(sort.metric("host_launches")->value, 3 * (sort.metric("round_trips")->value + 1)) << "grids for each level";
  EXPECT_GT(sort.metric("speedup_over_host")->value, 0);
}

}  // namespace

}  // namespace xferbench::test
