// Kernels of users on a real GPU: the examples in examples/kernels with odd sizes and every strategy, and kernels that
// are refused.
#include <algorithm>
#include <cstddef>
#include <string>

#include "device/nvrtc.hpp"
#include "gpu/gpu_fixture.hpp"
#include "support/files.hpp"
#include "support/nvrtc_here.hpp"

namespace xferbench::test {

namespace {

const std::string kStrategies = " --strategy serial,streams,engines,double-buffer,batch,graph,graph-streams,zero-copy ";

std::string file_of(const std::string& name) {
  return std::string(XFERBENCH_SOURCE_DIR) + "/examples/kernels/" + name + ".cu";
}

/// The flags that select an example kernel.
std::string kernel(const std::string& name) {
  return " --kernel-file " + file_of(name) + " --kernel-name " + name + " ";
}

class GpuOwnKernel : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && !has_nvrtc()) GTEST_SKIP() << "libnvrtc is not installed";
  }

  /// Writes a file. Returns its path.
  [[nodiscard]] std::string written(const std::string& name, const std::string& content) const {
    write_file(folder_ / name, content);
    return folder_ / name;
  }
  /// The architecture of this GPU after `kind`, such as "sm_90" or "compute_90".
  [[nodiscard]] std::string arch(const std::string& kind) {
    std::string capability = device().capabilities().environment.gpu.compute_capability;
    std::erase(capability, '.');
    return kind + capability;
  }
  /// Runs the kernel in a small case.
  [[nodiscard]] Result run_file(const std::string& file, const std::string& name, const std::string& flags = "") {
    return run("overlap --size 1000004 --chunks 7 --kernel-file " + file + " --kernel-name " + name + flags).front();
  }

 private:
  // The path has no blanks, at which run() splits command lines.
  const TemporaryFolder folder_;
};

TEST_F(GpuOwnKernel, VectorAddAtOddSizes) {
  run_ok("overlap --size 4,1020,38797324 --chunks 1" + kernel("vector_add") + "--strategy engines,streams,zero-copy");
  for (const Result& r : run_ok("overlap --size 38797324 --chunks 7" + kernel("vector_add") + kStrategies)) {
    EXPECT_EQ(r.label("computed_by"), "vector_add");
    EXPECT_EQ(r.label("compared_with"), "the same kernel over the whole payload at once");
    EXPECT_GE(r.value("block_size"), 128);
  }
}

TEST_F(GpuOwnKernel, VectorAddInPlaceInRoundsAndByTheCpu) {
  run_ok("overlap --size 38797324 --chunks 7 --in-place --strategy engines,streams" + kernel("vector_add"));
  run_ok("overlap --size 9797324 --chunks 7 --rounds 3 --slots 2 --strategy engines" + kernel("vector_add"));
  run_ok("callback --size 38797324 --chunks 7" + kernel("vector_add"));
}

TEST_F(GpuOwnKernel, SaxpyAsItWishesToBeLaunched) {
  const std::string line = "overlap --size 38797328 --row-bytes 16 --chunks 7" + kernel("saxpy");
  for (const Result& r : run_ok(line + kStrategies)) EXPECT_EQ(r.value("block_size"), 256);
  for (const Result& r : run_ok(line + "--block-size 96 --kernel-option -DA=-0.5F")) {
    EXPECT_EQ(r.value("block_size"), 96);
  }
}

// compute-sanitizer would report an access beyond the last element.
TEST_F(GpuOwnKernel, SaxpyOfHalfAPairSmallForSanitizers) {
  run_ok("overlap --size 4,12,20,1036 --chunks 1 --strategy engines,zero-copy" + kernel("saxpy"));
}

TEST_F(GpuOwnKernel, SobelInRowsOfOddLength) {
  const std::string line = "overlap --size 4099000 --row-bytes 1000 --halo-rows 1" + kernel("sobel");
  run_ok(line + "--chunks 1,7,64" + kStrategies);
  run_ok(line + "--chunks 9 --slots 2 --rounds 2 --strategy engines --kernels-per-chunk 2");
  run_ok("callback --size 4099000 --row-bytes 1000 --halo-rows 1 --chunks 7" + kernel("sobel"));
}

TEST_F(GpuOwnKernel, HistogramIsRefusedInChunksAndRunsInOnePiece) {
  const std::string line = "overlap --size 70004 --kernel-type int" + kernel("histogram");
  run_ok(line + "--strategy serial,zero-copy");
  for (const Result& r : run(line + "--chunks 3 --strategy streams,engines,graph")) {
    EXPECT_EQ(r.status, Status::failed);
    EXPECT_TRUE(r.reason.starts_with("histogram gives other results chunk by chunk")) << r.reason;
  }
}

TEST_F(GpuOwnKernel, MayHaveBeenCompiledBefore) {
  KernelSource source{.file = file_of("vector_add"), .content = read_file(file_of("vector_add")), .name = "vector_add"};
  for (const auto& [kind, name] : {std::pair("compute_", "mine.ptx"), std::pair("sm_", "mine.cubin")}) {
    source.arch = arch(kind);
    const Result r = run_file(written(name, compile(source)), "vector_add");
    EXPECT_EQ(r.status, Status::ok) << name << ": " << r.reason;
  }
}

/// Compiles a valid kernel together with others: only the named kernel is checked, so the others get into the file.
std::string beside_a_right_one(const std::string& other, const std::string& arch) {
  return compile({.file = "mine.cu",
                  .content = "extern \"C\" __global__ void right(const float*, float*, size_t) {}\n" + other,
                  .name = "right",
                  .arch = arch});
}

