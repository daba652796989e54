// The list of pieces that a kernel reads, and where it lies.
#pragma once

#include <cstddef>

#include "device/device.hpp"
#include "device/memory.hpp"
#include "kernels/pieces.hpp"
#include "scenarios/scatter/case.hpp"

namespace xferbench {

/// The list of pieces that a kernel reads: in page-locked host memory and, unless it is mapped, on the GPU.
class DeviceList {
 public:
  DeviceList(Device& device, PieceList where, const std::vector<Copy>& copies)
      : where_(where),
        on_host_(device.allocate_host(copies.size() * sizeof(kernels::ListedPiece), HostMemory::pinned)) {
    auto* const entries = reinterpret_cast<kernels::ListedPiece*>(on_host_.data);
    for (std::size_t i = 0; i < copies.size(); ++i) {
      entries[i] = {copies[i].destination, copies[i].source, copies[i].bytes};
    }
    if (where == PieceList::mapped) return;
    on_gpu_ = device.allocate_device(on_host_.bytes);
    if (where == PieceList::resident) device.copy_and_wait(transfer());
  }

  /// Enqueues the copy of the list to the GPU if each pass needs it (PieceList::copied).
  void bring(StreamView stream) const {
    if (where_ == PieceList::copied) stream.copy(transfer());
  }
  [[nodiscard]] const kernels::ListedPiece* entries() const {
    return reinterpret_cast<const kernels::ListedPiece*>(where_ == PieceList::mapped ? on_host_.data : on_gpu_.data);
  }

 private:
  [[nodiscard]] Copy transfer() const { return {on_gpu_.data, on_host_.data, on_host_.bytes, Direction::h2d}; }

  PieceList where_;
  HostBuffer on_host_;
  DeviceBuffer on_gpu_;
};

}  // namespace xferbench
