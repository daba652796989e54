#include "scenarios/storage/case.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "scenarios/storage/shares.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kBlock = 4 * KiB;  // requests are multiples of it, as direct reads need it
constexpr std::array<std::string_view, 2> kStorageSlots{"pinned", "registered-huge"};

/// Returns the size of the user's file; if `path` is a folder or does not exist, the size of the file to make.
std::uint64_t usual_size(const std::string& path) {
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(path, error) && !error;
  const std::uintmax_t size = is_file ? std::filesystem::file_size(path, error) : 0;
  return is_file && !error ? size : kMadeFile;
}

}  // namespace

void require_path(const StorageCase& c, bool simulated) {
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::status(c.path, error).type();
  const auto refuse = [&c](std::string_view why) {
    throw UsageError(fmt::format("--path {}: {}", printable(c.path), why));
  };
  const bool exists = type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::none;
  if (!exists && !simulated) {
    const std::string said =
        error && type == std::filesystem::file_type::none ? error.message() : "no such file or folder";
    refuse(said + "; give a folder, in which a file is made, or a file");
  }
  if (!exists || type == std::filesystem::file_type::directory) return;
  if (c.saves) refuse("--dir save never writes a file of yours; give a folder, in which a file is made");
  if (!simulated) return;
  const auto bytes = std::filesystem::file_size(c.path, error);
  refuse(
      fmt::format("--simulate opens no files; write --path . --size {}", error ? "256M" : fmt::format("{}B", bytes)));
}

Case completed(const Case& c) {
  const StorageCase parsed = storage_case(c);
  const std::vector<Axis> axes = storage_axes();
  Case made = parsed.saves ? c.with("cache", {}) : c;
  if (!parsed.has_size) made.set(*std::ranges::find(axes, "size", &Axis::name), std::uint64_t{parsed.size});
  return made;
}

StorageCase storage_case(const Case& c) {
  return {
      .path = c.word("path"),
      .saves = c.is("dir", "save"),
      .has_size = c.has("size"),
      .size = c.has("size") ? c.count("size") : usual_size(c.word("path")),
      .layout = c.has("layout") ? c.one_of<FileLayout>("layout", kFileLayouts) : FileLayout::whole,
      .cache = c.has("cache") && !c.is("dir", "save") ? c.one_of<CacheState>("cache", kCacheStates) : CacheState::cold,
      .way = c.one_of<StorageWay>("way", kStorageWays),
      .request = c.count_or("request", 0),
      .threads = c.count_or("threads", 0),
      .slots = c.count_or("slots", 0),
      .slot_memory = host_memory(c.has("slot-memory") ? c.word("slot-memory") : kStorageSlots.front()),
      .crew = c.has("crew") ? c.one_of<SlotCrew>("crew", kSlotCrews) : SlotCrew::one_stream,
      .depth = c.count_or("depth", 0),
      .share = c.has("sharing") ? std::optional(c.one_of<FileShare>("sharing", kFileShares)) : std::nullopt,
      .gpus = c.has("gpus") ? gpu_numbers(c.word("gpus")) : std::vector<int>{}};
}

std::size_t StorageCase::abreast() const { return std::max({threads, depth, std::size_t{1}}); }

std::size_t StorageCase::all_slots() const {
  if (way == StorageWay::uring) return depth + 1;  // one slot more than reads, because one slot crosses the link
  return (crew == SlotCrew::together ? 1 : std::max<std::size_t>(threads, 1)) * std::max<std::size_t>(slots, 1);
}

std::size_t StorageCase::chunk_bytes() const {
  constexpr std::size_t kLeast = 64 * KiB;
  const std::size_t parts = crew == SlotCrew::together ? 8 : abreast();
  const std::size_t of_one = size / parts;
  return std::min(request, std::max(kLeast, (of_one + kBlock - 1) / kBlock * kBlock));
}

