// Kernels that launch kernels; rules and sources in dynpar.hpp. Launches from the device need -rdc, so this file is a
// library of its own, and no other device code may refer to these kernels.
//
// A fire-and-forget child may run concurrently with its parent and its siblings. A tail-launched child may not.
// Children need no synchronization among each other, because each child writes its own slot and reads no other slot. A
// reader of the slots must wait for the first kernel only: a grid completes when all grids that it launched have
// completed (CUDA C++ Programming Guide, CUDA Dynamic Parallelism, Synchronization between parent and child grids).
#include "device/load.cuh"
#include "kernels/dynpar/device_launch.cuh"
#include "kernels/dynpar/dynpar.hpp"

namespace xferbench::kernels {

namespace {

__device__ void run_child(const ChildrenArgs& args, std::uint32_t index) {
  if (args.journal != nullptr) args.journal[1 + atomicAdd(args.journal, 1U)] = index;
  std::uint32_t value = child_seed(args.seed, index);
  for (std::uint32_t step = 0; step < args.work; ++step) value = value * args.factor + args.addend;
  args.slots[index] = value;
}

/// A child that launches nothing, because the host or a graph has launched it, or because it is a leaf of a tree.
__global__ void leaf(const ChildrenArgs args, std::uint32_t index) { run_child(args, index); }

__global__ void node(const ChildrenArgs args, std::uint32_t level, std::uint32_t index, bool tail);

__device__ void launch_child(const ChildrenArgs& args, std::uint32_t level, std::uint32_t index, bool tail) {
  const cudaStream_t stream = tail ? cudaStreamTailLaunch : cudaStreamFireAndForget;
  if (level + 1 < args.tree.levels()) {
    node<<<1, 1, 0, stream>>>(args, level, index, tail);
  } else {
    leaf<<<1, 1, 0, stream>>>(args, index);
  }
  note_launch(args.status);
}

/// A child that does its work and then launches its children. Fire-and-forget children may start before it has ended.
__global__ void node(const ChildrenArgs args, std::uint32_t level, std::uint32_t index, bool tail) {
  run_child(args, index);
  const std::uint32_t end = args.tree.first_child(level, index + 1);
  for (std::uint32_t c = args.tree.first_child(level, index); c < end; ++c) launch_child(args, level + 1, c, tail);
}

/// The first kernel of a tree. If it has several threads, they launch children in parallel, otherwise in order.
__global__ void tree_root(const ChildrenArgs args, std::uint32_t children, bool tail) {
  for (std::uint32_t c = threadIdx.x; c < children; c += blockDim.x) launch_child(args, 0, c, tail);
}

/// A child that does its work, then tail-launches the next child, which starts when this one has ended.
__global__ void chain_link(const ChildrenArgs args, std::uint32_t index) {
  run_child(args, index);
  if (index + 1 >= args.tree.children()) return;
  chain_link<<<1, 1, 0, cudaStreamTailLaunch>>>(args, index + 1);
  note_launch(args.status);
}

__global__ void chain_root(const ChildrenArgs args) {
  chain_link<<<1, 1, 0, cudaStreamTailLaunch>>>(args, 0);
  note_launch(args.status);
}

}  // namespace

void Child::preload() const { load(leaf); }

void Child::launch(void* cuda_stream) const {
  leaf<<<1, 1, 0, static_cast<cudaStream_t>(cuda_stream)>>>(args_, index_);
}

/// Loads the first kernel and the kernels that it will launch, because the device cannot load code. If the host loaded
/// code while the first kernel runs, the host might block until that kernel ends.
void Children::preload() const { load(leaf, node, tree_root, chain_link, chain_root); }

void Children::launch(void* cuda_stream) const {
  const auto stream = static_cast<cudaStream_t>(cuda_stream);
  if (way_ == LaunchMode::tail_chain) {
    chain_root<<<1, 1, 0, stream>>>(args_);
  } else {
    const std::uint32_t children = way_ == LaunchMode::none ? 0 : args_.tree.width(0);
    tree_root<<<1, launchers_, 0, stream>>>(args_, children, way_ == LaunchMode::tail);
  }
}

}  // namespace xferbench::kernels
