// NVRTC for kernels of users: where the library is searched, what it compiles, and how compile errors look. Tests that
// need libnvrtc are skipped without it; none needs a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "device/nvrtc.hpp"
#include "support/files.hpp"
#include "support/nvrtc_here.hpp"

namespace xferbench {

namespace {

constexpr const char* kTwice =
    "extern \"C\" __global__ void twice(const float* in, float* out, size_t n) {\n"
    "  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;\n"
    "  if (i < n) out[i] = FACTOR * in[i];\n"
    "}\n";

KernelSource source_of(std::string content) {
  return {
      .file = "mine.cu", .content = std::move(content), .name = "twice", .arch = "sm_90", .options = {"-DFACTOR=2"}};
}

class Compiling : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_nvrtc()) GTEST_SKIP() << "libnvrtc is not installed";
  }
  static std::string error_of(const KernelSource& source) {
    try {
      static_cast<void>(compile(source));
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "compiled";
  }
};

TEST(NvrtcPlaces, AreThoseOfTheLoaderFirst) {
  const std::vector<std::string> places = nvrtc_paths();
  EXPECT_EQ(places.front(), "libnvrtc.so");
  EXPECT_NE(std::ranges::find(places, "libnvrtc.so.12"), places.end());
  EXPECT_EQ(places.back(), "/usr/local/cuda/lib64/libnvrtc.so.12");
}

TEST(CompileErrors, AreToldWithTheFilesLines) {
  const std::string log =
      "mine.cu(3): error: identifier \"FACTOR\" is undefined\n"
      "    if (i < n) out[i] = FACTOR * in[i];\n"
      "                        ^\n\n"
      "mine.cu(2): warning #177-D: variable \"i\" was declared but never referenced\n\n"
      "1 error detected in the compilation of \"mine.cu\".\n";
  EXPECT_EQ(compile_errors(log, source_of(kTwice)),
            "line 3: identifier \"FACTOR\" is undefined: `if (i < n) out[i] = FACTOR * in[i];`");
}

TEST(CompileErrors, OfHeadersAreToldWithTheirNames) {
  const std::string log =
      "lib/factor.hpp(1): error: identifier \"x\" is undefined\n"
      "  float factor() { return x; }\r\n"
      "                          ^\n\n"
      "mine.cu(3): error: identifier \"factor\" is undefined\n"
      "      out[i] = factor() * in[i];\r\n"
      "               ^\n\n"
      "2 errors detected in the compilation of \"mine.cu\".\n";
  EXPECT_EQ(compile_errors(log, source_of(kTwice)),
            "lib/factor.hpp line 1: identifier \"x\" is undefined: `float factor() { return x; }`; line 3: identifier "
            "\"factor\" is undefined: `out[i] = factor() * in[i];`");
}

TEST(CompileErrors, ThatEndCompilationAreToldBesideOthers) {
  const std::string log =
      "mine.cu(1): error: incomplete type \"S<3>\" is not allowed\n"
      "  S<3> s;\n"
      "       ^\n\n"
      "mine.cu(2): catastrophic error: cannot open source file \"no.hpp\"\n"
      "  #include \"no.hpp\"\n"
      "                   ^\n\n"
      "1 error and 1 catastrophic error detected in the compilation of \"mine.cu\".\nCompilation terminated.\n";
  EXPECT_EQ(compile_errors(log, source_of(kTwice)),
            "line 1: incomplete type \"S<3>\" is not allowed: `S<3> s;`; line 2: cannot open source file \"no.hpp\": "
            "`#include \"no.hpp\"`");
}

TEST(CompileErrors, BeyondFiveAreCounted) {
  std::string log;
  for (int i = 1; i <= 7; ++i) log += "mine.cu(1): error: number " + std::to_string(i) + "\n";
  const std::string told = compile_errors(log, source_of(kTwice));
  EXPECT_NE(told.find("number 5"), std::string::npos);
  EXPECT_EQ(told.find("number 6"), std::string::npos);
  EXPECT_TRUE(told.ends_with("; and 2 more")) << told;
}

TEST(CompileErrors, OfNoLineOfTheFileAreToldAsTheyAre) {
  const std::string log("nvrtc: error: invalid value for --gpu-architecture (-arch)\n\0", 60);
  EXPECT_EQ(compile_errors(log, source_of(kTwice)), "nvrtc: error: invalid value for --gpu-architecture (-arch)");
}

