#include "scenarios/storage/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "core/units.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kLinkBuffer = 256 * MiB;  // page-locked bytes from which the link's copies come

/// The way that reads the fastest, as far as it was found (docs/lab/storage.md).
StorageCase fastest_reader(const StorageCase& c, const FilePlace& place) {
  const bool direct = c.cache == CacheState::cold && place.direct_offset_alignment > 0 && !place.in_memory;
  StorageCase reader = c;
  reader.way = direct ? StorageWay::direct : StorageWay::mmap_threads;
  reader.request = 4 * MiB;
  reader.threads = 8;
  reader.slots = 1;
  reader.slot_memory = HostMemory::pinned;
  return reader;
}

std::uint64_t slot_bytes_of(const StorageCase& c) {
  const std::uint64_t crews = c.crew == SlotCrew::together ? 1 : std::max<std::size_t>(c.threads, 1);
  return crews * std::max<std::size_t>(c.slots, 1) * c.chunk_bytes();
}

std::shared_ptr<StoredFile> shared_file(const StorageCase& c, const RunContext& bench) {
  const std::string key = fmt::format("storage {} {}", c.path, c.size);
  return bench.memo->remember<std::shared_ptr<StoredFile>>(key, [&] {
    return std::make_shared<StoredFile>(bench.machine.host().files(), c, bench.seed, bench.needs_data());
  });
}

}  // namespace

MemoryNeeds StorageTransfer::needs(const StorageCase& c) {
  const std::uint64_t parts = 4 * 64 * MiB;  // buffers that fill and check the file, and the slots of fastest_read()
  return {2 * slot_bytes_of(c) + std::min(c.size, kLinkBuffer) + parts, c.size};
}

StorageTransfer::StorageTransfer(const StorageCase& c, const RunContext& bench)
    : device_(bench.device),
      cache_(c.cache),
      file_(shared_file(c, bench)),
      on_gpu_(device_.allocate_device(c.size)),
      pinned_(device_.allocate_host(std::min(c.size, kLinkBuffer), HostMemory::pinned)),
      stream_(device_.make_stream(StreamKind::nonblocking)),
      loader_(make_file_loader(device_, *file_, c, on_gpu_.data)),
      reader_(make_file_loader(device_, *file_, c, nullptr)),
      fastest_(make_file_loader(device_, *file_, fastest_reader(c, file_->place()), nullptr)) {}

void StorageTransfer::prepare() {
  file_->prepare(cache_);
  if (cache_ == CacheState::cold) left_ = std::max(left_, file_->cached_share().value_or(0));
}

Region StorageTransfer::load() {
  std::vector<Region::Part> parts{{.name = "cpu"},
                                  {.name = "reading"},
                                  {.name = "link-wait"},
                                  {.name = "first-part"},
                                  {.name = "device-bytes", .unit = "B"}};
  Region region = stepped_region("storage", std::move(parts), [this](LapTimer& laps) {
    Files& files = device_.host().files();
    const std::optional<std::uint64_t> before = files.bytes_from_device();
    const double begun = device_.host().now();
    loader_->load();
    const WorkTimes times = loader_->times();
    laps.add(0, times.cpu);
    laps.add(1, times.moving);
    laps.add(2, times.waiting);
    laps.add(3, times.arrived - begun);
    const std::optional<std::uint64_t> after = files.bytes_from_device();
    if (before && after) laps.add(4, static_cast<double>(*after - *before));
  });
  region.reset = [this] { prepare(); };
  region.check = [this] { file_->check(device_, on_gpu_, "its output"); };
  return region;
}

Region StorageTransfer::reads(const char* name, FileLoader& loader) {
  Region region{.name = name, .clock = Clock::host, .submit = [&loader] { loader.load(); }};
  region.reset = [this] { prepare(); };
  region.warmed_by_another = true;
  return region;
}

Region StorageTransfer::read_alone() { return reads(kReadAlone, *reader_); }

Region StorageTransfer::fastest_read() { return reads(kFastestRead, *fastest_); }

Region StorageTransfer::link_only() {
  Region region{.name = kLinkOnly, .clock = Clock::host, .submit = [this] {
                  for (std::size_t offset = 0; offset < on_gpu_.bytes; offset += pinned_.bytes) {
                    const std::size_t bytes = std::min(pinned_.bytes, on_gpu_.bytes - offset);
                    stream_.copy({on_gpu_.data + offset, pinned_.data, bytes, Direction::h2d});
                  }
                  stream_.synchronize();
                }};
  region.warmed_by_another = true;
  return region;
}

void StorageTransfer::verify() {
  device_.fill_and_wait(on_gpu_, pattern::kPoison);
  run_once(device_.machine(), load());
  file_->check(device_, on_gpu_, "the loaded file");
}

}  // namespace xferbench
