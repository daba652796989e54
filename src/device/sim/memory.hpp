// Memory contents and data in flight of a simulated machine. Bytes really move, but of a large payload only a part
// (PayloadPart), so that most memory is never touched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/non_copyable.hpp"
#include "device/kernel.hpp"
#include "device/memory.hpp"
#include "device/pages.hpp"
#include "device/types.hpp"

namespace xferbench::sim {

/// Returns the part of a payload that is moved and checked: all of it up to 4 MiB, otherwise the first 256 bytes of
/// each stride. The stride is bytes / 4096, rounded up to a power of two, at most 1 MiB. So each of up to 2048 chunks
/// contains bytes that show whether it arrived in time.
PayloadPart part_of_payload(std::size_t bytes);

/// Callback for `bytes` bytes of memory from `offset` on. If `value` is given, all these bytes have that value;
/// otherwise their values are in memory.
using SpanVisitor = std::function<void(std::size_t offset, std::size_t bytes, std::optional<std::byte> value)>;

/// One allocation on a simulated GPU. Filling a whole page only stores the fill value; the page itself is written when
/// a part of it is overwritten or a kernel reads it. Memory that was never written reads as 0xFF (NaN). Element-wise
/// kernels pass NaN on, so neither copies nor kernels have to touch such pages.
class DeviceMemory {
 public:
  DeviceMemory(std::size_t bytes, std::size_t device);

  [[nodiscard]] std::size_t device() const { return owner_; }

  [[nodiscard]] std::byte* data() const { return pages_.data(); }
  [[nodiscard]] std::size_t size() const { return pages_.size(); }

  void fill(std::size_t offset, std::size_t bytes, std::byte value);
  /// Calls `body`, in order, for each subrange whose pages have the same stored fill value or were all written.
  void for_each(std::size_t offset, std::size_t bytes, const SpanVisitor& body) const;
  /// Writes stored fill values to the pages of a range, so that the pages can be read directly.
  void write_out(std::size_t offset, std::size_t bytes);
  /// Prepares a range to be overwritten. Stored fill values are written only to pages that the range covers in part.
  void prepare_to_write(std::size_t offset, std::size_t bytes);

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::int16_t kWritten = -1;
  static constexpr std::int16_t kUntouched = -2;

  [[nodiscard]] std::size_t end_of(std::size_t page) const { return std::min(size(), (page + 1) * kPage); }

  Pages pages_;
  std::size_t owner_;
  std::vector<std::int16_t> noted_;  // for each page: the stored fill value, kWritten or kUntouched
};

/// Pool that reuses pages for data in flight, because touching new pages costs more than copying into them.
class PagePool {
 public:
  Pages take(std::size_t bytes);
  void give_back(Pages pages);

 private:
  std::vector<Pages> idle_;
};

/// Owner of the data that an operation reads or computes when it starts, and writes when it finishes.
class InFlight : NonCopyable {
 public:
  explicit InFlight(PagePool& pool) : pool_(pool) {}
  ~InFlight() { pool_.give_back(std::move(pages_)); }

 private:
  friend class Memory;
  struct Piece {
    std::byte* destination;
    std::size_t bytes;
    std::optional<std::byte> value;  // value of all bytes; empty: the bytes are in pages_, in order
  };
  /// Makes pages_ large enough for all pieces without a value, and returns the start of pages_.
  std::byte* make_room();

  PagePool& pool_;
  Pages pages_;
  std::vector<Piece> pieces_;
};

/// All allocations of a simulated machine, on GPUs and host, by address. Any other address is ordinary host memory.
class Memory {
 public:
  /// `device`: number of the device that owns the memory.
  DeviceView allocate_device(std::size_t bytes, std::size_t device);
  /// Returns the number of the device that owns the memory; nothing for host memory.
  [[nodiscard]] std::optional<std::size_t> device_of(const std::byte* data) const;
  /// `socket`: CPU socket that owns the memory.
  HostView allocate_host(std::size_t bytes, HostMemory kind, std::size_t socket);
  /// Returns the CPU socket that owns the memory; nothing if it was not allocated here.
  [[nodiscard]] std::optional<std::size_t> socket_of(const std::byte* data) const;
  /// Whether the memory was allocated here on transparent huge pages, so that a disk needs few addresses for it.
  [[nodiscard]] bool on_huge_pages(const std::byte* data) const;
  void free(const std::byte* data) { device_.erase(data), host_.erase(data); }

  /// Throws DeviceError unless the range lies within one allocation of pageable memory and none of its pages is
  /// pinned. Read-only ranges may share pages: they are mappings of a file, which on a real host have addresses of
  /// their own and here are all the file's memory.
  void pin(const HostView& memory);
  void unpin(const std::byte* data);
  /// Whether the copy's host range is pageable: ordinary memory that no single registration pins in full.
  [[nodiscard]] bool pageable(const Copy& copy) const;
  /// Restricts data movement in the allocation `host` to part_of_payload(), and gives the allocation small pages.
  /// Returns the part.
  PayloadPart move_part_of(const HostView& host);

  void fill(std::byte* begin, std::size_t bytes, std::byte value);
  /// Reads the current source bytes of the copies into `data`.
  void read(std::span<const Copy> copies, InFlight& data);
  /// Computes the kernel's output from its current inputs into `data`.
  void compute(const Kernel& kernel, InFlight& data);
  void write(const InFlight& data);
  /// Inverts the lowest bit of a byte.
  void flip(std::byte* at);

 private:
  struct Allocation {
    Pages pages;
    HostMemory kind;
    std::size_t socket;
    std::multimap<std::size_t, std::size_t> pinned{};  // pinned ranges: start offset, and end rounded up to a page
    PayloadPart part{};                                // the bytes that copies and kernels really move

    [[nodiscard]] std::size_t size() const { return pages.size(); }
    [[nodiscard]] bool is_pinned(std::size_t begin, std::size_t end) const;
  };

  /// Calls body for those ranges of `source` whose data is really moved to `destination`.
  void for_each(const std::byte* destination, const std::byte* source, std::size_t bytes,
                const SpanVisitor& body) const;
  void for_each(const std::byte* begin, std::size_t bytes, const SpanVisitor& body) const;
  void write_out(std::span<const std::byte> range);
  /// Writes stored fill values to all pages that a kernel other than an element-wise one may read.
  void write_out_reads(const Kernel& kernel);

  std::map<const std::byte*, DeviceMemory> device_;
  std::map<const std::byte*, Allocation> host_;
};

/// State of the simulated data movement. It must outlive operations that hold data in flight.
struct DataMovement {
  bool on = true;
  PagePool pages;
  Memory memory;
};

}  // namespace xferbench::sim
