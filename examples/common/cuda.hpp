// CUDA for the examples: errors that throw, and memory, streams and events that are freed by themselves.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace examples {

/// Of each call of CUDA, and of cudaGetLastError() behind each launch.
inline void check(cudaError_t error, std::source_location where = std::source_location::current()) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": " +
                           cudaGetErrorString(error));
}

struct FreeDevice {
  void operator()(void* memory) const { cudaFree(memory); }
};
struct FreePinned {
  void operator()(void* memory) const { cudaFreeHost(memory); }
};
template <class T>
using DeviceArray = std::unique_ptr<T[], FreeDevice>;
template <class T>
using PinnedArray = std::unique_ptr<T[], FreePinned>;

template <class T>
DeviceArray<T> device_array(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)));
  return DeviceArray<T>(static_cast<T*>(memory));
}

/// Memory of the host that stays where it is: copy engines reach it by themselves, while the program goes on.
template <class T>
PinnedArray<T> pinned_array(std::size_t count) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, count * sizeof(T)));
  return PinnedArray<T>(static_cast<T*>(memory));
}

struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyStream>;

/// One that does not wait for the default stream, nor that for it.
inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

/// One that does.
inline Stream make_blocking_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  return Stream(stream);
}

struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;

/// One that keeps no time.
inline Event make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return Event(event);
}

/// Brings pages of managed memory to the GPU or the host, in the order of the stream.
inline void prefetch(const void* memory, std::size_t bytes, cudaMemLocationType to, cudaStream_t stream) {
  const cudaMemLocation place{to, 0};
#if CUDART_VERSION >= 13000
  check(cudaMemPrefetchAsync(memory, bytes, place, 0, stream));
#else
  check(cudaMemPrefetchAsync_v2(memory, bytes, place, 0, stream));
#endif
}

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;
using GraphExec = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyGraph>;

}  // namespace examples
