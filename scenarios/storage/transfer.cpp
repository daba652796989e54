#include "scenarios/storage/transfer.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/units.hpp"
#include "measure/pattern.hpp"
#include "scenarios/storage/shares.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kLinkBuffer = 256 * MiB;  // page-locked bytes from which the link's copies come

/// Mean bytes of the requests that a block device got between two moments, 0 without any; nothing if the system does
/// not tell.
std::optional<double> request_size(const std::optional<DeviceTraffic>& before,
                                   const std::optional<DeviceTraffic>& after, bool writes) {
  if (!before || !after) return std::nullopt;
  const std::uint64_t requests = writes ? after->writes - before->writes : after->reads - before->reads;
  const std::uint64_t bytes =
      writes ? after->bytes_written - before->bytes_written : after->bytes_read - before->bytes_read;
  return requests == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(requests);
}

std::shared_ptr<StoredFile> shared_file(const StorageCase& c, const RunContext& bench) {
  const std::string key = fmt::format("storage {} {} {}", c.path, c.size, c.saves);
  return bench.memo->remember<std::shared_ptr<StoredFile>>(key, [&] {
    return std::make_shared<StoredFile>(bench.machine.host().files(), c, bench.seed, !c.saves && bench.needs_data());
  });
}

/// Returns ways to read that may be the fastest.
std::vector<StorageCase> readers(const StorageCase& c) {
  struct Reader {
    StorageWay way;
    std::size_t threads;
    std::size_t request = 2 * MiB;
    std::size_t depth = 0;
  };
  constexpr std::array kCold{Reader{StorageWay::direct, 1}, Reader{StorageWay::direct, 4},
                             Reader{StorageWay::threads, 1}, Reader{StorageWay::threads, 4},
                             Reader{StorageWay::uring, 0, 1 * MiB, 16}};
  constexpr std::array kWarm{Reader{StorageWay::mmap_threads, 8}, Reader{StorageWay::mmap_threads, 12},
                             Reader{StorageWay::threads, 8}};
  std::vector<StorageCase> all;
  for (const Reader& reader : c.cache == CacheState::cold ? std::span<const Reader>(kCold) : kWarm) {
    StorageCase made = c;
    made.way = reader.way;
    made.layout = FileLayout::whole;
    made.threads = reader.threads;
    made.request = reader.request;
    made.depth = reader.depth;
    made.slots = 1;
    // If memory is physically contiguous, direct reads issue larger requests to the device.
    made.slot_memory = HostMemory::registered_huge;
    made.crew = SlotCrew::apart;
    all.push_back(made);
  }
  return all;
}

/// Returns a way to read or write the whole file without a GPU.
std::unique_ptr<FileWay> way_without_gpu(Device& device, StoredFile& file, const StorageCase& c) {
  const PartTable whole(0, {c.size}, false);
  const FileTask task{device, file, c, whole, nullptr};
  return c.saves ? make_file_saver(task) : make_file_loader(task);
}

/// Like way_without_gpu(); null if this system or the file system does not support the way.
std::unique_ptr<FileWay> way_if_there_is(Device& device, StoredFile& file, const StorageCase& c) {
  try {
    return way_without_gpu(device, file, c);
  } catch (const UnavailableError&) {
    return nullptr;
  }
}

/// Returns the case whose way reads or writes the file fastest without the GPU: tries two passes of each, once a run.
StorageCase fastest_reader(const StorageCase& c, const RunContext& bench, StoredFile& file) {
  const std::string key = fmt::format("fastest reader {} {} {} {}", c.path, c.size,
                                      kCacheStates[static_cast<std::size_t>(c.cache)], c.saves);
  return bench.memo->remember<StorageCase>(key, [&] {
    const HostRuntime& host = bench.machine.host();
    StorageCase best = c;
    double shortest = std::numeric_limits<double>::infinity();
    for (const StorageCase& reader : readers(c)) {
      const auto way = way_if_there_is(bench.device, file, reader);
      for (int pass = 0; way != nullptr && pass < 2; ++pass) {
        file.prepare(c.cache);
        const double begun = host.now();
        way->file_alone();
        const double seconds = host.now() - begun;
        if (seconds >= shortest) continue;
        shortest = seconds;
        best = reader;
      }
    }
    return best;
  });
}

std::vector<Device*> gpus_of(const StorageCase& c, const RunContext& bench) {
  return c.gpus.empty() ? std::vector{&bench.device} : devices_of(c.gpus, bench.machine);
}