TEST_F(Compiling, MakesACubinForARealArchitectureAndPtxForAVirtualOne) {
  KernelSource source = source_of(kTwice);
  EXPECT_TRUE(
      compile(source).starts_with("\x7F"
                                  "ELF"));
  source.arch = "compute_90";
  EXPECT_NE(compile(source).find(".entry twice("), std::string::npos);
}

TEST_F(Compiling, NamesTheLineOfAMistake) {
  KernelSource source = source_of(kTwice);
  source.options.clear();
  EXPECT_EQ(error_of(source),
            "mine.cu does not compile for sm_90: line 3: identifier \"FACTOR\" is undefined: `if (i < n) out[i] = "
            "FACTOR * in[i];`");
}

TEST_F(Compiling, SaysWhereThereIsNoSuchKernel) {
  KernelSource source = source_of(kTwice);
  source.name = "thrice";
  EXPECT_TRUE(error_of(source).starts_with("mine.cu has no kernel thrice: it must be declared as extern \"C\""))
      << error_of(source);
}

TEST_F(Compiling, RefusesAKernelWithOtherParametersThanALaunchPasses) {
  const auto error_with = [](const std::string& parameters) {
    return error_of(source_of("extern \"C\" __global__ void twice(" + parameters + ") {}\n"));
  };
  EXPECT_EQ(error_with("const float*, float*, size_t, float"),
            "mine.cu: twice takes 4 parameters: it must be declared as extern \"C\" __global__ void twice(const T* in, "
            "T* out, size_t n), because launches pass these three arguments; use constants for other values");
  EXPECT_TRUE(error_with("const float*, float*").starts_with("mine.cu: twice takes 2 parameters"));
  EXPECT_TRUE(error_with("const float*, float*, unsigned").starts_with("mine.cu: parameter 3 of twice has 4 bytes"));
}

TEST_F(Compiling, SaysWhatIsWrongWithAnOption) {
  KernelSource source = source_of(kTwice);
  source.arch = "sm_1";
  EXPECT_NE(error_of(source).find("--gpu-architecture"), std::string::npos) << error_of(source);
}

TEST_F(Compiling, SaysWhereAnOptionLeavesNoCode) {
  KernelSource source = source_of(kTwice);
  source.options.emplace_back("-dlto");
  EXPECT_EQ(error_of(source),
            "compiling mine.cu for sm_90 produced no code: remove options from --kernel-option that produce something "
            "else, such "
            "as -dlto");
}

TEST_F(Compiling, FindsHeadersBesideTheFile) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "factor.hpp", "#define FACTOR 2.0F\n");
  KernelSource source = source_of(std::string("#include \"factor.hpp\"\n") + kTwice);
  source.file = (folder / "mine.cu").string();
  source.options.clear();
  EXPECT_TRUE(
      compile(source).starts_with("\x7F"
                                  "ELF"));
}

TEST_F(Compiling, NamesTheLineOfAMistakeInAHeader) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "factor.hpp", "#define FACTOR 2.0F\r\n__device__ int f() { return x; }\r\n");
  KernelSource source = source_of(std::string("#include \"factor.hpp\"\n") + kTwice + "__device__ int g = y;\n");
  source.file = (folder / "mine.cu").string();
  source.options.clear();
  const std::string error = error_of(source);
  EXPECT_NE(error.find("factor.hpp line 2: identifier \"x\" is undefined: `__device__ int f() { return x; }`; line 6: "
                       "identifier \"y\" is undefined: `__device__ int g = y;`"),
            std::string::npos)
      << error;
}

TEST_F(Compiling, IsNotDoneToWhatHasBeenCompiledBefore) {
  KernelSource source = source_of(kTwice);
  const std::string cubin = compile(source);
  source = {.file = "mine.cubin", .content = cubin, .name = "twice"};
  EXPECT_EQ(image_of(source), cubin);
  source.content.pop_back();
  EXPECT_THROW(static_cast<void>(image_of(source)), DeviceError);
}

/// Compiles all of examples/kernels with the definitions that xferbench adds.
TEST_F(Compiling, TakesAllExamples) {
  const std::filesystem::path folder = std::filesystem::path(XFERBENCH_SOURCE_DIR) / "examples/kernels";
  std::size_t examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".cu") continue;
    KernelSource source{.file = entry.path().string(),
                        .content = test::read_file(entry.path()),
                        .name = entry.path().stem().string(),
                        .arch = "sm_90",
                        .options = {"-DXFERBENCH_ROW=4096", "-DXFERBENCH_HALO=1"}};
    EXPECT_EQ(error_of(source), "compiled");
    ++examples;
  }
  EXPECT_EQ(examples, 4U);
}

}  // namespace

}  // namespace xferbench
