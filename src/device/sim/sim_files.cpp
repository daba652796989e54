#include "device/sim/sim_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "device/sim/sim_host.hpp"

namespace xferbench::sim {

/// The disk and the host whose threads wait for it.
class SimFiles::Disk {
 public:
  Disk(SimHost& on, const Profile& of, DataMovement& moves) : host(on), profile(of), data(moves) {}

  /// Reads past the page cache; the calling thread waits.
  void read(std::span<std::byte> to) { wait_until(start_read(to)); }
  /// Asks the device for bytes that go to the program's memory, past the page cache. Returns when they arrive, by the
  /// host's clock.
  double start_read(std::span<const std::byte> to) {
    return start_read(to.size(), contiguous(to.data()) ? profile.disk_read_rate : profile.disk_read_rate_scattered, {});
  }
  /// Like start_read() above, for bytes that go to the page cache. `ahead_since`: host time from which on readahead may
  /// have requested them before the program; nothing without readahead.
  double start_read(std::uint64_t bytes, std::optional<double> ahead_since) {
    return start_read(bytes, profile.disk_read_rate_cached, ahead_since);
  }
  /// Writes from the program's memory, past the page cache.
  void write(std::span<const std::byte> from) {
    write(from.size(), contiguous(from.data()) ? profile.disk_write_rate : profile.disk_write_rate_scattered);
  }
  void write_out(std::uint64_t bytes) { write(bytes, profile.disk_write_rate_cached); }
  void wait_until(double moment) {
    const double now = host.now();
    if (moment > now) host.sleep(moment - now);
  }

  SimHost& host;
  const Profile& profile;
  DataMovement& data;
  DeviceTraffic traffic;
  double memory_free = 0;  // host time from which on no workers of the system copy in host memory

 private:
  /// Whether memory is physically contiguous. Otherwise requests to the disk are shorter.
  bool contiguous(const std::byte* memory) const { return data.memory.on_huge_pages(memory); }
  double start_read(std::uint64_t bytes, double rate, std::optional<double> ahead_since) {
    if (bytes == 0) return host.now();
    traffic.bytes_read += bytes;
    ++traffic.reads;
    return serve(bytes, rate, ahead_since);
  }
  void write(std::uint64_t bytes, double rate) {
    if (bytes == 0) return;
    traffic.bytes_written += bytes;
    ++traffic.writes;
    wait_until(serve(bytes, rate, {}));
  }
  double serve(std::uint64_t bytes, double rate, std::optional<double> ahead_since) {
    const double now = host.now();
    const double service = static_cast<double>(bytes) / rate;
    // Readahead keeps the disk busy until it is kReadAhead bytes ahead; then the disk waits for the program.
    constexpr double kReadAhead = 8 << 20;  // bytes
    const bool went_on = ahead_since && free_ + kReadAhead / rate >= now;
    free_ = std::max(free_, went_on ? *ahead_since : now) + service;
    return free_ + (went_on ? 0 : profile.disk_latency);
  }

  double free_ = 0;  // host time from which on the disk is idle
};

namespace {

using Disk = SimFiles::Disk;

constexpr std::uint64_t kCachePage = 4096;

/// A file on the simulated disk, with its pages in the page cache.
class Stored : NonCopyable {
 public:
  Stored(Disk& disk, std::string its_name, std::uint64_t size)
      : name(std::move(its_name)),
        bytes(disk.data.memory.allocate_host(static_cast<std::size_t>(size), HostMemory::pageable, 0)),
        disk_(disk),
        cached_((size + kCachePage - 1) / kCachePage),
        dirty_(cached_.size()),
        arrivals_(cached_.size()) {}
  ~Stored() { disk_.data.memory.free(bytes.data); }

  /// Sets all pages of a range and returns the bytes of those that were not set before.
  static std::uint64_t set(std::vector<bool>& pages, std::uint64_t offset, std::uint64_t count) {
    std::uint64_t added = 0;
    for (std::uint64_t page = offset / kCachePage; page * kCachePage < offset + count; ++page) {
      if (!pages[page]) added += kCachePage;
      pages[page] = true;
    }
    return added;
  }
  static std::uint64_t bytes_of(const std::vector<bool>& pages) {
    return kCachePage * static_cast<std::uint64_t>(std::ranges::count(pages, true));
  }