/// Returns the part of the file and the memory of each GPU. `earlier`: memory that may be used again.
std::vector<FileOnGpu> places_for(const StorageCase& c, const RunContext& bench,
                                  const std::vector<FileOnGpu>& earlier) {
  const std::vector<Device*> devices = gpus_of(c, bench);
  std::vector<FileOnGpu> all;
  for (PartTable& parts : shares_of(c)) {
    Device& device = *devices[all.size()];
    const std::uint64_t bytes = parts.bytes_on_gpu();
    std::shared_ptr<DeviceBuffer> memory;
    if (all.size() < earlier.size()) memory = earlier[all.size()].memory;
    if (!memory || memory->bytes < bytes) memory = std::make_shared<DeviceBuffer>(device.allocate_device(bytes));
    all.push_back({&device, std::move(parts), std::move(memory)});
  }
  return all;
}

std::optional<PeerAccess> access_for(const StorageCase& c, const RunContext& bench) {
  if (c.share != FileShare::broadcast) return std::nullopt;
  const std::vector<Device*> devices = gpus_of(c, bench);
  return std::optional<PeerAccess>(std::in_place, std::span(devices).first(1), std::span(devices).subspan(1));
}

}  // namespace

MemoryNeeds StorageTransfer::needs(const StorageCase& c) {
  constexpr std::uint64_t kParts = 2 * 64 * MiB;  // buffers that fill and check the file
  constexpr std::uint64_t kSlots = 64 * MiB;      // slots of fastest_file()
  constexpr std::uint64_t kGaps = 4 * MiB;        // gaps between the tensors of large models
  const std::uint64_t share = largest_share(c);
  // Memory for the whole file before its parts are placed, or of cuFile's process.
  const std::uint64_t second = c.layout == FileLayout::placed || c.way == StorageWay::cufile ? share : 0;
  const std::uint64_t gaps = c.layout == FileLayout::whole ? 0 : kGaps;
  const std::uint64_t readers = c.share == FileShare::broadcast ? 1 : std::max<std::size_t>(c.gpus.size(), 1);
  return {readers * c.all_slots() * c.chunk_bytes() + std::min(c.size, kLinkBuffer) + kParts + kSlots,
          share + second + gaps};
}

StorageTransfer::StorageTransfer(const StorageCase& c, const RunContext& bench, const StorageTransfer* same_work)
    : bench_(bench),
      device_(bench.device),
      case_(c),
      file_(shared_file(c, bench)),
      place_(file_->place()),
      parts_(part_sizes(c).size()),
      access_(access_for(c, bench)),
      gpus_(places_for(c, bench, same_work != nullptr ? same_work->gpus_ : std::vector<FileOnGpu>())),
      way_(c.saves ? make_file_saver({device_, *file_, c, gpus_.front().parts, gpus_.front().memory->data})
                   : make_file_loader(*file_, c, gpus_)) {
  for (const FileOnGpu& gpu : gpus_) streams_.push_back(gpu.device->make_stream(StreamKind::nonblocking));
  if (!c.saves || !bench.needs_data()) return;
  file_->hand_out([this](std::span<const std::byte> bytes, std::uint64_t offset) {
    device_.copy_and_wait({gpus_.front().memory->data + offset, bytes.data(), bytes.size(), Direction::h2d});
  });
}

void StorageTransfer::prepare() {
  file_->prepare(case_.cache);
  const std::optional<double> share = file_->cached_share();
  if (share) missed_ = std::max(missed_, case_.cache == CacheState::cold ? *share : 1 - *share);
}

std::optional<std::uint64_t> StorageTransfer::bytes_from_device() {
  if (const CufileProcess* const other = way_->other_process()) return other->device_bytes();
  return device_.host().files().bytes_from_device();
}

