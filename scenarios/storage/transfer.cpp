#include "scenarios/storage/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "measure/pattern.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kLinkBuffer = 256 * MiB;  // page-locked bytes from which the link's copies come

std::uint64_t slot_bytes_of(const StorageCase& c) {
  const std::uint64_t crews = c.crew == SlotCrew::together ? 1 : std::max<std::size_t>(c.threads, 1);
  return crews * std::max<std::size_t>(c.slots, 1) * c.chunk_bytes();
}

PartTable whole_file(const StorageCase& c) { return PartTable(0, {c.size}, false); }

std::shared_ptr<StoredFile> shared_file(const StorageCase& c, const RunContext& bench) {
  const std::string key = fmt::format("storage {} {}", c.path, c.size);
  return bench.memo->remember<std::shared_ptr<StoredFile>>(key, [&] {
    return std::make_shared<StoredFile>(bench.machine.host().files(), c, bench.seed, bench.needs_data());
  });
}

/// Ways to read that may be the fastest.
std::vector<StorageCase> readers(const StorageCase& c, bool simulated) {
  struct Reader {
    StorageWay way;
    std::size_t threads;
  };
  constexpr std::array kCold{Reader{StorageWay::direct, 1}, Reader{StorageWay::direct, 4},
                             Reader{StorageWay::threads, 1}, Reader{StorageWay::threads, 4}};
  constexpr std::array kWarm{Reader{StorageWay::mmap_threads, 8}, Reader{StorageWay::mmap_threads, 12},
                             Reader{StorageWay::threads, 8}};
  std::vector<StorageCase> all;
  for (const Reader& reader : c.cache == CacheState::cold ? std::span<const Reader>(kCold) : kWarm) {
    StorageCase made = c;
    made.way = reader.way;
    made.layout = FileLayout::whole;
    made.threads = reader.threads;
    made.request = 2 * MiB;
    made.slots = 1;
    // Direct reads take larger requests to the device where memory is contiguous.
    made.slot_memory = simulated ? HostMemory::pinned : HostMemory::registered_huge;
    made.crew = SlotCrew::apart;
    all.push_back(made);
  }
  return all;
}

/// Returns the case whose way reads the file into memory the fastest, found by two passes of each once a run.
StorageCase fastest_reader(const StorageCase& c, const RunContext& bench, StoredFile& file) {
  const std::string key =
      fmt::format("fastest reader {} {} {}", c.path, c.size, kCacheStates[static_cast<std::size_t>(c.cache)]);
  return bench.memo->remember<StorageCase>(key, [&] {
    const HostRuntime& host = bench.machine.host();
    StorageCase best = c;
    double shortest = std::numeric_limits<double>::infinity();
    const bool simulated = bench.device.capabilities().environment.simulated();
    for (const StorageCase& reader : readers(c, simulated)) {
      if (reader.is_direct() && !file.has_direct_route()) continue;
      const auto loader = make_file_loader(bench.device, file, reader, whole_file(c), nullptr);
      for (int pass = 0; pass < 2; ++pass) {
        file.prepare(c.cache);
        const double begun = host.now();
        loader->read();
        const double seconds = host.now() - begun;
        if (seconds >= shortest) continue;
        shortest = seconds;
        best = reader;
      }
    }
    return best;
  });
}

}  // namespace

MemoryNeeds StorageTransfer::needs(const StorageCase& c) {
  constexpr std::uint64_t kParts = 2 * 64 * MiB;  // with which the file is filled and checked
  constexpr std::uint64_t kSlots = 64 * MiB;      // of fastest_read()
  constexpr std::uint64_t kGaps = 4 * MiB;        // between the tensors of large models
  const std::uint64_t placed = c.layout == FileLayout::placed ? c.size : 0;
  const std::uint64_t gaps = c.layout == FileLayout::whole ? 0 : kGaps;
  return {slot_bytes_of(c) + std::min(c.size, kLinkBuffer) + kParts + kSlots, c.size + placed + gaps};
}

StorageTransfer::StorageTransfer(const StorageCase& c, const RunContext& bench, const StorageTransfer* same_work)
    : bench_(bench),
      device_(bench.device),
      case_(c),
      file_(shared_file(c, bench)),
      parts_(0, part_sizes(c), c.layout != FileLayout::whole),
      on_gpu_(same_work != nullptr && same_work->on_gpu_->bytes >= parts_.bytes_on_gpu()
                  ? same_work->on_gpu_
                  : std::make_shared<DeviceBuffer>(device_.allocate_device(parts_.bytes_on_gpu()))),
      stream_(device_.make_stream(StreamKind::nonblocking)),
      loader_(make_file_loader(device_, *file_, c, parts_, on_gpu_->data)) {}

void StorageTransfer::prepare() {
  file_->prepare(case_.cache);
  const std::optional<double> share = file_->cached_share();
  if (share) missed_ = std::max(missed_, case_.cache == CacheState::cold ? *share : 1 - *share);
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
    loader_->load();
    const WorkTimes times = loader_->times();
    laps.add(0, times.cpu);
    laps.add(1, times.moving);
    laps.add(2, times.waiting);
    if (times.first > 0) laps.add(3, times.first);
    const std::optional<std::uint64_t> after = files.bytes_from_device();
    if (before && after) laps.add(4, static_cast<double>(*after - *before));
  });
  region.reset = [this] { prepare(); };
  // The first pass from a disk is as slow as all others, and each takes long.
  region.warmed_by_another = case_.cache == CacheState::cold;
  region.check = [this] { check("its output"); };
  return region;
}

Region StorageTransfer::load_without_parts() {
  const Region whole = load();
  Region region{.name = whole.name, .streams = {stream_}, .submit = [this] { loader_->load(); }, .waits = true};
  region.reset = whole.reset;
  region.check = whole.check;
  return region;
}

Region StorageTransfer::reads(const char* name, std::shared_ptr<FileLoader> loader) {
  Region region{.name = name, .clock = Clock::host, .submit = [loader = std::move(loader)] { loader->read(); }};
  region.reset = [this] { prepare(); };
  region.warmed_by_another = true;
  return region;
}

Region StorageTransfer::read_alone() { return reads(kReadAlone, loader_); }

Region StorageTransfer::fastest_read() {
  return reads(kFastestRead,
               make_file_loader(device_, *file_, fastest_reader(case_, bench_, *file_), whole_file(case_), nullptr));
}

Region StorageTransfer::link_only() {
  pinned_ = device_.allocate_host(std::min(case_.size, kLinkBuffer), HostMemory::pinned);
  Region region{.name = kLinkOnly, .clock = Clock::host, .submit = [this] {
                  for (std::size_t offset = 0; offset < case_.size; offset += pinned_.bytes) {
                    const std::size_t bytes = std::min(pinned_.bytes, case_.size - offset);
                    stream_.copy({on_gpu_->data + offset, pinned_.data, bytes, Direction::h2d});
                  }
                  stream_.synchronize();
                }};
  region.warmed_by_another = true;
  return region;
}

void StorageTransfer::verify() {
  device_.fill_and_wait(*on_gpu_, pattern::kPoison);
  run_once(device_.machine(), load());
  check("the loaded file");
}

void StorageTransfer::check(std::string_view what) {
  const auto fetch = [this](std::span<std::byte> to, std::uint64_t offset) {
    parts_.fetch(device_, on_gpu_->data, to, offset);
  };
  file_->check(0, case_.size, fetch, what);
}

}  // namespace xferbench
