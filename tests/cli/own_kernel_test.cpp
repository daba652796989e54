// Kernels of users (--kernel-file): the table of a simulated run, compile errors with lines of the user's file, and
// commands that reproduce a case.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <thread>

#include "cli/support.hpp"
#include "support/nvrtc_here.hpp"

namespace xferbench::test {
namespace {

std::string example(const std::string& name) {
  return std::string(XFERBENCH_SOURCE_DIR) + "/examples/kernels/" + name + ".cu";
}

/// Simulates the stencil examples/kernels/sobel.cu on 4 MiB.
Arguments sobel_run(Arguments more = {}) {
  more.insert(more.begin(), {"overlap", "--simulate", "--size", "4M", "--row-bytes", "16K", "--halo-rows", "1",
                             "--kernel-file", example("sobel"), "--kernel-name", "sobel"});
  return more;
}

/// Removes the path of the source tree, which differs between machines.
std::string anywhere(std::string text) {
  const std::string folder = std::string(XFERBENCH_SOURCE_DIR) + "/";
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
    text.erase(at, folder.size());
  }
  return text;
}

TEST(OwnKernel, IsSaidToBeAStandInWhereNoGpuRunsIt) {
  const Outcome o = xferbench(sobel_run({"--strategy", "streams,engines,serial", "--kernel-time", "1e-4"}));
  EXPECT_EQ(o.exit_code, 0) << o.err;
  expect_golden("own-kernel.txt", anywhere(o.out));
  EXPECT_TRUE(contains(o.err,
                       "sobel did not run, because the device is simulated: a stand-in that reads the same rows was "
                       "computed, and its time is "
                       "taken from --kernel-time"))
      << o.err;
}

TEST(OwnKernel, WritesValidResultsThatGoOnAndAreComparedWithThemselves) {
  const TemporaryFolder folder;
  EXPECT_EQ(xferbench(sobel_run({"--quiet", "--json", folder / "own.json"})).exit_code, 0);
  expect_valid_results(folder / "own.json");
  const Json result = read_json(folder / "own.json")["results"][0];
  EXPECT_EQ(result["params"]["kernel-file"], example("sobel"));
  EXPECT_EQ(result["params"]["halo-rows"], 1);
  EXPECT_EQ(result["labels"]["compared_with"], "the stand-in over the whole payload at once");
  EXPECT_EQ(result["labels"]["computed_by"], "a stand-in");
  EXPECT_EQ(xferbench({"--quiet", "--resume", folder / "own.json"}).exit_code, 0);
  EXPECT_EQ(xferbench({"compare", folder / "own.json", folder / "own.json"}).exit_code, 0);
}

TEST(OwnKernel, IsRunAgainByTheCommandThatTunePrints) {
  const TemporaryFolder folder;
  const std::string file = folder / "my kernel.cu";
  std::filesystem::copy_file(example("sobel"), file);
  Arguments tune = sobel_run({"--quiet", "--kernel-option", "-DA=1 -DB=2", "--strategy", "streams", "--streams", "2",
                              "--json", folder / "tune.json"});
  tune.insert(tune.begin(), "tune");
  std::ranges::replace(tune, example("sobel"), file);
  const Outcome o = xferbench(tune);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  std::string command;
  const Json json = read_json(folder / "tune.json");
  for (const Json& f : json["findings"]) {
    if (f["labels"].contains("command")) command = f["labels"]["command"];
  }
  EXPECT_TRUE(contains(command, "--kernel-file '" + file + "' --kernel-name sobel")) << command;
  EXPECT_TRUE(contains(command, "--kernel-option '-DA=1 -DB=2'")) << command;
}

TEST(OwnKernel, ThatDoesNotCompileFailsWithTheLinesOfTheFile) {
  if (!has_nvrtc()) GTEST_SKIP() << "libnvrtc is not installed";
  const TemporaryFolder folder;
  const std::string file = folder / "mine.cu";
  std::ofstream(file) << "extern \"C\" __global__ void mine(const float* in, float* out, size_t n) {\n"
                         "  const size_t i = threadIdx.x;\n"
                         "  if (i >= n) retur;\n"
                         "  out[i] = in[j];\n"
                         "}\n";
  const Outcome o = xferbench({"overlap", "--simulate", "--size", "4M", "--kernel-file", file, "--kernel-name", "mine",
                               "--kernel-arch", "sm_90", "--quiet"});
  EXPECT_EQ(o.exit_code, 1);
  const std::string says =
      "mine.cu does not compile for sm_90: line 3: identifier \"retur\" is undefined: `if (i >= "
      "n) retur;`; line 4: identifier \"j\" is undefined: `out[i] = in[j];`";
  EXPECT_TRUE(contains(o.out, says)) << o.out;
}

TEST(OwnKernel, ThatCompilesForLongIsInterruptedAsEverythingElse) {
  if (!has_nvrtc()) GTEST_SKIP() << "libnvrtc is not installed";
  const TemporaryFolder folder;
  const std::string file = folder / "long.cu";
  std::ofstream source(file);
  source << "extern \"C\" __global__ void mine(const float* in, float* out, size_t n) {\n";
  for (int i = 0; i < 20000; ++i) source << "  out[" << i << "] = " << i << " * sinf(in[" << i % 1000 << "]);\n";
  source << "}\n";
  source.close();
  Process process(XFERBENCH_PROGRAM, {"overlap", "--simulate", "--size", "4M", "--kernel-file", file, "--kernel-name",
                                      "mine", "--kernel-arch", "sm_90", "--quiet"});
  const std::string maps = "/proc/" + std::to_string(process.pid()) + "/maps";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!contains(read_file(maps), "libnvrtc")) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  process.send(SIGINT);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 130) << o.err;
  EXPECT_TRUE(contains(o.err, "interrupted during")) << o.err;
}

