// The readers of PTX and of the assembler's report, on snippets: what the other tests here stand on.
#include "device_code/ptx.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "device_code/ptxas_report.hpp"

namespace xferbench::ptx {
namespace {

using Opcodes = std::vector<std::string>;

// --- PTX ------------------------------------------------------------------------------------------------------------

TEST(Ptx, FindsKernelsAndFunctionsAndTheirInstructions) {
  const auto functions = parse(R"(
    .version 9.0
    .target sm_90
      // .globl  first
    .visible .entry first(
      .param .u64 first_param_0
    )
    .maxntid 256
    {
      .reg .pred %p<2>;
      ld.param.u64 %rd1, [first_param_0];
    $L__BB0_1:
      @%p1 bra $L__BB0_1;
      @!%p1	bra	$L__BB0_1;
      ret;
    }
    .func (.param .b32 func_retval0) helper(
      .param .b32 helper_param_0
    )
    { ret; }
    .weak .entry second() { exit; })");
  ASSERT_EQ(functions.size(), 3U);
  EXPECT_EQ(functions[0].name, "first");
  EXPECT_TRUE(functions[0].is_kernel);
  EXPECT_EQ(functions[0].opcodes, (Opcodes{"ld.param.u64", "bra", "bra", "ret"}));
  EXPECT_EQ(functions[1].name, "helper");
  EXPECT_FALSE(functions[1].is_kernel);
  EXPECT_EQ(functions[2].name, "second");
  EXPECT_EQ(functions[2].opcodes, (Opcodes{"exit"}));
}

TEST(Ptx, BracesMayBeScopesOrOperands) {
  const auto functions = parse(R"(.entry k() {
    // begin inline asm
    {
    .reg .pred ended;
    mbarrier.try_wait.parity.shared::cta.b64 ended, [%r1], %r2;
    }
    // end inline asm
    ld.global.v2.f32 {%f1, %f2}, [%rd1];
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];
    { .param .b32 param0; call.uni helper, (param0); }
    ret;
  })");
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(
      functions[0].opcodes,
      (Opcodes{"mbarrier.try_wait.parity.shared::cta.b64", "ld.global.v2.f32",
               "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", "call.uni", "ret"}));
}

TEST(Ptx, WhatOnlyLooksLikeAnInstructionIsNone) {
  const auto functions = parse(R"(
    .extern .func (.param .b32 func_retval0) cp.async;
    .global .align 1 .b8 text[3] = {99, 112, 0};
    .entry k() {
      // cp.async.cg.shared.global [%r1], [%rd1], 16;
      /* mbarrier.try_wait
         cp.async; */
      .pragma "cp.async; } nounroll";
      mov.b32 %r1, cp.async;
      cp.asynchronous %r1;
      ret;
    })");
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(functions[0].opcodes, (Opcodes{"mov.b32", "cp.asynchronous", "ret"}));
  EXPECT_FALSE(functions[0].has("cp.async"));
  EXPECT_FALSE(functions[0].has("mbarrier"));
}

TEST(Ptx, InstructionsAreFoundByTheirFirstParts) {
  const Function function{"k", true, {"cp.async.bulk.global.shared::cta.bulk_group"}};
  EXPECT_TRUE(function.has("cp.async"));
  EXPECT_TRUE(function.has("cp.async.bulk.global.shared"));
  EXPECT_TRUE(function.has("cp.async.bulk.global.shared::cta"));
  EXPECT_TRUE(function.has("cp.async.ca|cp.async.bulk"));
  EXPECT_FALSE(function.has("cp.async.bu"));
  EXPECT_FALSE(function.has("async.bulk"));
  EXPECT_FALSE(function.has("cp.async.ca|cp.async.cg"));
  EXPECT_FALSE(Function{}.has("ret"));
}

TEST(Ptx, AFileMayHaveNoFunctions) { EXPECT_TRUE(parse(".version 9.0\n.target sm_90\n").empty()); }

