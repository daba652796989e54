// Compiled code of users' kernels: which is refused before a driver or a GPU trusts it.
#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "device/kernel_image.hpp"
#include "device/nvrtc.hpp"

namespace xferbench {

namespace {

/// What is said of a file with this content.
std::string error_of(const std::string& content, const std::string& file = "mine.ptx") {
  try {
    static_cast<void>(image_of({.file = file, .content = content, .name = "twice"}));
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "taken";
}

/// As nvcc writes it.
std::string ptx(const std::string& parameters, const std::string& name = "twice") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n\n\t// .globl\t" + name + "\n.visible .entry " + name + "(\n" +
         parameters + "\n)\n{\n\tret;\n}\n";
}
std::string of_types(const std::string& third, const std::string& more = "") {
  return ptx("\t.param .u64 .ptr .align 1 twice_param_0,\n\t.param .u64 twice_param_1,\n\t.param " + third +
             " twice_param_2" + more);
}

TEST(KernelParameters, AreTheThreeThatALaunchPasses) {
  EXPECT_EQ(error_of(of_types(".u64")), "taken");
  EXPECT_EQ(error_of(of_types(".b64")), "taken");
  EXPECT_EQ(
      error_of(of_types(".u64", ",\n\t.param .f32 twice_param_3")),
      "mine.ptx: twice takes 4 parameters: it must be declared as extern \"C\" __global__ void twice(const T* in, "
      "T* out, size_t n), as launches pass these three; make constants of what else it needs");
  EXPECT_TRUE(error_of(ptx("\t.param .u64 twice_param_0")).starts_with("mine.ptx: twice takes 1 parameter: "));
  EXPECT_TRUE(error_of(ptx("")).starts_with("mine.ptx: twice takes 0 parameters: "));
  EXPECT_TRUE(error_of(".visible .entry twice .maxntid 256, 1, 1 {}").starts_with("mine.ptx: twice takes 0 "));
}

TEST(KernelParameters, AreOfTheSizeThatALaunchPasses) {
  EXPECT_EQ(error_of(of_types(".u32")),
            "mine.ptx: parameter 3 of twice has 4 bytes, not 8: it must be declared as extern \"C\" __global__ void "
            "twice(const T* in, T* out, size_t n)");
  EXPECT_TRUE(error_of(of_types(".b32")).starts_with("mine.ptx: parameter 3 of twice has 4 bytes"));
  EXPECT_TRUE(error_of(of_types(".align 8 .b8", "[16]")).starts_with("mine.ptx: parameter 3 of twice has 16 bytes"));
}

TEST(KernelParameters, AreThoseOfTheKernelWithThatName) {
  const std::string others = ptx("\t.param .u64 a", "twice_as_much") + ptx("", "not_twice");
  EXPECT_EQ(error_of(others + of_types(".u64")), "taken");
  EXPECT_TRUE(error_of(others).starts_with("mine.ptx has no kernel twice: it must be declared as extern \"C\""));
  EXPECT_TRUE(error_of("").starts_with("mine.ptx"));
}

TEST(KernelParameters, MayHaveCommentsBesideThem) {
  EXPECT_EQ(error_of("// .entry twice() is below\n.file 1 \"http://x/*.cu\"\n" +
                     ptx(".param .u64 in, // what is read, (all)\n.param .u64 out, /* one, two */ .param .u64 n")),
            "taken");
}

}  // namespace

}  // namespace xferbench
