// The bytes of the simulated device: its memory, and what is in flight. Data move for real, but of large payloads only
// a part (PayloadPart), so that most memory is never touched.
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

/// What is moved and checked of a payload: all of up to 4 MiB; of more, the first 256 bytes of stretches of like
/// length, 2048 to 4096 of them, or of each MiB. So every one of up to 2048 chunks shows whether it was there in time.
PayloadPart part_of_payload(std::size_t bytes);

/// A stretch of memory: `bytes` from `offset` on, which hold `value` throughout or, where there is none, what lies in
/// the pages.
using Stretch = std::function<void(std::size_t offset, std::size_t bytes, std::optional<std::byte> value)>;

/// One allocation on the simulated GPU. Whole pages that are filled with a value only take a note of it until a part of
/// them is written. What was never written may hold anything, as on a GPU: copies take 0xFF from it, which kernels by
/// position keep, so that neither has anything to do.
class DeviceMemory {
 public:
  DeviceMemory(std::size_t bytes, std::size_t device);

  /// Whose memory it is.
  [[nodiscard]] std::size_t device() const { return owner_; }

  [[nodiscard]] std::byte* data() const { return pages_.data(); }
  [[nodiscard]] std::size_t size() const { return pages_.size(); }

  void fill(std::size_t offset, std::size_t bytes, std::byte value);
  /// Calls body for the stretches of a range, in order.
  void for_each(std::size_t offset, std::size_t bytes, const Stretch& body) const;
  /// Puts into the pages what has only been noted, so that they can be read directly.
  void write_out(std::size_t offset, std::size_t bytes);
  /// The same for a range that is about to be overwritten: at its ends only.
  void prepare_to_write(std::size_t offset, std::size_t bytes);

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::int16_t kWritten = -1;
  static constexpr std::int16_t kUntouched = -2;

  [[nodiscard]] std::size_t end_of(std::size_t page) const { return std::min(size(), (page + 1) * kPage); }

  Pages pages_;
  std::size_t owner_;
  std::vector<std::int16_t> noted_;  // value of each page, kWritten or kUntouched
};

/// Keeps pages for the next operation: touching fresh ones costs more than the copies they hold.
class PagePool {
 public:
  Pages take(std::size_t bytes);
  void give_back(Pages pages);

 private:
  std::vector<Pages> idle_;
};

/// What one operation has read or computed at its start and writes when it finishes.
class InFlight : NonCopyable {
 public:
  explicit InFlight(PagePool& pool) : pool_(pool) {}
  ~InFlight() { pool_.give_back(std::move(pages_)); }

 private:
  friend class Memory;
  struct Piece {
    std::byte* destination;
    std::size_t bytes;
    std::optional<std::byte> value;  // or the next bytes in the pages
  };
  /// Where the bytes of all pieces that have no value find room.
  std::byte* make_room();

  PagePool& pool_;
  Pages pages_;
  std::vector<Piece> pieces_;
};

/// All memory of a simulated machine that was handed out, of its GPUs and of its host, by address. What is not found
/// here is the host's, too, and ordinary.
class Memory {
 public:
  /// `device`: the number of the device whose memory it is.
  DeviceView allocate_device(std::size_t bytes, std::size_t device);
  /// The number of the device whose memory that is; nothing if it is the host's.
  [[nodiscard]] std::optional<std::size_t> device_of(const std::byte* data) const;
  /// `socket`: whose memory it is.
  HostView allocate_host(std::size_t bytes, HostMemory kind, std::size_t socket);
  /// The socket whose memory that is; nothing if it was not handed out here.
  [[nodiscard]] std::optional<std::size_t> socket_of(const std::byte* data) const;
  void free(const std::byte* data) { device_.erase(data), host_.erase(data); }

  /// Throws DeviceError unless it is ordinary memory, an allocation that was handed out or a part of one, and no page
  /// of it is pinned yet.
  void pin(const HostView& memory);
  void unpin(const std::byte* data);
  /// Whether the host's side of a copy is ordinary memory, or not all of it pinned at once.
  [[nodiscard]] bool pageable(const Copy& copy) const;
  /// From now on only a part of that allocation is moved, on small pages as far as it is not touched yet; the part.
  PayloadPart move_part_of(const HostView& host);

  void fill(std::byte* begin, std::size_t bytes, std::byte value);
  /// Takes what a copy moves as it is now.
  void read(const Copy& copy, InFlight& data);
  /// Takes what a kernel writes that reads its inputs now.
  void compute(const Kernel& kernel, InFlight& data);
  void write(const InFlight& data);
  /// Inverts the lowest bit of a byte.
  void flip(std::byte* at);

 private:
  struct Allocation {
    Pages pages;
    HostMemory kind;
    std::size_t socket;
    std::map<std::size_t, std::size_t> pinned{};  // in place: from where, and up to which page's end
    PayloadPart part{};                           // that is moved

    [[nodiscard]] std::size_t size() const { return pages.size(); }
    [[nodiscard]] bool is_pinned(std::size_t begin, std::size_t end) const;
  };

  /// Calls body for the stretches of `source` that are moved to `destination`.
  void for_each(const std::byte* destination, const std::byte* source, std::size_t bytes, const Stretch& body) const;
  void for_each(const std::byte* begin, std::size_t bytes, const Stretch& body) const;
  void write_out(std::span<const std::byte> range);
  /// By a kernel whose output follows not from its inputs by position.
  void write_out_what_is_read(const Kernel& kernel);

  std::map<const std::byte*, DeviceMemory> device_;
  std::map<const std::byte*, Allocation> host_;
};

/// The bytes of a simulated machine, and whether they move. Outlives the operations that hold some.
struct DataMovement {
  bool on = true;
  PagePool pages;
  Memory memory;
};

}  // namespace xferbench::sim