TEST_F(GpuOwnKernel, ThatHasOtherParametersIsRefusedInACubinToo) {
  const std::string others =
      "extern \"C\" __global__ void four(const float*, float*, size_t, float) {}\n"
      "extern \"C\" __global__ void two(const float*, float*) {}\n"
      "extern \"C\" __global__ void narrow(const float*, float*, unsigned) {}\n";
  const std::string file = written("mine.cubin", beside_a_right_one(others, arch("sm_")));
  const auto refused = [&](const std::string& name, const std::string& why) {
    const Result r = run_file(file, name);
    EXPECT_EQ(r.status, Status::failed);
    EXPECT_NE(r.reason.find(why), std::string::npos) << r.reason;
  };
  refused("four", "mine.cubin: four takes 4 parameters: it must be declared as extern \"C\"");
  refused("two", "mine.cubin: two takes 2 parameters");
  refused("narrow", "mine.cubin: parameter 3 of narrow has 4 bytes, not 8");
}

TEST_F(GpuOwnKernel, OfWhichAPartIsMissingIsRefusedBeforeADriverReadsIt) {
  const std::string whole = beside_a_right_one("", arch("sm_"));
  const auto refused = [&](const std::string& content, const std::string& why) {
    const Result r = run_file(written("mine.cubin", content), "right");
    EXPECT_EQ(r.status, Status::failed);
    EXPECT_NE(r.reason.find("mine.cubin: " + why), std::string::npos) << r.reason;
  };
  refused("", "it is empty");
  refused(std::string("\x01\0junk", 6), "it is not PTX, a cubin or a fat binary");
  refused(whole.substr(0, whole.size() / 2), "the cubin is truncated");
  refused(whole.substr(0, whole.size() - 1), "the cubin is truncated");
}

TEST_F(GpuOwnKernel, InPtxThatDoesNotAssembleIsToldWithTheLine) {
  std::string ptx = beside_a_right_one("", arch("compute_"));
  ptx.resize(ptx.find_last_not_of('\0') + 1);
  const std::size_t body = ptx.find("ret;");
  ASSERT_NE(body, std::string::npos);
  const auto line = std::count(ptx.begin(), ptx.begin() + static_cast<std::ptrdiff_t>(body), '\n') + 1;
  ptx.insert(body, "add.u32 %nothing, %nothing, 1; ");
  const Result r = run_file(written("mine.ptx", ptx), "right");
  EXPECT_EQ(r.status, Status::failed);
  EXPECT_NE(r.reason.find("line " + std::to_string(line)), std::string::npos) << r.reason;
}

/// A kernel that moves its elements through dynamic shared memory, and asks for `bytes` of it.
std::string through_shared_memory(std::size_t bytes) {
  return "extern \"C\" __constant__ unsigned through_launch[3] = {128, 1, " + std::to_string(bytes) +
         "};\n"
         "extern __shared__ float held[];\n"
         "extern \"C\" __global__ void through(const float* in, float* out, size_t n) {\n"
         "  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;\n"
         "  const unsigned at = through_launch[2] / sizeof(float) - 1 - threadIdx.x;  // at the end of what was asked "
         "for\n"
         "  held[at] = i < n ? in[i] : 0;\n"
         "  __syncthreads();\n"
         "  if (i < n) out[i] = held[at] + 1;\n"
         "}\n";
}

TEST_F(GpuOwnKernel, HasTheSharedMemoryThatItWishes) {
  for (const std::size_t bytes : {4096U, 64U << 10U}) {  // the default limit of a block is 48 KiB; more needs an opt-in
    const Result r = run_file(written("through.cu", through_shared_memory(bytes)), "through");
    ASSERT_EQ(r.status, Status::ok) << r.reason;
    EXPECT_EQ(r.value("block_size"), 128);
    EXPECT_EQ(r.value("shared_bytes"), static_cast<double>(bytes));
  }
  const Result r = run_file(written("through.cu", through_shared_memory(1U << 30U)), "through");
  EXPECT_EQ(r.status, Status::failed);
  EXPECT_NE(r.reason.find("reserving 1073741824 bytes of shared memory for through"), std::string::npos) << r.reason;
}

TEST_F(GpuOwnKernel, WhoseWishesCannotBeReadIsRefused) {
  const auto refused = [&](const std::string& launch_request, const std::string& why) {
    const std::string kernel = "extern \"C\" __global__ void right(const float*, float*, size_t) {}\n";
    const Result r = run_file(written("mine.cu", kernel + launch_request), "right");
    EXPECT_EQ(r.status, Status::failed);
    EXPECT_NE(r.reason.find(why + "; declare it as extern \"C\" __constant__ unsigned right_launch[3]"),
              std::string::npos)
        << r.reason;
  };
  refused("namespace mine { __constant__ unsigned right_launch[3] = {256, 4, 0}; }\n",
          "the code has this name, but it is not a readable variable");
  refused("extern \"C\" __constant__ unsigned right_launch[2] = {256, 4};\n", "its size is 8 bytes");
}

TEST_F(GpuOwnKernel, ThatIsNotInTheFileFailsItsCaseAlone) {
  const auto results = run("overlap --size 4M --kernel-name nothing,vector_add --kernel-file " + file_of("vector_add"));
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].status, Status::failed);
  EXPECT_NE(results[0].reason.find("has no kernel nothing"), std::string::npos) << results[0].reason;
  EXPECT_EQ(results[1].status, Status::ok) << results[1].reason;
}

}  // namespace

}  // namespace xferbench::test
