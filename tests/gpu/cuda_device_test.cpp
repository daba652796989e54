// The CUDA device: link, copies of all memory kinds, kernels, gates and errors, on a real GPU.
#include <cuda_runtime.h>

#include <array>
#include <chrono>
#include <iostream>
#include <ostream>
#include <set>
#include <string>
#include <thread>

#include "device/cuda/describe.hpp"
#include "gpu/gpu_fixture.hpp"
#include "kernels/delay.hpp"
#include "kernels/elementwise.hpp"
#include "measure/pattern.hpp"

namespace xferbench::test {

namespace {

using kernels::Elementwise;
using kernels::ElementwiseOp;

class CudaDeviceTest : public GpuTest {
 protected:
  /// Copies `bytes` of noise to the GPU and back through host memory of this kind, and checks every byte.
  void round_trip(std::size_t bytes, HostMemory kind) {
    const HostBuffer in = device().allocate_host(bytes, kind);
    const HostBuffer out = device().allocate_host(bytes, kind);
    const DeviceBuffer on_gpu = device().allocate_device(bytes);
    pattern::fill_bytes({in.data, bytes}, 3);
    pattern::poison({out.data, bytes});
    stream().copy({on_gpu.data, in.data, bytes, Direction::h2d});
    stream().copy({out.data, on_gpu.data, bytes, Direction::d2h});
    device().synchronize();
    const auto wrong = pattern::check_bytes({out.data, bytes}, 3);
    EXPECT_FALSE(wrong.has_value()) << bytes << " bytes: " << wrong->describe();
  }
};

TEST_F(CudaDeviceTest, DescribesTheGpu) {
  const Environment& e = device().capabilities().environment;
  EXPECT_EQ(e.backend, "cuda");
  EXPECT_FALSE(e.gpu.name.empty());
  EXPECT_EQ(e.gpu.uuid.size(), std::string("GPU-01234567-89ab-cdef-0123-456789abcdef").size());
  EXPECT_GT(e.gpu.multiprocessors, 0U);
  EXPECT_GE(e.gpu.copy_engines, 1U);
  EXPECT_GT(e.gpu.memory_bandwidth, 1e9);
  EXPECT_GT(device().memory().free_bytes, 0U);
}

TEST_F(CudaDeviceTest, GpuOutOfRangeIsNoDevice) { EXPECT_THROW(open_gpus({.numbers = {1000}}), NoDeviceError); }

TEST_F(CudaDeviceTest, SeesTheLinkUnderLoad) {
  const auto& link = device().capabilities().environment.gpu.pcie;
  ASSERT_TRUE(link.has_value());
  EXPECT_TRUE(link->source == "nvml" || link->source == "sysfs") << link->source;
  EXPECT_TRUE(link->under_load);
  EXPECT_GE(link->generation, 1U);
  EXPECT_LE(link->generation, 7U);
  EXPECT_TRUE(std::set<unsigned>({1, 2, 4, 8, 16, 32}).contains(link->width)) << link->width;
  EXPECT_GE(link->max_generation, link->generation);
  EXPECT_GE(link->max_width, link->width);
  // Both come from a PCI register that only privileged processes can read.
  EXPECT_EQ(link->max_payload == 0, link->max_read_request == 0);
  EXPECT_TRUE(std::set<unsigned>({0, 128, 256, 512, 1024, 2048, 4096}).contains(link->max_payload));
}

TEST_F(CudaDeviceTest, LookingAtTheLinkIsQuickAndLeavesNothingBehind) {
  const std::uint64_t free_before = device().memory().free_bytes;
  const auto begin = std::chrono::steady_clock::now();
  const auto link = cuda::pcie_link(device(), cuda::Nvml(), device().capabilities().environment.gpu.pci_bus_id);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(link.has_value());
  std::cout << "looking at the link took " << time.count() * 1e3 << " ms\n";
  if (!link->below_maximum()) {
    EXPECT_LT(time.count(), 0.1) << "15 ms and NVML's own start are expected; a busy machine may take longer";
  }
  EXPECT_GT(device().memory().free_bytes + (4U << 20), free_before) << "its buffer is of 4 MiB";
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaDeviceTest, RecordsWhereTheProcessWasPlaced) {
  const Environment::Host& host = device().capabilities().environment.host;
  EXPECT_EQ(host.numa_policy, "local");
  if (host.numa_note.empty() && host.gpu_numa_node) {
    EXPECT_EQ(host.numa_node, host.gpu_numa_node);
  }
  std::jthread([] {
    const auto unplaced = open_gpus({}, {NumaPolicy::Kind::none});
    EXPECT_EQ(unplaced->device().capabilities().environment.host.numa_policy, "none");
    EXPECT_EQ(unplaced->device().capabilities().environment.host.numa_note, "");
  }).join();
}

TEST_F(CudaDeviceTest, PlacesTheProcessOnANodeByNumber) {
  const Environment::Host& local = device().capabilities().environment.host;
  if (!local.numa_node || !local.numa_note.empty()) GTEST_SKIP() << "not placed here: " << local.numa_note;
  std::jthread([node = *local.numa_node] {
    const auto placed = open_gpus({}, {NumaPolicy::Kind::node, node});
    EXPECT_EQ(placed->device().capabilities().environment.host.numa_policy, "node");
    EXPECT_EQ(placed->device().capabilities().environment.host.numa_node, node);
  }).join();
}

TEST_F(CudaDeviceTest, NumaNodeOutOfRangeIsAMistakeOfTheCommand) {
  EXPECT_THROW(open_gpus({}, {NumaPolicy::Kind::node, 9999}), UsageError);
}

TEST_F(CudaDeviceTest, CopiesEveryByteOfOddSizes) {
  for (const std::size_t bytes : {1U, 3U, 4096U, 65537U, (1U << 20) + 1U}) {
    round_trip(bytes, HostMemory::pinned);
    round_trip(bytes, HostMemory::pageable);
  }
}

TEST_F(CudaDeviceTest, FillReachesEveryByte) {
  constexpr std::size_t kBytes = 4099;
  const HostBuffer out = pinned(kBytes);
  const DeviceBuffer on_gpu = device().allocate_device(kBytes);
  stream().fill(on_gpu, std::byte{0x5A});
  stream().copy({out.data, on_gpu.data, kBytes, Direction::d2h});
  device().synchronize();
  EXPECT_EQ(std::count(out.data, out.data + kBytes, std::byte{0x5A}), static_cast<std::ptrdiff_t>(kBytes));
}

/// Runs `op` on `elements` floats that start `offset` elements into their buffers.
struct KernelCase {
  ElementwiseOp op;
  std::size_t elements;
  std::size_t offset;
  bool in_place;
};

/// The test's name in GoogleTest.
std::ostream& operator<<(std::ostream& out, const KernelCase& c) {
  return out << kernels::kElementwiseNames[static_cast<std::size_t>(c.op)] << " of " << c.elements << " at " << c.offset
             << (c.in_place ? " in place" : "");
}

class ElementwiseOnGpu : public CudaDeviceTest, public testing::WithParamInterface<KernelCase> {};

TEST_P(ElementwiseOnGpu, MatchesTheClosedFormToTheBit) {
  const auto [op, elements, offset, in_place] = GetParam();
  constexpr std::uint32_t kWork = 5;
  const std::size_t bytes = (offset + elements) * sizeof(float);
  const HostBuffer host = pinned(bytes);
  const DeviceBuffer in = device().allocate_device(bytes);
  const DeviceBuffer out = device().allocate_device(bytes);
  const DeviceBuffer addends = device().allocate_device(bytes);
  auto* values = reinterpret_cast<float*>(host.data);
  for (std::size_t i = 0; i < offset + elements; ++i) values[i] = kernels::addend(i);
  device().copy_and_wait({addends.data, host.data, bytes, Direction::h2d});
  pattern::fill_elements({values, offset + elements}, 11);
  device().copy_and_wait({in.data, host.data, bytes, Direction::h2d});
  const DeviceView& result = in_place ? in : out;
  if (!in_place) stream().fill(out, pattern::kPoison);

  const auto at = [offset = offset](const DeviceView& range) { return reinterpret_cast<float*>(range.data) + offset; };
  stream().launch(Elementwise(op, {at(in), at(addends), at(result), elements, kWork}));
  device().synchronize();
  device().copy_and_wait({host.data, result.data, bytes, Direction::d2h});

  const auto wrong = pattern::check_elements({values + offset, elements}, [&, op = op, offset = offset](std::size_t i) {
    return kernels::expected(op, pattern::element(11, offset + i), offset + i, kWork);
  });
  EXPECT_FALSE(wrong.has_value()) << wrong->describe();
}

INSTANTIATE_TEST_SUITE_P(AllOps, ElementwiseOnGpu,
                         testing::Values(KernelCase{ElementwiseOp::fma, 1, 0, false},
                                         KernelCase{ElementwiseOp::fma, 1023, 0, false},
                                         KernelCase{ElementwiseOp::fma, 1 << 20, 0, true},
                                         KernelCase{ElementwiseOp::fma, 4099, 1, false},
                                         KernelCase{ElementwiseOp::vector_add, 4099, 0, false},
                                         KernelCase{ElementwiseOp::vector_add, 4099, 3, true},
                                         KernelCase{ElementwiseOp::sincos, 100'003, 0, false},
                                         KernelCase{ElementwiseOp::sincos, 5, 2, false}));

TEST_F(CudaDeviceTest, LargestValueAndWorkStayExact) {
  const HostBuffer host = pinned(sizeof(float));
  const DeviceBuffer on_gpu = device().allocate_device(sizeof(float));
  auto* value = reinterpret_cast<float*>(host.data);
  for (const ElementwiseOp op : {ElementwiseOp::fma, ElementwiseOp::sincos}) {
    *value = 0x1p22F;
    device().copy_and_wait({on_gpu.data, host.data, sizeof(float), Direction::h2d});
    auto* in = reinterpret_cast<float*>(on_gpu.data);
    stream().launch(Elementwise(op, {in, nullptr, in, 1, static_cast<std::uint32_t>(kernels::kMaxWork)}));
    device().synchronize();
    device().copy_and_wait({host.data, on_gpu.data, sizeof(float), Direction::d2h});
    EXPECT_EQ(*value, 0x1p22F + 0x1p20F);
  }
}

TEST_F(CudaDeviceTest, GateHoldsTheStreamUntilOpened) {
  const Gate gate = machine().make_gate();
  const Event before = device().make_event(EventKind::timing);
  const Event after = device().make_event(EventKind::timing);
  stream().record(before);
  gate.close(stream());
  stream().record(after);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  gate.open();
  after.synchronize();
  EXPECT_FALSE(gate.timed_out());
  EXPECT_GT(elapsed(before, after), 0.019);
}

TEST_F(CudaDeviceTest, TheGateKnowsWhenAStreamHasComeToIt) {
  const Gate gate = machine().make_gate();
  EXPECT_TRUE(gate.wait_until_held(0)) << "it holds none";
  for (int round = 0; round < 2; ++round) {
    stream().launch(kernels::Delay(50e-3));
    gate.close(stream());
    EXPECT_FALSE(gate.wait_until_held(5e-3));
    EXPECT_TRUE(gate.wait_until_held(0.5));
    gate.open();
    stream().synchronize();
    EXPECT_FALSE(gate.timed_out());
  }
}

TEST_F(CudaDeviceTest, ForgottenGateTimesOutAndCanBeUsedAgain) {
  const Gate gate = machine().make_gate(0.02);
  gate.close(stream());
  device().synchronize();  // the gate is never opened and times out
  EXPECT_TRUE(gate.timed_out());
  gate.open();
  gate.close(stream());
  gate.open();
  device().synchronize();
  EXPECT_FALSE(gate.timed_out());
}

TEST_F(CudaDeviceTest, OneGateHoldsSeveralStreams) {
  const Gate gate = machine().make_gate();
  const std::array<Stream, 2> streams{device().make_stream(StreamKind::nonblocking),
                                      device().make_stream(StreamKind::nonblocking)};
  const std::array<Event, 2> passed{device().make_event(EventKind::ordering), device().make_event(EventKind::ordering)};
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      gate.close(streams[i]);
      streams[i].record(passed[i]);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (const Event& event : passed) EXPECT_FALSE(event.finished());
    gate.open();
    device().synchronize();
    EXPECT_FALSE(gate.timed_out());
  }
}

TEST_F(CudaDeviceTest, TooLargeAnAllocationIsAnErrorThatLeavesTheDeviceUsable) {
  try {
    static_cast<void>(device().allocate_device(std::size_t{1} << 50));
    FAIL() << "allocated a pebibyte";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("cudaMalloc (1024 TiB)"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(device().usable());
  round_trip(4096, HostMemory::pinned);
}

TEST_F(CudaDeviceTest, MeasuresTheMultiprocessorClock) {
  const auto clock = device().sm_clock_hz();
  ASSERT_TRUE(clock.has_value());
  EXPECT_GT(*clock, 100e6);
  EXPECT_LT(*clock, 1.05 * device().capabilities().environment.gpu.max_sm_clock_hz);
}

TEST_F(CudaDeviceTest, CopiesFromTwoThreads) {
  constexpr std::size_t kBytes = 1U << 20;
  const HostBuffer host = device().allocate_host(kBytes, HostMemory::pageable);
  const DeviceBuffer on_gpu = device().allocate_device(kBytes);
  machine().host().start_thread([&] { stream().copy({on_gpu.data, host.data, kBytes, Direction::h2d}); })->join();
  EXPECT_TRUE(device().usable());
}

TEST_F(CudaDeviceTest, StampsLieBetweenTheHostsTimesAroundThem) {
  const HostBuffer slot = device().allocate_host(sizeof(std::uint64_t), HostMemory::mapped);
  for (int i = 0; i < 20; ++i) {
    const ClockRelation clocks = device().relate_clocks();
    EXPECT_LT(clocks.uncertainty, 20e-6);
    const double before = machine().host().now();
    stream().stamp(reinterpret_cast<std::uint64_t*>(slot.data));
    stream().synchronize();
    const double after = machine().host().now();
    const double stamped = clocks.host_time(*reinterpret_cast<const std::uint64_t*>(slot.data));
    EXPECT_GT(stamped, before - clocks.uncertainty);
    EXPECT_LT(stamped, after + clocks.uncertainty);
  }
}

TEST_F(CudaDeviceTest, CallsHostFunctionsInStreamOrder) {
  std::string order;
  HostFunction first([&order] { order += '1'; });
  HostFunction second([&order] { order += '2'; });
  for (int i = 0; i < 3; ++i) {
    stream().call_host(CallbackApi::launch_host_func, first);
    stream().call_host(CallbackApi::stream_add_callback, second);
  }
  stream().synchronize();
  EXPECT_EQ(order, "121212");
}

TEST_F(CudaDeviceTest, WhatAHostFunctionThrowsIsKept) {
  for (const CallbackApi api : {CallbackApi::launch_host_func, CallbackApi::stream_add_callback}) {
    HostFunction failing([] { throw std::runtime_error("no room"); });
    stream().call_host(api, failing);
    EXPECT_NO_THROW(stream().synchronize());
    EXPECT_THROW(failing.rethrow(), std::runtime_error);
    EXPECT_NO_THROW(failing.rethrow()) << "told once";
  }
}

TEST_F(CudaDeviceTest, AHostFunctionThatIsGoneIsNotCalled) {
  int calls = 0;
  for (const CallbackApi api : {CallbackApi::launch_host_func, CallbackApi::stream_add_callback}) {
    stream().launch(kernels::Delay(5e-3));
    {
      HostFunction gone([&calls] { ++calls; });
      stream().call_host(api, gone);
    }
    EXPECT_NO_THROW(stream().synchronize());
  }
  EXPECT_EQ(calls, 0);
}

TEST_F(CudaDeviceTest, AnUnfinishedEventIsNoError) {
  const Event done = device().make_event(EventKind::ordering);
  stream().launch(kernels::Delay(5e-3));
  stream().record(done);
  EXPECT_FALSE(done.finished());
  done.synchronize();
  EXPECT_TRUE(done.finished());
}

TEST_F(CudaDeviceTest, ACapturedGraphRunsWhenReplayed) {
  constexpr std::size_t kBytes = 4099;
  const HostBuffer host = pinned(kBytes);
  const DeviceBuffer on_gpu = device().allocate_device(kBytes);
  pattern::fill_bytes({host.data, kBytes}, 3);
  device().copy_and_wait({on_gpu.data, host.data, kBytes, Direction::h2d});
  pattern::poison({host.data, kBytes});
  const Graph graph = stream().capture([&] { stream().copy({host.data, on_gpu.data, kBytes, Direction::d2h}); });
  device().synchronize();
  EXPECT_EQ(host.data[0], pattern::kPoison) << "capturing must run nothing";
  stream().replay(graph);
  stream().synchronize();
  EXPECT_FALSE(pattern::check_bytes({host.data, kBytes}, 3).has_value());
}

TEST_F(CudaDeviceTest, RegisteredMemoryIsCopiedWithoutBlockingTheHost) {
  constexpr std::size_t kBytes = 64U << 20;
  const HostBuffer host = device().allocate_host(kBytes, HostMemory::pageable);
  const DeviceBuffer on_gpu = device().allocate_device(kBytes);
  const auto call = [&] {
    const double before = machine().host().now();
    stream().copy({on_gpu.data, host.data, kBytes, Direction::h2d});
    const double seconds = machine().host().now() - before;
    stream().synchronize();
    return seconds;
  };
  call();
  const double pageable = call();
  const Registration registration = device().register_host(host);
  call();
  EXPECT_LT(call(), pageable / 10);
  EXPECT_THROW(static_cast<void>(device().register_host(host)), DeviceError) << "it is pinned already";
}

TEST_F(CudaDeviceTest, EveryKindOfGpuMemoryHoldsDataAndIsGivenBack) {
  constexpr std::size_t kBytes = (64U << 20) + 1;
  const HostBuffer host = pinned(kBytes);
  for (const GpuMemory kind : {GpuMemory::whole, GpuMemory::pooled, GpuMemory::mapped}) {
    static_cast<void>(device().allocate_device(kBytes, kind));  // what is made once is there from now on
    const std::uint64_t before = device().memory().free_bytes;
    {
      const DeviceBuffer memory = device().allocate_device(kBytes, kind);
      EXPECT_LE(device().memory().free_bytes, before - kBytes);
      pattern::fill_bytes({host.data, kBytes}, 3);
      stream().copy({memory.data, host.data, kBytes, Direction::h2d});
      stream().synchronize();
      pattern::poison({host.data, kBytes});
      stream().copy({host.data, memory.data, kBytes, Direction::d2h});
      stream().synchronize();
      EXPECT_FALSE(pattern::check_bytes({host.data, kBytes}, 3).has_value());
    }
    EXPECT_EQ(device().memory().free_bytes, before) << kGpuMemoryNames[static_cast<std::size_t>(kind)];
    EXPECT_THROW(static_cast<void>(device().allocate_device(std::size_t{1} << 50, kind)), DeviceError);
  }
  EXPECT_TRUE(device().usable());
}

}  // namespace

}  // namespace xferbench::test