std::vector<Axis> storage_axes() {
  const std::vector<std::string> with_slots{"threads", "direct", "mmap-threads"};
  const auto of_slots = [&with_slots](Axis axis) { return only_with("way", with_slots, std::move(axis)); };
  const std::vector<std::string> with_threads{"threads", "direct", "mmap-threads", "cufile"};
  return {
      {.name = "path",
       .kind = AxisKind::file,
       .defaults = ".",
       .help = "a folder, in which a file is made that vanishes with the program, or a file, which is only read",
       .example = "model.safetensors"},
      choice_axis("dir", words(kFileDirections),
                  {.help = "load: from the file to the GPU (default); save: from the GPU to a file that is made, until "
                           "fdatasync has returned, by ways read (copy and write() in turn), threads, direct"}),
      size_axis("size", {.help = "bytes of the file that is made, by default 1G, or of your file, by default all"}),
      choice_axis(
          "layout", words(kFileLayouts),
          {.help = "whole: as in the file (default); tensors: each tensor of a safetensors file, or of 300 of a made "
                   "file, by itself to a place of its own; placed: as a whole, then copied to these places"}),
      choice_axis("cache", words(kCacheStates),
                  {.defaults = "cold,warm", .help = "whether the page cache holds the file: nothing or all of it"}),
      choice_axis("way", words(kStorageWays),
                  {.defaults = "read,threads,direct,mmap",
                   .tuning = "read,threads,direct,mmap,mmap-threads,mmap-register,uring",
                   .help = "read: read() and a copy in turn; threads: into page-locked slots while earlier ones cross "
                           "the link; direct: likewise, past the page cache; mmap: one copy of a mapping; "
                           "mmap-threads: from a mapping into slots; mmap-register: page-lock the mapping; uring: "
                           "one thread keeps reads into slots in flight by io_uring, cold past the page cache; cufile: "
                           "NVIDIA's cuFile (GPUDirect Storage)"}),
      only_with(
          "way", with_threads,
          {.name = "threads", .defaults = "1,4,8", .tuning = "1,4,8,12", .help = "CPU threads that read", .max = 256}),
      only_with("way", {"read", "threads", "direct", "mmap-threads", "uring", "cufile"},
                size_axis("request", {.defaults = "2M",
                                      .tuning = "1M,2M,4M",
                                      .help = "bytes of a read and of a slot, a multiple of 4 KiB",
                                      .min = kBlock,
                                      .max = 1 * GiB})),
      of_slots(
          {.name = "slots", .defaults = "3", .help = "slots of each thread, with --crew together in all", .max = 1024}),
      only_with("way", {"threads", "direct", "mmap-threads", "uring"},
                choice_axis("slot-memory", words(kStorageSlots),
                            {.defaults = "pinned",
                             .tuning = "pinned,registered-huge",
                             .help = "kind of host memory of the slots; direct reads are faster into huge pages, which "
                                     "are contiguous"})),
      of_slots(choice_axis("crew", words(kSlotCrews),
                           {.help = "one-stream: slots for each thread, one stream for all; apart: a stream for each; "
                                    "together: all threads fill one slot after the other; default: one-stream"})),
      only_with("way", {"uring"},
                {.name = "depth",
                 .defaults = "16",
                 .tuning = "4,16,64",
                 .help = "reads that io_uring has in flight; there is one slot more",
                 .max = 512}),
      choice_axis("sharing", words(kFileShares),
                  {.help = "several GPUs (--gpus): each reads all of the file, each gets a part, or one reads all and "
                           "passes it on; default with --gpus: all three"}),
  };
}

std::optional<SkipReason> reason_against(const StorageCase& c, const Capabilities* can) {
  if (c.request % kBlock != 0) {
    return SkipReason::impossible(fmt::format("--request {} is not a multiple of 4 KiB", format_size_exact(c.request)));
  }
  if (c.saves && c.way != StorageWay::read && c.way != StorageWay::threads && !c.is_direct()) {
    return SkipReason::impossible("--dir save writes by --way read, threads or direct");
  }
  if (c.saves && c.layout != FileLayout::whole) {
    return SkipReason::impossible("--dir save writes the file as a whole; use --layout whole");
  }
  if (!c.saves && c.is_direct() && c.cache == CacheState::warm) {
    return SkipReason::meaningless(fmt::format("way {} reads past the page cache; use --cache cold",
                                               kStorageWays[static_cast<std::size_t>(c.way)]));
  }
  if (c.way == StorageWay::cufile && can != nullptr && can->environment.simulated()) {
    return SkipReason::unavailable("cuFile reads real files into real GPUs; leave out --simulate");
  }
  if (c.way == StorageWay::cufile && c.layout != FileLayout::whole) {
    return SkipReason::impossible("--way cufile loads the file as a whole; use --layout whole");
  }
  if (c.size == 0) return SkipReason::impossible(c.path + " is empty: there is nothing to load");
  if (auto reason = reason_against_sharing(c, can)) return reason;
  if (can != nullptr && can->environment.simulated() && !c.past_cache() && c.slot_memory != HostMemory::pinned) {
    return SkipReason::unavailable(
        "through the page cache the simulator does not distinguish kinds of pinned memory; use --slot-memory pinned");
  }
  return std::nullopt;
}

}  // namespace xferbench
