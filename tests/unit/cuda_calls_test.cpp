// Classification of CUDA runtime and driver calls by their names.
#include "recording/cuda_calls.hpp"

#include <gtest/gtest.h>

namespace xferbench {
namespace {

TEST(CudaCalls, AreNamedAsProgramsWriteThem) {
  EXPECT_EQ(plain_call_name("cudaMemcpyAsync_v3020"), "cudaMemcpyAsync");
  EXPECT_EQ(plain_call_name("cudaMemcpyAsync_ptsz_v7000"), "cudaMemcpyAsync");
  EXPECT_EQ(plain_call_name("cuMemcpyHtoDAsync_v2"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(plain_call_name("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(plain_call_name("cuMemsetD32"), "cuMemsetD32");
  EXPECT_EQ(plain_call_name(""), "");
}

TEST(CudaCalls, AreKnownByWhatTheyDo) {
  EXPECT_EQ(call_kind("cudaMemcpyAsync_v3020"), CudaCallKind::copy);
  EXPECT_EQ(call_kind("cuMemcpyHtoDAsync_v2"), CudaCallKind::copy);
  EXPECT_EQ(call_kind("cudaLaunchKernelExC_v11060"), CudaCallKind::launch);
  EXPECT_EQ(call_kind("cuLaunchKernelEx"), CudaCallKind::launch);
  EXPECT_EQ(call_kind("cudaGraphLaunch_v10000"), CudaCallKind::graph_launch);
  EXPECT_EQ(call_kind("cudaMallocHost"), CudaCallKind::pin);
  EXPECT_EQ(call_kind("cudaMallocManaged"), CudaCallKind::managed);
  EXPECT_EQ(call_kind("cudaMallocAsync"), CudaCallKind::allocate);
  EXPECT_EQ(call_kind("cuMemHostRegister_v2"), CudaCallKind::pin);
  EXPECT_EQ(call_kind("cudaFreeHost"), CudaCallKind::unpin);
  EXPECT_EQ(call_kind("cudaFree"), CudaCallKind::free);
  EXPECT_EQ(call_kind("cuCtxSynchronize"), CudaCallKind::wait_device);
  EXPECT_EQ(call_kind("cudaGetDevice"), CudaCallKind::none);
  EXPECT_EQ(call_kind("memcpy"), CudaCallKind::none);
  EXPECT_EQ(call_kind("cuda"), CudaCallKind::none);
}

TEST(CudaCalls, ThatWaitAreToldFromThoseThatDoNot) {
  EXPECT_TRUE(is_asynchronous("cudaMemcpyAsync_v3020"));
  EXPECT_TRUE(is_asynchronous("cuMemcpyHtoDAsync_v2_ptsz"));
  EXPECT_TRUE(is_asynchronous("cuLaunchKernel"));
  EXPECT_FALSE(is_asynchronous("cudaMemcpy"));
  EXPECT_FALSE(is_asynchronous("cudaStreamSynchronize"));
}

}  // namespace
}  // namespace xferbench