Region StorageTransfer::whole_way() {
  std::vector<Region::Part> parts{{.name = "cpu"},
                                  {.name = case_.saves ? "writing" : "reading"},
                                  {.name = "link-wait"},
                                  {.name = case_.saves ? "written" : "first-part"}};
  const std::size_t request_part = parts.size();
  if (device_.host().files().traffic_of(place_)) parts.push_back({.name = "device-request", .unit = "B"});
  const std::size_t bytes_part = parts.size();
  if (!case_.saves) parts.push_back({.name = "device-bytes", .unit = "B"});
  Region region = stepped_region("storage", std::move(parts), [this, request_part, bytes_part](LapTimer& laps) {
    Files& files = device_.host().files();
    const std::optional<DeviceTraffic> earlier = files.traffic_of(place_);
    const std::optional<std::uint64_t> before = bytes_from_device();
    way_->transfer();
    const WorkTimes times = way_->times();
    laps.add(0, times.cpu);
    laps.add(1, times.moving);
    laps.add(2, times.waiting);
    const double first = case_.saves ? way_->written() : times.first;
    if (first > 0) laps.add(3, first);
    const std::optional<std::uint64_t> after = bytes_from_device();
    const auto size = request_size(earlier, files.traffic_of(place_), case_.saves);
    if (size) laps.add(request_part, *size);
    if (before && after && !case_.saves) laps.add(bytes_part, static_cast<double>(*after - *before));
  });
  region.reset = [this] { prepare(); };
  // No warm-up for cold files: the first pass from a disk is as slow as all others, and each takes long.
  region.warmed_by_another = case_.cache == CacheState::cold;
  region.check = [this] { check("its output"); };
  return region;
}

Region StorageTransfer::without_parts() {
  const Region whole = whole_way();
  Region region{
      .name = whole.name, .streams = {streams_.front()}, .submit = [this] { way_->transfer(); }, .waits = true};
  region.reset = whole.reset;
  region.check = whole.check;
  return region;
}

Region StorageTransfer::file_passes(const char* name, std::shared_ptr<FileWay> way) {
  Region region{.name = name, .clock = Clock::host, .submit = [way = std::move(way)] { way->file_alone(); }};
  region.reset = [this] { prepare(); };
  region.warmed_by_another = true;
  return region;
}

Region StorageTransfer::file_alone() { return file_passes(case_.saves ? kWriteAlone : kReadAlone, way_); }

Region StorageTransfer::fastest_file() {
  return file_passes(case_.saves ? kFastestWrite : kFastestRead,
                     way_without_gpu(device_, *file_, fastest_reader(case_, bench_, *file_)));
}

Region StorageTransfer::link_only() {
  pinned_ = device_.allocate_host(std::min(case_.size, kLinkBuffer), HostMemory::pinned);
  Region region{.name = kLinkOnly, .clock = Clock::host, .submit = [this] {
                  const std::size_t over_links = case_.share == FileShare::broadcast ? 1 : gpus_.size();
                  for (std::size_t i = 0; i < over_links; ++i) copy_pinned(i);
                  for (std::size_t i = 0; i < over_links; ++i) streams_[i].synchronize();
                }};
  region.warmed_by_another = true;
  return region;
}

void StorageTransfer::copy_pinned(std::size_t gpu) const {
  const std::uint64_t all = gpus_[gpu].parts.bytes();
  for (std::uint64_t offset = 0; offset < all; offset += pinned_.bytes) {
    const std::size_t bytes = std::min<std::uint64_t>(pinned_.bytes, all - offset);
    std::byte* const there = gpus_[gpu].memory->data + offset;
    streams_[gpu].copy(case_.saves ? Copy{pinned_.data, there, bytes, Direction::d2h}
                                   : Copy{there, pinned_.data, bytes, Direction::h2d});
  }
}

void StorageTransfer::verify() {
  if (CufileProcess* const other = way_->other_process()) {
    other->fill(pattern::kPoison);
  } else if (case_.saves) {
    file_->poison();
  } else {
    for (const FileOnGpu& gpu : gpus_) gpu.device->fill_and_wait(*gpu.memory, pattern::kPoison);
  }
  run_once(device_.machine(), whole_way());
  check(case_.saves ? "the saved file" : "the loaded file");
}

void StorageTransfer::check(std::string_view what) {
  if (case_.saves) file_->prepare(CacheState::cold);
  for (const FileOnGpu& gpu : gpus_) {
    const auto fetch = [this, &gpu](std::span<std::byte> to, std::uint64_t offset) {
      if (case_.saves) return file_->cached().read_at(to, offset);
      if (CufileProcess* const other = way_->other_process()) return other->fetch(to, offset);
      gpu.parts.fetch(*gpu.device, gpu.memory->data, to, offset);
    };
    const int number = device_.capabilities().environment.number_of(gpu.device->number());
    const std::string where = case_.gpus.empty() ? std::string(what) : fmt::format("{} on GPU {}", what, number);
    file_->check(gpu.parts.parts().front().first, gpu.parts.bytes(), fetch, where);
  }
}

}  // namespace xferbench
