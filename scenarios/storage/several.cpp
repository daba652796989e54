// Loads one file into the memory of several GPUs at once.
#include "scenarios/storage/loader.hpp"

#include <utility>

namespace xferbench {

namespace {

std::unique_ptr<FileWay> loader_for(StoredFile& file, const StorageCase& c, const FileOnGpu& gpu,
                                    AfterCopy after = {}) {
  StorageCase part = c;
  part.size = gpu.parts.bytes();
  return make_file_loader({*gpu.device, file, part, gpu.parts, gpu.memory->data, std::move(after)});
}

/// Runs one loader per GPU, all at the same time, each in a thread of its own.
class LoadersAtOnce final : public FileWay {
 public:
  LoadersAtOnce(StoredFile& file, const StorageCase& c, const std::vector<FileOnGpu>& gpus)
      : threads_(gpus.front().device->host(), gpus.size(), Worker::Idle::sleep) {
    for (const FileOnGpu& gpu : gpus) loaders_.push_back(loader_for(file, c, gpu));
  }

  void transfer() override {
    threads_.start([this](std::size_t i) { loaders_[i]->transfer(); });
    threads_.finish();
  }
  void file_alone() override {
    threads_.start([this](std::size_t i) { loaders_[i]->file_alone(); });
    threads_.finish();
  }
  [[nodiscard]] WorkTimes times() const override {
    WorkTimes all;
    for (const auto& loader : loaders_) {
      const WorkTimes one = loader->times();
      all.moving += one.moving;
      all.waiting += one.waiting;
      all.cpu += one.cpu;
      if (all.first == 0 || one.first < all.first) all.first = one.first;
    }
    return all;
  }

 private:
  std::vector<std::unique_ptr<FileWay>> loaders_;
  WorkerThreads threads_;  // last member: its threads use the loaders
};

/// Loads the file to the first GPU, which sends each part to all other GPUs as soon as the part has arrived.
class BroadcastLoader final : public FileWay {
 public:
  BroadcastLoader(StoredFile& file, const StorageCase& c, const std::vector<FileOnGpu>& gpus) : first_(gpus.front()) {
    for (std::size_t i = 1; i < gpus.size(); ++i) {
      others_.push_back({gpus[i].memory->data, first_.device->make_stream(StreamKind::nonblocking)});
    }
    loader_ =
        loader_for(file, c, first_, [this](EventView copied, const model::Chunk& part) { pass_on(copied, part); });
  }

  void transfer() override {
    loader_->transfer();
    for (const Other& other : others_) other.stream.synchronize();
  }
  void file_alone() override { loader_->file_alone(); }
  [[nodiscard]] WorkTimes times() const override { return loader_->times(); }

 private:
  struct Other {
    std::byte* memory;
    Stream stream;  // stream of the first GPU, which sends
  };

  /// Several threads may call this at once: in the stream, each copy follows its own wait.
  void pass_on(EventView copied, const model::Chunk& part) const {
    const std::uint64_t place = first_.parts.place_of(part.first);
    for (const Other& other : others_) {
      other.stream.wait(copied);
      other.stream.copy({other.memory + place, first_.memory->data + place, part.count, Direction::p2p});
    }
  }

  FileOnGpu first_;
  std::vector<Other> others_;
  std::unique_ptr<FileWay> loader_;  // last member: its threads use the others
};

}  // namespace

std::unique_ptr<FileWay> make_file_loader(StoredFile& file, const StorageCase& c, const std::vector<FileOnGpu>& gpus) {
  if (gpus.size() == 1) return loader_for(file, c, gpus.front());
  if (c.share == FileShare::broadcast) return std::make_unique<BroadcastLoader>(file, c, gpus);
  return std::make_unique<LoadersAtOnce>(file, c, gpus);
}

}  // namespace xferbench
