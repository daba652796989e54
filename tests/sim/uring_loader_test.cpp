// The way `uring` of scenario storage with files and io_uring of this system, into the memory of a simulated GPU.
#include <cerrno>

#include "device/real_files.hpp"
#include "scenarios/storage/loader.hpp"
#include "sim/sim_fixture.hpp"
#include "support/files.hpp"

namespace xferbench::test {

namespace {

class UringLoader : public OnSim {
 protected:
  StorageCase case_of(std::size_t size, CacheState cache) const {
    return {.path = folder_.path(),
            .size = size,
            .cache = cache,
            .way = StorageWay::uring,
            .request = 64 * KiB,
            .depth = 3};
  }

  TemporaryFolder folder_;
};

TEST_F(UringLoader, LoadsEveryByteAgainAndAgain) {
  const auto files = make_real_files();
  for (const std::size_t size : {1U, 4095U, 1'000'001U, 5U << 20U}) {
    for (const CacheState cache : {CacheState::cold, CacheState::warm}) {
      const StorageCase c = case_of(size, cache);
      StoredFile stored(*files, c, 7, true);
      const DeviceBuffer gpu = device_.allocate_device(size);
      const PartTable parts(0, {size}, false);
      const auto fetch = [&](std::span<std::byte> to, std::uint64_t offset) {
        parts.fetch(device_, gpu.data, to, offset);
      };
      std::unique_ptr<FileWay> loader;
      try {
        loader = make_file_loader({device_, stored, c, parts, gpu.data});
      } catch (const UnavailableError& error) {
        GTEST_SKIP() << error.what();
      }
      for (int pass = 0; pass < 3; ++pass) {
        stored.prepare(cache);
        device_.fill_and_wait(gpu, pattern::kPoison);
        loader->transfer();
        EXPECT_NO_THROW(stored.check(0, size, fetch, "the loaded file")) << size;
        EXPECT_GT(loader->times().first, 0);
        loader->file_alone();
        EXPECT_EQ(loader->times().waiting, 0) << "nothing is copied";
      }
    }
  }
}

TEST_F(UringLoader, IsUnavailableWhereIoUringIsForbidden) {
  struct Forbidding final : SystemCalls {
    int fault(const char* call, std::size_t& /*bytes*/) override {
      return std::string_view(call) == "io_uring_setup" ? EPERM : 0;
    }
  } calls;
  const auto files = make_real_files(calls);
  const StorageCase c = case_of(4096, CacheState::warm);
  StoredFile stored(*files, c, 7, true);
  try {
    static_cast<void>(make_file_loader({device_, stored, c, PartTable(0, {c.size}, false), nullptr}));
    FAIL() << "expected an error";
  } catch (const UnavailableError& error) {
    EXPECT_NE(std::string_view(error.what()).find("kernel.io_uring_disabled"), std::string_view::npos) << error.what();
  }
}

}  // namespace

}  // namespace xferbench::test