  /// What start_cache() has asked the disk for, and when it arrives.
  struct Missing {
    std::uint64_t bytes;
    double arrival;
  };
  /// Requests the pages of a range that the page cache lacks. Pages requested by other threads arrive when they get
  /// them.
  Missing start_cache(std::uint64_t offset, std::uint64_t count) {
    const std::uint64_t missing = std::min(count, set(cached_, offset, count));
    const double asked = disk_.start_read(missing, offset == 0 ? std::nullopt : std::optional(cold_since_));
    double arrival = asked;
    for (std::uint64_t page = offset / kCachePage; page * kCachePage < offset + count; ++page) {
      arrivals_[page] = std::max(arrivals_[page], missing > 0 ? asked : 0);
      arrival = std::max(arrival, arrivals_[page]);
    }
    return {missing, arrival};
  }
  /// Brings a range into the page cache. Returns the bytes that came from the disk.
  std::uint64_t cache(std::uint64_t offset, std::uint64_t count) {
    const Missing missing = start_cache(offset, count);
    disk_.wait_until(missing.arrival);
    return missing.bytes;
  }
  /// Copies into the page cache. Writes to one file take turns; a thread that waits for its turn spins.
  void write(std::span<const std::byte> from, std::uint64_t offset) {
    const double now = disk_.host.now();
    written_ = std::max(written_, now) + static_cast<double>(from.size()) / disk_.profile.file_write_rate;
    disk_.host.work({.seconds = written_ - now}, [&] { std::memcpy(bytes.data + offset, from.data(), from.size()); });
    set(cached_, offset, from.size());
    set(dirty_, offset, from.size());
  }
  void sync() {
    disk_.write_out(bytes_of(dirty_));
    std::fill(dirty_.begin(), dirty_.end(), false);
  }
  void make_cold() {
    sync();
    cold_since_ = disk_.host.now();
    std::fill(cached_.begin(), cached_.end(), false);
  }
  [[nodiscard]] Residency residency() const { return {bytes_of(cached_), bytes_of(dirty_)}; }

  std::string name;
  HostView bytes;

 private:
  Disk& disk_;
  std::vector<bool> cached_;
  std::vector<bool> dirty_;
  std::vector<double> arrivals_;  // host time at which each page arrives
  double cold_since_ = 0;         // host time since which the file is cold
  double written_ = 0;            // host time of the end of the last write() to the page cache
};

FilePlace simulated_place() {
  return {.file_system = "simulated",
          .device = "simulated",
          .direct_memory_alignment = 512,
          .direct_offset_alignment = 512};
}

class SimMapping final : public FileMapping {
 public:
  SimMapping(Disk& disk, std::shared_ptr<Stored> file) : disk_(disk), file_(std::move(file)) {}

  [[nodiscard]] std::span<const std::byte> bytes() const override { return {file_->bytes.data, file_->bytes.bytes}; }
  void populate(std::size_t offset, std::size_t count) override {
    map_pages(offset, count, disk_.profile.populate_rate);
  }
  void note_read(std::size_t offset, std::size_t count, bool locked_next) override {
    locked_next ? static_cast<void>(file_->cache(offset, count)) : map_pages(offset, count, disk_.profile.fault_rate);
  }
  void require_intact() const override {}

 private:
  void map_pages(std::size_t offset, std::size_t count, double rate) {
    const std::uint64_t missing = file_->cache(offset, count);  // mapped while the disk reads ahead
    disk_.host.work({.seconds = static_cast<double>(count - missing) / rate}, [] {});
  }

  Disk& disk_;
  std::shared_ptr<Stored> file_;
};

class SimFile final : public DataFile {
 public:
  class Queue;

  SimFile(Disk& disk, std::shared_ptr<Stored> file, FileRoute route)
      : disk_(disk), file_(std::move(file)), direct_(route == FileRoute::direct) {}

  [[nodiscard]] const std::string& name() const override { return file_->name; }
  [[nodiscard]] std::uint64_t size() const override { return file_->bytes.bytes; }
  [[nodiscard]] const std::shared_ptr<Stored>& stored() const { return file_; }

  void read_at(std::span<std::byte> to, std::uint64_t offset) override {
    require_within(to.size(), offset);
    const std::byte* const from = file_->bytes.data + offset;
    if (direct_) {
      disk_.read(to);
      return disk_.host.work({}, [&] { std::memcpy(to.data(), from, to.size()); });
    }
    // The system reads ahead: while the disk carries one part of a request, the thread copies the one before.
    constexpr std::uint64_t kAhead = 128 * 1024;
    const std::uint64_t missing = file_->cache(offset, to.size());
    const std::uint64_t meanwhile = missing - std::min(missing, kAhead);
    disk_.host.use_cpu(static_cast<double>(meanwhile) / disk_.profile.file_copy_rate);
    move(to.size() - meanwhile, [&] { std::memcpy(to.data(), from, to.size()); });
  }
  void write_at(std::span<const std::byte> from, std::uint64_t offset) override {
    require_within(from.size(), offset);
    if (!direct_) return file_->write(from, offset);
    disk_.write(from);
    disk_.host.work({}, [&] { std::memcpy(file_->bytes.data + offset, from.data(), from.size()); });
  }
  [[nodiscard]] std::unique_ptr<ReadQueue> make_queue(std::span<std::byte> memory, std::size_t slots,
                                                      QueueCopies copies) override;
  void sync() override { file_->sync(); }
  [[nodiscard]] std::unique_ptr<FileMapping> map() override { return std::make_unique<SimMapping>(disk_, file_); }
  void make_cold() override { file_->make_cold(); }
  [[nodiscard]] std::optional<Residency> residency() override { return file_->residency(); }
  [[nodiscard]] std::optional<std::uint64_t> first_hole() override { return std::nullopt; }
  [[nodiscard]] FilePlace place() const override { return simulated_place(); }

