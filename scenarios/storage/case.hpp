// The cases of scenario storage: parsing, derived sizes, skip reasons, and the search space of `tune`.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/units.hpp"
#include "device/types.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/slot_workers.hpp"

namespace xferbench {

/// How the data of a file gets to the GPU.
enum class StorageWay {
  read,           ///< read() and a copy of pageable memory in turn
  threads,        ///< threads read() into page-locked slots while earlier ones cross the link
  direct,         ///< like threads, but reads bypass the page cache (O_DIRECT)
  mmap,           ///< mmap(), one copy of all, munmap()
  mmap_threads,   ///< threads copy from a mapping into page-locked slots
  mmap_register,  ///< mmap(), page-lock the mapping, one copy of all, and back
  uring,          ///< one thread keeps reads into page-locked slots in flight (io_uring); bypasses a cold page cache
  cufile,         ///< threads let NVIDIA's cuFile read into GPU memory, in a separate process
};
inline constexpr std::array<std::string_view, 8> kStorageWays{"read",         "threads",       "direct", "mmap",
                                                              "mmap-threads", "mmap-register", "uring",  "cufile"};
inline constexpr std::array<std::string_view, 2> kFileDirections{"load", "save"};

/// How the file lies on the GPU.
enum class FileLayout {
  whole,    ///< as in the file
  tensors,  ///< each tensor at a place of its own; no read and no copy has bytes of two tensors
  placed,   ///< like tensors: the file is loaded as a whole and then copied on the GPU, a copy for each tensor
};
inline constexpr std::array<std::string_view, 3> kFileLayouts{"whole", "tensors", "placed"};

/// How the file gets to several GPUs.
enum class FileShare {
  each,       ///< all of it to every GPU, by reads of its own
  split,      ///< a contiguous part to every GPU
  broadcast,  ///< all of it, read once: to the first GPU, and from there to the others
};
inline constexpr std::array<std::string_view, 3> kFileShares{"each", "split", "broadcast"};

/// What the page cache holds of the file when a pass begins.
enum class CacheState { cold, warm };
inline constexpr std::array<std::string_view, 2> kCacheStates{"cold", "warm"};

inline constexpr std::size_t kMadeFile = 1 * GiB;  ///< bytes of the file that is made, if none are given

struct StorageCase {
  std::string path;       ///< a folder, in which a file is made, or a file
  bool saves = false;     ///< whether the case saves GPU memory to a file instead of loading a file
  bool has_size = false;  ///< whether the user gave a size
  std::size_t size = 0;   ///< bytes of the file to make, or to load of the user's file (by default all)
  FileLayout layout = FileLayout::whole;
  CacheState cache = CacheState::cold;
  StorageWay way = StorageWay::read;
  std::size_t request = 0;  ///< bytes of a read and of a slot; 0: the way reads all at once
  std::size_t threads = 0;  ///< 0: the way has no threads of its own
  std::size_t slots = 0;    ///< slots of each thread or, with SlotCrew::together, of all threads
  HostMemory slot_memory = HostMemory::pinned;
  SlotCrew crew = SlotCrew::one_stream;
  std::size_t depth = 0;             ///< reads in flight; 0: the way has no read queue
  std::optional<FileShare> share{};  ///< nothing: the case is for one GPU
  std::vector<int> gpus{};           ///< GPU numbers; empty: the first GPU of the run

  /// Whether the way bypasses the page cache, so that only cold files make sense.
  [[nodiscard]] bool is_direct() const { return way == StorageWay::direct || way == StorageWay::cufile; }
  /// Whether the case's reads and writes bypass the page cache if the file system supports that.
  [[nodiscard]] bool past_cache() const {
    return is_direct() || (way == StorageWay::uring && cache == CacheState::cold);
  }
  /// Whether the way can also run without the GPU. Without its copy, mmap would only take page faults.
  [[nodiscard]] bool has_read_alone() const { return way != StorageWay::mmap && way != StorageWay::cufile; }
  /// Number of requests that may be in flight at the same time.
  [[nodiscard]] std::size_t abreast() const;
  /// Number of slots of all threads.
  [[nodiscard]] std::size_t all_slots() const;
  /// Bytes of a slot: the request size, or less if the file is too small to keep abreast() requests in flight.
  [[nodiscard]] std::size_t chunk_bytes() const;
};
StorageCase storage_case(const Case& c);
/// Throws UsageError if the path does not exist, if the case would write a user's file, or if a simulated machine
/// cannot open the file.
void require_path(const StorageCase& c, bool simulated);
/// Returns the case with an axis `size` and, if it saves, without the axis `cache`.
Case completed(const Case& c);

std::vector<Axis> storage_axes();

/// Returns why the case cannot run on a device with these capabilities, or on any if they are null; nothing if it can.
std::optional<SkipReason> reason_against(const StorageCase& c, const Capabilities* can);

/// Returns a search space over the ways to load one file. The cases must be legal and do the same work. Measures the
/// link, and the reads of one thread by each route that the cases take.
std::unique_ptr<Tunable> storage_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
