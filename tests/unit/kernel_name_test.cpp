// Demangling of kernel names.
#include "recording/kernel_name.hpp"

#include <gtest/gtest.h>

namespace xferbench {
namespace {

TEST(KernelNames, AreThoseInTheSource) {
  EXPECT_EQ(kernel_name("_ZN9xferbench7kernels12_GLOBAL__N_14holdEPVNS0_9GateFlagsEjm"), "hold");
  // Names that nvcc gives to kernels in an anonymous namespace.
  EXPECT_EQ(kernel_name("_ZN9xferbench7kernels39_GLOBAL__N__eebb245b_7_gate_cu_74aecece4holdEPVNS0_9GateFlagsEjm"),
            "hold");
  EXPECT_EQ(kernel_name("_ZN9xferbench7kernels47_GLOBAL__N__49652ea2_14_elementwise_cu_e87d896d11elementwise"
                        "INS1_7FmaStepELb0EEEvPKfS5_Pfmjfb"),
            "elementwise");
  EXPECT_EQ(kernel_name("_Z4fillIfEvPT_m"), "fill");
  EXPECT_EQ(kernel_name("plain"), "plain");
  EXPECT_EQ(kernel_name(nullptr), "kernel");
}

}  // namespace
}  // namespace xferbench