 private:
  void require_within(std::size_t count, std::uint64_t offset) const {
    if (offset + count <= size()) return;
    throw FileError(fmt::format("{} has {} bytes, expected {}", name(), size(), offset + count));
  }

  /// A read() call copies slower than memcpy(). Its threads share the host's memory bandwidth, as those of memcpy() do.
  void move(std::uint64_t count, const std::function<void()>& bytes) {
    const auto all = static_cast<double>(count);
    disk_.host.work({.seconds = all / disk_.profile.file_copy_rate - all / disk_.profile.host_copy_rate}, [] {});
    disk_.host.work({.bytes_copied = count}, bytes);
  }

  Disk& disk_;
  std::shared_ptr<Stored> file_;
  bool direct_;
};

/// Reads of a simulated file that are in flight. The disk answers direct reads. With QueueCopies::by_workers, workers
/// copy from the page cache at the same time and share the host's memory bandwidth. With by_caller, start() copies as
/// read_at() does.
class SimFile::Queue final : public ReadQueue {
 public:
  Queue(SimFile& file, std::span<std::byte> memory, std::size_t slots, QueueCopies copies)
      : file_(file), disk_(file.disk_), memory_(memory), slot_bytes_(memory.size() / slots), copies_(copies) {}

  /// Writes the data to the slot at once, because a real device may also write from this call on.
  void start(std::size_t slot, std::size_t bytes, std::uint64_t offset) override {
    const std::span<std::byte> to = memory_.subspan(slot * slot_bytes_, bytes);
    file_.require_within(bytes, offset);
    if (!file_.direct_ && copies_ == QueueCopies::by_caller) {
      file_.read_at(to, offset);
      reads_.push_back({slot, disk_.host.now()});
      return;
    }
    disk_.host.work({}, [&] { std::memcpy(to.data(), file_.stored()->bytes.data + offset, bytes); });
    reads_.push_back({slot, file_.direct_ ? disk_.start_read(to) : copied(bytes, offset)});
  }
  [[nodiscard]] std::size_t finish() override {
    const auto next = std::ranges::min_element(reads_, {}, &Read::end);
    const Read read = *next;
    reads_.erase(next);
    disk_.wait_until(read.end);
    return read.slot;
  }
  [[nodiscard]] double cpu_now() const override { return disk_.host.cpu_now() + workers_cpu_; }

 private:
  struct Read {
    std::size_t slot;
    double end;  // host time at which the read ends
  };

  /// Returns the host time at which a worker has copied the bytes from the page cache.
  double copied(std::size_t bytes, std::uint64_t offset) {
    const auto all = static_cast<double>(bytes);
    const double ready = std::max(disk_.host.now(), file_.stored()->start_cache(offset, bytes).arrival);
    const double alone = all / disk_.profile.file_copy_rate;
    workers_cpu_ += alone;
    disk_.memory_free = std::max(disk_.memory_free, ready) + all / disk_.profile.host_copy_rate_all;
    return std::max(ready + alone, disk_.memory_free);
  }

  SimFile& file_;
  Disk& disk_;
  std::span<std::byte> memory_;
  std::size_t slot_bytes_;
  QueueCopies copies_;
  std::vector<Read> reads_;
  double workers_cpu_ = 0;  // seconds
};

std::unique_ptr<ReadQueue> SimFile::make_queue(std::span<std::byte> memory, std::size_t slots, QueueCopies copies) {
  return std::make_unique<Queue>(*this, memory, slots, copies);
}

}  // namespace

SimFiles::SimFiles(SimHost& host, const Profile& profile, DataMovement& data)
    : disk_(std::make_unique<Disk>(host, profile, data)) {}

SimFiles::~SimFiles() = default;

std::unique_ptr<DataFile> SimFiles::open(const std::string& path, FileRoute) {
  throw FileError(path + ": the simulated disk has no files; give a folder, in which one is made");
}

std::unique_ptr<DataFile> SimFiles::make_temporary(const std::string& folder, std::uint64_t size) {
  return std::make_unique<SimFile>(*disk_, std::make_shared<Stored>(*disk_, folder + "/simulated file", size),
                                   FileRoute::cached);
}

std::unique_ptr<DataFile> SimFiles::reopen(const DataFile& file, FileRoute route) {
  return std::make_unique<SimFile>(*disk_, dynamic_cast<const SimFile&>(file).stored(), route);
}

FilePlace SimFiles::place_of(const std::string&) { return simulated_place(); }

std::optional<std::uint64_t> SimFiles::bytes_from_device() { return disk_->traffic.bytes_read; }

std::optional<DeviceTraffic> SimFiles::traffic_of(const FilePlace&) { return disk_->traffic; }

}  // namespace xferbench::sim
