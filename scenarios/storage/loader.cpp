#include "scenarios/storage/loader.hpp"

#include <cstring>
#include <stdexcept>

#include "device/host_runtime.hpp"

namespace xferbench {

namespace {

/// Reports a copy in a stream by an event, through FileTask::after. Does nothing without that function.
class CopyNotice {
 public:
  CopyNotice(Device& device, AfterCopy after) : after_(std::move(after)) {
    if (after_) copied_ = device.make_event(EventKind::ordering);
  }
  void tell(StreamView stream, const model::Chunk& chunk) const {
    if (!after_) return;
    stream.record(copied_);
    after_(copied_, chunk);
  }

 private:
  AfterCopy after_;
  Event copied_;
};

/// Reads a part of a file into pageable memory and copies it, one part after another.
class ReadInTurn final : public FileWay {
 public:
  explicit ReadInTurn(const FileTask& task)
      : device_(task.device),
        file_(task.file.open_again(FileRoute::cached)),
        parts_(task.parts),
        chunks_(parts_.chunks(task.c.chunk_bytes())),
        on_gpu_(task.on_gpu),
        buffer_(device_.allocate_host(task.c.chunk_bytes(), HostMemory::pageable)),
        default_stream_(device_.make_stream(StreamKind::legacy_default)),
        notice_(device_, task.after) {}

  void transfer() override {
    run(true);
    device_.synchronize();
  }
  void file_alone() override { run(false); }

 private:
  void run(bool to_gpu) {
    const HostRuntime& host = device_.host();
    times_ = {};
    const double cpu = host.cpu_now();
    const double start = host.now();
    for (const model::Chunk& chunk : chunks_) {
      const double begun = host.now();
      file_->read_at({buffer_.data, chunk.count}, chunk.first);
      times_.moving += host.now() - begun;
      if (!to_gpu) continue;
      const double read = host.now();
      device_.copy_blocking({on_gpu_ + parts_.place_of(chunk.first), buffer_.data, chunk.count, Direction::h2d});
      times_.waiting += host.now() - read;
      if (times_.first == 0) times_.first = host.now() - start;
      notice_.tell(default_stream_, chunk);
    }
    times_.cpu = host.cpu_now() - cpu;
  }

  Device& device_;
  std::unique_ptr<DataFile> file_;
  PartTable parts_;
  std::vector<model::Chunk> chunks_;
  std::byte* on_gpu_;
  HostBuffer buffer_;
  Stream default_stream_;  // stream of copy_blocking()
  CopyNotice notice_;
};

class ReadFiller final : public SlotFiller {
 public:
  /// Each thread opens the file by itself, because the system keeps its readahead state per open file.
  ReadFiller(StoredFile& file, FileRoute route, std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) files_.push_back(file.open_again(route));
  }
  void move(std::size_t thread, std::byte* slot, const model::Chunk& part) const override {
    files_[thread]->read_at({slot, part.count}, part.first);
  }

 private:
  std::vector<std::unique_ptr<DataFile>> files_;
};

class MappingFiller final : public SlotFiller {
 public:
  explicit MappingFiller(HostRuntime& host) : host_(host) {}
  void use(FileMapping* mapping) { mapping_ = mapping; }
  void move(std::size_t /*thread*/, std::byte* slot, const model::Chunk& part) const override {
    mapping_->populate(part.first, part.count);
    host_.work({.bytes_copied = part.count},
               [&] { std::memcpy(slot, mapping_->bytes().data() + part.first, part.count); });
  }

 private:
  HostRuntime& host_;
  FileMapping* mapping_ = nullptr;
};

class ReadingThreads final : public FileWay {
 public:
  explicit ReadingThreads(const FileTask& task)
      : filler_(task.file, task.c.is_direct() ? FileRoute::direct : FileRoute::cached, task.c.threads),
        workers_(make_slot_workers(task.device, slot_plan(task), filler_)) {}