TEST(Ptx, BrokenTextIsAnError) {
  EXPECT_THROW(parse(".entry k() { ret;"), std::runtime_error);
  EXPECT_THROW(parse(".entry k() { ret; } }"), std::runtime_error);
  EXPECT_THROW(parse(".entry k() { ret }"), std::runtime_error);
  EXPECT_THROW(parse(".entry k() { ld.global.v2.f32 {%f1, %f2"), std::runtime_error);
  EXPECT_THROW(parse(".global .b8 text[3] = {99, 112"), std::runtime_error);
}

// --- The assembler's report -----------------------------------------------------------------------------------------

TEST(PtxasReport, HasWhatAKernelTakes) {
  const auto found = parse_report(R"(
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
    24 bytes stack frame, 16 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 24 bytes cumulative stack size, 1024 bytes smem
ptxas info    : Compile time = 1.000 ms
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, 368 bytes cmem[0]
)");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "first");
  EXPECT_TRUE(found[0].is_kernel);
  EXPECT_EQ(found[0].registers, 255U);
  EXPECT_EQ(found[0].barriers, 1U);
  EXPECT_EQ(found[0].shared, 1024U);
  EXPECT_EQ(found[0].stack, 24U);
  EXPECT_EQ(found[0].spill_stores, 16U);
  EXPECT_EQ(found[0].spill_loads, 8U);
  EXPECT_EQ(found[1].registers, 8U);
  EXPECT_EQ(found[1].barriers, 0U);
  EXPECT_EQ(found[1].shared, 0U);
}

TEST(PtxasReport, AFunctionsSpillsAreItsOwn) {
  const auto found = parse_report(R"(
ptxas info    : Compiling entry function 'kernel' for 'sm_90'
ptxas info    : Function properties for kernel
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers
ptxas info    : Function properties for helper
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
)");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].spill_stores, 0U);
  EXPECT_EQ(found[1].name, "helper");
  EXPECT_FALSE(found[1].is_kernel);
  EXPECT_EQ(found[1].spill_stores, 4U);
}

TEST(PtxasReport, WhatIsMissingIsAnErrorAndNotZero) {
  const std::string kernel = "ptxas info : Compiling entry function 'k' for 'sm_90'\n";
  const std::string properties = "ptxas info : Function properties for k\n";
  const std::string spills = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
  const std::string used = "ptxas info : Used 8 registers\n";
  EXPECT_NO_THROW(parse_report(kernel + properties + spills + used));
  EXPECT_THROW(parse_report(kernel), std::runtime_error);
  EXPECT_THROW(parse_report(kernel + properties + used), std::runtime_error);
  EXPECT_THROW(parse_report(kernel + properties + spills), std::runtime_error);
  EXPECT_THROW(parse_report(spills), std::runtime_error);
  EXPECT_THROW(parse_report(used), std::runtime_error);
  EXPECT_THROW(parse_report(kernel + properties + "0 bytes stack frame, 0 bytes moved\n" + used), std::runtime_error);
}

TEST(ShortName, IsWhatTheSourceCallsAKernel) {
  EXPECT_EQ(short_name("_ZN9xferbench1fIfLj4EEEvi"), "f<float, 4u>");
  EXPECT_EQ(short_name("_ZN9xferbench7kernels12_GLOBAL__N_15countEPm"), "count");
  EXPECT_EQ(short_name("_ZN9xferbench7kernels40_GLOBAL__N__2cffda3a_8_chase_cu_ac7624aa5chaseEPKNS0_9ChaseLineE"),
            "chase");
  EXPECT_EQ(short_name("_ZN9xferbench12_GLOBAL__N_11fINS_4StepELNS_4KindE2ELb1EEEvNS_4WorkE"),
            "f<Step, (Kind)2, true>");
  EXPECT_EQ(short_name("__nv_static_34__a4e77fba_9_dynpar_cu_15650319__ZN9xferbench7kernels12_GLOBAL__N_15childEPi"),
            "child");
  EXPECT_EQ(short_name("_Z1fv"), "f");
  EXPECT_EQ(short_name("f"), "f");
}

}  // namespace
}  // namespace xferbench::ptx
