// The parts of a file, such as the tensors of a model, and where each lies on the GPU.
#pragma once

#include <cstddef>

#include "device/device.hpp"
#include "model/partition.hpp"
#include "scenarios/storage/case.hpp"

namespace xferbench {

/// Offsets in the file and on the GPU, in bytes.
struct FilePart {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t place = 0;
};

/// The parts of a range of a file, in order and without gaps.
class PartTable {
 public:
  /// `aligned`: whether each part begins at a multiple of 256 bytes on the GPU, as allocators give it; else they follow
  /// each other as in the file.
  PartTable(std::uint64_t first, const std::vector<std::uint64_t>& sizes, bool aligned);

  [[nodiscard]] const std::vector<FilePart>& parts() const { return parts_; }
  [[nodiscard]] std::uint64_t bytes() const;
  /// Bytes on the GPU, with gaps.
  [[nodiscard]] std::uint64_t bytes_on_gpu() const;
  /// Offset on the GPU of a byte of the file.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t offset) const;
  /// Cuts the parts into requests of at most `most` bytes: none has bytes of two parts.
  [[nodiscard]] std::vector<model::Chunk> chunks(std::size_t most) const;
  /// Copies a range of the file to `to`, from GPU memory that begins at `on_gpu` and has the layout of this table.
  void fetch(Device& device, const std::byte* on_gpu, std::span<std::byte> to, std::uint64_t offset) const;

 private:
  std::vector<FilePart> parts_;
};

/// Bytes of each part of the case's file: of its header and its tensors if it is a user's, else of 300 tensors, whose
/// sizes are spread evenly over four decades. One part with FileLayout::whole. Throws UsageError if a user's file has
/// no safetensors header.
std::vector<std::uint64_t> part_sizes(const StorageCase& c);

}  // namespace xferbench