TEST(OwnKernel, InCompiledCodeIsLookedAtWithoutAGpu) {
  const TemporaryFolder folder;
  write_file(folder / "mine.ptx", ".visible .entry a(.param .u64 in, .param .u64 out, .param .u32 n) { ret; }");
  const Outcome o = xferbench(
      {"overlap", "--simulate", "--size", "4M", "--kernel-file", folder / "mine.ptx", "--kernel-name", "a", "--quiet"});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_TRUE(contains(o.out, "mine.ptx: parameter 3 of a has 4 bytes, not 8: it must be declared")) << o.out;
}

TEST(OwnKernel, WithoutWhatItNeedsIsRefused) {
  expect_refusal(xferbench({"--simulate", "--kernel-file", example("sobel")}), 2,
                 "--kernel-file needs --kernel-name, the name of the kernel in ");
  expect_refusal(xferbench({"--simulate", "--kernel-file", "no.cu", "--kernel-name", "a"}), 2,
                 "--kernel-file no.cu cannot be read: No such file or directory");
  expect_refusal(xferbench(sobel_run({"--work", "8"})), 2, "--work does nothing here: it belongs to --kernel ");
  expect_refusal(xferbench(sobel_run({"--kernel", "fma"})), 2, "--kernel-file and --kernel contradict each other");
  expect_refusal(xferbench(sobel_run({"--strategy", "engines", "--in-place"})), 2,
                 "--in-place and --halo-rows contradict each other");
  expect_refusal(xferbench({"multipath", "--kernel-file", "a.cu"}), 2,
                 "multipath has no --kernel-file, which belongs to overlap, callback");
}

TEST(OwnKernel, TakesOptionsForTheCompilerThatLookLikeFlags) {
  const TemporaryFolder folder;
  const auto options_of = [&](const Arguments& flags) {
    Arguments all = sobel_run({"--quiet", "--json", folder / "own.json"});
    all.insert(all.end(), flags.begin(), flags.end());
    const Outcome o = xferbench(all);
    EXPECT_EQ(o.exit_code, 0) << o.err;
    return read_json(folder / "own.json")["results"][0]["params"]["kernel-option"];
  };
  EXPECT_EQ(options_of({"--kernel-option=--use_fast_math"}), "--use_fast_math");
  EXPECT_EQ(options_of({"--kernel-option", "--use_fast_math"}), "--use_fast_math");
  EXPECT_EQ(options_of({"--kernel-option", "--std=c++17 --restrict"}), "--std=c++17 --restrict");
  expect_refusal(xferbench(sobel_run({"--kernel-option", "--quiet"})), 2, "--kernel-option: needs a value");
  expect_refusal(xferbench(sobel_run({"--kernel-option", "--json=own.json"})), 2, "--kernel-option: needs a value");
  expect_refusal(xferbench(sobel_run({"--kernel-option="})), 2, "--kernel-option needs a value");
}

TEST(OwnKernel, IsInAFileThatCanBeReadToItsEnd) {
  const TemporaryFolder folder;
  const auto refuse = [](const std::string& file, const std::string& why) {
    expect_refusal(xferbench({"--simulate", "--kernel-file", file, "--kernel-name", "a"}), 2,
                   "--kernel-file " + file + " cannot be read: " + why);
  };
  refuse("/dev/zero", "it is a device or a pipe; give a regular file");
  ASSERT_EQ(mkfifo((folder / "pipe.cu").c_str(), 0600), 0);
  refuse(folder / "pipe.cu", "it is a device or a pipe; give a regular file");
  std::ofstream(folder / "large.cu") << "";
  std::filesystem::resize_file(folder / "large.cu", std::uintmax_t{257} << 20U);
  refuse(folder / "large.cu", "it has 257 MiB, more than the limit of 256 MiB");
  refuse(std::string(300, 'a'), "File name too long");
  std::filesystem::create_symlink("loop.cu", folder / "loop.cu");
  refuse(folder / "loop.cu", "Too many levels of symbolic links");
}

TEST(OwnKernel, IsCompletedAsAFile) {
  EXPECT_EQ(xferbench({"__complete", "overlap", "--kernel-file", ""}).out, ":files\n");
}

}  // namespace
}  // namespace xferbench::test