  void transfer() override { workers_->transfer_payload(); }
  void file_alone() override { workers_->move_only(); }
  [[nodiscard]] WorkTimes times() const override { return workers_->times(); }

 private:
  ReadFiller filler_;
  std::unique_ptr<SlotPool> workers_;
};

class MappedThreads final : public FileWay {
 public:
  explicit MappedThreads(const FileTask& task)
      : host_(task.device.host()),
        file_(task.file.open_again(FileRoute::cached)),
        filler_(host_),
        workers_(make_slot_workers(task.device, slot_plan(task), filler_)) {}

  void transfer() override {
    with_mapping([this] { workers_->transfer_payload(); });
  }
  void file_alone() override {
    with_mapping([this] { workers_->move_only(); });
  }
  [[nodiscard]] WorkTimes times() const override {
    WorkTimes all = workers_->times();
    all.cpu += cpu_;
    return all;
  }

 private:
  void with_mapping(const std::function<void()>& pass) {
    const double begun = host_.cpu_now();
    {
      const std::unique_ptr<FileMapping> mapping = file_->map();
      filler_.use(mapping.get());
      pass();
      mapping->require_intact();
    }
    cpu_ = host_.cpu_now() - begun;
  }

  HostRuntime& host_;
  std::unique_ptr<DataFile> file_;
  MappingFiller filler_;
  double cpu_ = 0;  // CPU seconds of the calling thread
  std::unique_ptr<SlotPool> workers_;
};

/// Copies each part of a mapping of the file, with or without page-locking the part first.
class WholeMapping final : public FileWay {
 public:
  explicit WholeMapping(const FileTask& task)
      : device_(task.device),
        file_(task.file.open_again(FileRoute::cached)),
        parts_(task.parts),
        locked_(task.c.way == StorageWay::mmap_register),
        on_gpu_(task.on_gpu),
        stream_(device_.make_stream(StreamKind::nonblocking)),
        notice_(device_, task.after) {}

  void transfer() override { run(true); }
  void file_alone() override { run(false); }

 private:
  void run(bool to_gpu) {
    const HostRuntime& host = device_.host();
    const double cpu = host.cpu_now();
    const double begun = host.now();
    times_ = {};
    {
      const std::unique_ptr<FileMapping> mapping = file_->map();
      const std::uint64_t first = parts_.parts().front().first;
      const std::span<const std::byte> bytes = mapping->bytes().subspan(first, parts_.bytes());
      mapping->note_read(first, bytes.size(), locked_);
      Registration registration;
      if (locked_) {  // the registration is for reading only, so the memory stays constant
        registration =
            device_.register_host({const_cast<std::byte*>(bytes.data()), bytes.size(), HostMemory::pageable, true});
      }
      times_.moving = host.now() - begun;
      to_gpu ? copy(mapping->bytes(), begun) : touch(bytes);
      mapping->require_intact();
    }
    times_.cpu = host.cpu_now() - cpu;
  }

  /// `begun`: start of the pass in seconds. Waits for each copy of pageable memory before the next, as programs do.
  void copy(std::span<const std::byte> file, double begun) {
    const double start = device_.host().now();
    for (const FilePart& part : parts_.parts()) {
      stream_.copy({on_gpu_ + part.place, file.data() + part.first, part.count, Direction::h2d});
      notice_.tell(stream_, {part.first, part.count});
      if (locked_ && times_.first > 0) continue;
      stream_.synchronize();
      if (times_.first == 0) times_.first = device_.host().now() - begun;
    }
    stream_.synchronize();
    times_.waiting = device_.host().now() - start;
  }

  /// Reads every page, as the copy would. Not needed for page-locked memory, whose pages are already mapped.
  void touch(std::span<const std::byte> bytes) {
    if (locked_) return;
    device_.host().work({}, [&] {
      constexpr std::size_t kPage = 4096;
      unsigned sum = 0;
      for (std::size_t i = 0; i < bytes.size(); i += kPage) sum += std::to_integer<unsigned>(bytes[i]);
      touched_ = sum;
    });
  }

