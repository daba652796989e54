#include "scenarios/storage/loader.hpp"

#include "core/error.hpp"
#include "device/host_runtime.hpp"

namespace xferbench {

namespace {

/// Runs `writes`, then waits until the data is on the device. Returns the seconds until the writes had returned.
template <class Writes>
double write_and_sync(const HostRuntime& host, DataFile& file, const Writes& writes) {
  const double begun = host.now();
  writes();
  const double written = host.now() - begun;
  file.sync();
  return written;
}

/// Copies a part to pageable memory and writes it to the file, one part after another.
class WriteInTurn final : public FileWay {
 public:
  explicit WriteInTurn(const FileTask& task)
      : device_(task.device),
        file_(task.file.cached()),
        chunks_(task.parts.chunks(task.c.chunk_bytes())),
        on_gpu_(task.on_gpu),
        buffer_(device_.allocate_host(task.c.chunk_bytes(), HostMemory::pageable)) {}

  void transfer() override { run(true); }
  void file_alone() override { run(false); }
  [[nodiscard]] double written() const override { return written_; }

 private:
  void run(bool from_gpu) {
    const double cpu = device_.host().cpu_now();
    times_ = {};
    written_ = write_and_sync(device_.host(), file_, [&] { write_all(from_gpu); });
    times_.cpu = device_.host().cpu_now() - cpu;
  }

  void write_all(bool from_gpu) {
    const HostRuntime& host = device_.host();
    for (const model::Chunk& chunk : chunks_) {
      const double begun = host.now();
      if (from_gpu) device_.copy_blocking({buffer_.data, on_gpu_ + chunk.first, chunk.count, Direction::d2h});
      const double copied = host.now();
      file_.write_at({buffer_.data, chunk.count}, chunk.first);
      times_.waiting += copied - begun;
      times_.moving += host.now() - copied;
    }
  }

  Device& device_;
  DataFile& file_;
  std::vector<model::Chunk> chunks_;
  std::byte* on_gpu_;
  HostBuffer buffer_;
  double written_ = 0;
};

class WriteFiller final : public SlotFiller {
 public:
  WriteFiller(StoredFile& file, FileRoute route, std::size_t threads) : cached_(file.cached()) {
    for (std::size_t i = 0; i < threads; ++i) files_.push_back(file.open_again(route));
    if (route == FileRoute::direct) block_ = files_.front()->place().direct_offset_alignment;
  }
  /// A rest that is not a whole block of the file can only be written through the page cache.
  void move(std::size_t thread, std::byte* slot, const model::Chunk& part) const override {
    const std::size_t whole = part.count / block_ * block_;
    if (whole > 0) files_[thread]->write_at({slot, whole}, part.first);
    if (whole < part.count) cached_.write_at({slot + whole, part.count - whole}, part.first + whole);
  }

 private:
  DataFile& cached_;
  std::vector<std::unique_ptr<DataFile>> files_;
  std::size_t block_ = 1;  // bytes
};

/// Threads that write slots to the file while later ones cross the link.
class WritingThreads final : public FileWay {
 public:
  explicit WritingThreads(const FileTask& task)
      : host_(task.device.host()),
        file_(task.file.cached()),
        filler_(task.file, task.c.is_direct() ? FileRoute::direct : FileRoute::cached, task.c.threads),
        workers_(make_slot_workers(task.device, slot_plan(task), filler_)) {}

  void transfer() override {
    written_ = write_and_sync(host_, file_, [this] { workers_->transfer_payload(); });
  }
  void file_alone() override {
    write_and_sync(host_, file_, [this] { workers_->move_only(); });
  }
  [[nodiscard]] WorkTimes times() const override { return workers_->times(); }
  [[nodiscard]] double written() const override { return written_; }

 private:
  HostRuntime& host_;
  DataFile& file_;
  WriteFiller filler_;
  std::unique_ptr<SlotPool> workers_;
  double written_ = 0;
};

}  // namespace

std::unique_ptr<FileWay> make_file_saver(const FileTask& task) {
  switch (task.c.way) {
    case StorageWay::read: return std::make_unique<WriteInTurn>(task);
    case StorageWay::threads:
    case StorageWay::direct: return std::make_unique<WritingThreads>(task);
    default: throw UnavailableError("--dir save writes by --way read, threads or direct");
  }
}

}  // namespace xferbench
