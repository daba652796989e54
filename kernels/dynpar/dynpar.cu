// Kernels that launch kernels. The rules and their source are in dynpar.hpp. Compiled with -rdc, as a launch from the
// device needs, and therefore in a library of its own: nothing else may refer to these kernels from device code.
//
// What may overlap: a child that was fired with whatever launched it and with its siblings; a child in a tail with
// nothing of its own family. What must be waited for: a child reads nothing that another wrote, and each writes a slot
// of its own, so only whoever reads the slots waits, for the first kernel: a grid has ended when all grids that it
// launched have (CUDA C++ Programming Guide, CUDA Dynamic Parallelism, Synchronization between parent and child grids).
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

/// A child without children: of the host, of a graph, and the leaves of a tree.
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

/// A child that works and then launches its own. Those that it fires may begin before it has ended.
__global__ void node(const ChildrenArgs args, std::uint32_t level, std::uint32_t index, bool tail) {
  run_child(args, index);
  const std::uint32_t end = args.tree.first_child(level, index + 1);
  for (std::uint32_t c = args.tree.first_child(level, index); c < end; ++c) launch_child(args, level + 1, c, tail);
}

/// The first kernel of a tree. Its threads launch side by side; with one thread the children are launched in order.
__global__ void tree_root(const ChildrenArgs args, std::uint32_t children, bool tail) {
  for (std::uint32_t c = threadIdx.x; c < children; c += blockDim.x) launch_child(args, 0, c, tail);
}

/// Works, and launches the next: that one begins when this one has ended.
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

/// The children, too: the device can load nothing, and the host might be held up behind the kernel that needs them.
// All that kernels will launch, too: the device can load nothing.
void Children::preload() const { load(leaf, node, tree_root, chain_link, chain_root); }

void Children::launch(void* cuda_stream) const {
  const auto stream = static_cast<cudaStream_t>(cuda_stream);
  if (way_ == LaunchWay::tail_chain) {
    chain_root<<<1, 1, 0, stream>>>(args_);
  } else {
    const std::uint32_t children = way_ == LaunchWay::none ? 0 : args_.tree.width(0);
    tree_root<<<1, launchers_, 0, stream>>>(args_, children, way_ == LaunchWay::tail);
  }
}

}  // namespace xferbench::kernels