  Device& device_;
  std::unique_ptr<DataFile> file_;
  PartTable parts_;
  bool locked_;
  std::byte* on_gpu_;
  Stream stream_;
  CopyNotice notice_;
  volatile unsigned touched_ = 0;
};

/// Lets cuFile read into GPU memory, in a separate process.
class CufileLoader final : public FileWay {
 public:
  explicit CufileLoader(const FileTask& task)
      : file_(task.file.open_again(task.file.has_direct_route() ? FileRoute::direct : FileRoute::cached)),
        process_(task.c, file_->descriptor(), task.device.capabilities().environment.number_of(task.device.number())) {}

  void transfer() override { times_ = process_.load(); }
  void file_alone() override { throw std::logic_error("cuFile does not read without the GPU"); }
  [[nodiscard]] CufileProcess* other_process() override { return &process_; }

 private:
  std::unique_ptr<DataFile> file_;
  CufileProcess process_;
};

std::unique_ptr<FileWay> make_way(const FileTask& task) {
  switch (task.c.way) {
    case StorageWay::read: return std::make_unique<ReadInTurn>(task);
    case StorageWay::threads:
    case StorageWay::direct: return std::make_unique<ReadingThreads>(task);
    case StorageWay::mmap_threads: return std::make_unique<MappedThreads>(task);
    case StorageWay::mmap:
    case StorageWay::mmap_register: return std::make_unique<WholeMapping>(task);
    case StorageWay::uring: return make_uring_loader(task);
    case StorageWay::cufile: return std::make_unique<CufileLoader>(task);
  }
  throw std::logic_error("unknown way of loading a file");
}

/// Loads the parts contiguously, as in the file, then copies each part on the GPU to its place.
class PlacingLoader final : public FileWay {
 public:
  explicit PlacingLoader(const FileTask& task)
      : parts_(task.parts),
        on_gpu_(task.on_gpu),
        whole_(task.device.allocate_device(parts_.bytes())),
        stream_(task.device.make_stream(StreamKind::nonblocking)),
        notice_(task.device, task.after),
        loader_(make_way({task.device, task.file, task.c,
                          PartTable(parts_.parts().front().first, {parts_.bytes()}, false), whole_.data})) {}

  void transfer() override {
    loader_->transfer();
    const std::uint64_t first = parts_.parts().front().first;
    for (const FilePart& part : parts_.parts()) {
      stream_.copy({on_gpu_ + part.place, whole_.data + (part.first - first), part.count, Direction::d2d});
      notice_.tell(stream_, {part.first, part.count});
    }
    stream_.synchronize();
  }
  void file_alone() override { loader_->file_alone(); }
  [[nodiscard]] WorkTimes times() const override { return loader_->times(); }

 private:
  PartTable parts_;
  std::byte* on_gpu_;
  DeviceBuffer whole_;
  Stream stream_;
  CopyNotice notice_;
  std::unique_ptr<FileWay> loader_;
};

}  // namespace

SlotPlan slot_plan(const FileTask& task) {
  const StorageCase& c = task.c;
  return {.direction = c.saves ? Direction::d2h : Direction::h2d,
          .on_gpu = task.on_gpu,
          .place_of = [parts = task.parts](std::uint64_t offset) { return parts.place_of(offset); },
          .chunks = task.parts.chunks(c.chunk_bytes()),
          .threads = c.threads,
          .slots = c.slots,
          .slot_bytes = c.chunk_bytes(),
          .memory = c.slot_memory,
          .crew = c.crew,
          .time_first = !c.saves,
          .after_copy = task.after};
}

std::unique_ptr<FileWay> make_file_loader(const FileTask& task) {
  if (task.c.layout == FileLayout::placed) return std::make_unique<PlacingLoader>(task);
  return make_way(task);
}

}  // namespace xferbench
