// Page allocation with small and huge pages, and access to host memory around the CPU cache.
#include "device/pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/cpu_cache.hpp"
#include "device/host.hpp"

namespace xferbench::test {

namespace {

TEST(Pages, AreZeroAndWritableToTheLastByte) {
  for (const PageSize size : {PageSize::usual, PageSize::small, PageSize::huge}) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4095}, 3 * MiB + 1}) {
      const Pages pages(bytes, size);
      ASSERT_EQ(pages.size(), bytes);
      EXPECT_EQ(pages.data()[bytes - 1], std::byte{0});
      std::memset(pages.data(), 7, bytes);
      EXPECT_EQ(pages.data()[bytes - 1], std::byte{7});
    }
  }
}

TEST(Pages, HugeOnesBeginOnAHugePageAndSmallOnesAreNotHuge) {
  constexpr std::size_t kBytes = 8 * MiB;
  const Pages huge(kBytes, PageSize::huge);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(huge.data()) % (2 * MiB), 0U);
  const Pages small(kBytes, PageSize::small);
  std::memset(small.data(), 1, kBytes);
  EXPECT_EQ(huge_page_fraction(small.data(), kBytes), 0);
  std::memset(huge.data(), 1, kBytes);
  EXPECT_GE(huge_page_fraction(huge.data(), kBytes), 0);  // any share: the system may refuse huge pages
  EXPECT_LE(huge_page_fraction(huge.data(), kBytes), 1);
}

TEST(Pages, ReservedOnesAreThereOrTheErrorSaysHowToReserveThem) {
  const ReservedPages reserved = reserved_pages();
  EXPECT_GE(reserved.page, 4096U);
  EXPECT_LE(reserved.free, reserved.total);
  const std::size_t most = (reserved.free + 2) * reserved.page;
  try {
    static_cast<void>(Pages(most, PageSize::reserved));
    ADD_FAILURE() << "more than there are";
  } catch (const UnavailableError& error) {
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with("needs " + std::to_string(reserved.free + 2) + " reserved huge pages of ")) << what;
    EXPECT_NE(what.find("sysctl vm.nr_hugepages=" + std::to_string(reserved.total + 2)), std::string::npos) << what;
  }
  if (reserved.free == 0) return;
  const Pages pages(reserved.page - 1, PageSize::reserved);
  std::memset(pages.data(), 7, pages.size());
  EXPECT_EQ(pages.data()[reserved.page - 2], std::byte{7});
}

TEST(Pages, MoveWithTheirMemory) {
  Pages a(4096, PageSize::small);
  std::byte* data = a.data();
  data[0] = std::byte{5};
  Pages b = std::move(a);
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move): the test is about this
  Pages c;
  c = std::move(b);
  EXPECT_EQ(c.data()[0], std::byte{5});
}

TEST(Pages, TouchingReachesEveryPage) {
  constexpr std::size_t kBytes = 1 * MiB + 17;
  const Pages pages(kBytes, PageSize::small);
  std::memset(pages.data(), 9, kBytes);
  touch_pages(pages.data(), kBytes);
  std::size_t touched = 0;
  for (std::size_t i = 0; i < kBytes; ++i) touched += pages.data()[i] == std::byte{0} ? 1 : 0;
  EXPECT_EQ(touched, (kBytes + page_bytes() - 1) / page_bytes());
}

TEST(CpuCache, FlushingAndLoadingLeaveTheBytesAlone) {
  const Pages pages(100'001, PageSize::small);
  std::memset(pages.data(), 9, pages.size());
  const std::span<const std::byte> bytes(pages.data(), pages.size());
  flush_from_cache(bytes);
  load_into_cache(bytes);
  flush_from_cache({});
  for (const std::byte b : bytes) ASSERT_EQ(b, std::byte{9});
}

TEST(CpuCache, CopiesPastItAreWholeAtAnyAddress) {
  constexpr std::size_t kBytes = 1000;
  std::vector<std::byte> from(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) from[i] = static_cast<std::byte>(i % 251);
  for (const std::size_t to : {0U, 1U, 15U, 63U, 64U}) {
    for (const std::size_t bytes : {0U, 1U, 63U, 64U, 65U, 900U}) {
      std::vector<std::byte> there(kBytes, std::byte{0xFF});
      copy_past_cache(there.data() + to, from.data() + 7, bytes);
      EXPECT_TRUE(std::equal(there.data() + to, there.data() + to + bytes, from.data() + 7)) << to << " " << bytes;
      const auto outside = kBytes - static_cast<std::size_t>(std::ranges::count(there, std::byte{0xFF}));
      EXPECT_LE(outside, bytes) << "nothing else is written";
    }
  }
}

}  // namespace

}  // namespace xferbench::test
