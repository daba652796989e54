// The way of one thread that keeps reads of a file in flight by io_uring.
#include "scenarios/storage/loader.hpp"

#include <deque>
#include <numeric>

#include "core/error.hpp"
#include "device/host_runtime.hpp"
#include "scenarios/common/first_copy.hpp"

namespace xferbench {

namespace {

std::unique_ptr<DataFile> opened_for_queue(StoredFile& file, const StorageCase& c) {
  const bool direct = c.past_cache() && file.has_direct_route();
  return file.open_again(direct ? FileRoute::direct : FileRoute::cached);
}

/// If the page cache is warm, the calling thread would copy one read after another, so the system's worker threads
/// copy. If the cache is cold, reads of worker threads would arrive out of order and disturb readahead.
std::unique_ptr<ReadQueue> made_queue(DataFile& file, const StorageCase& c, const HostBuffer& slots) {
  const bool warm = c.cache == CacheState::warm;
  try {
    return file.make_queue({slots.data, slots.bytes}, c.all_slots(),
                           warm ? QueueCopies::by_workers : QueueCopies::by_caller);
  } catch (const FileError& error) {
    throw UnavailableError(error.what());
  }
}

/// One thread that keeps reads in flight, each into a slot. When a read has ended, its slot is copied; all copies are
/// in one stream. Before the thread waits for another read, it waits until only the latest copy is in flight. So there
/// is one slot more than reads.
class QueuedReads final : public FileWay {
 public:
  explicit QueuedReads(const FileTask& task)
      : host_(task.device.host()),
        parts_(task.parts),
        slot_bytes_(task.c.chunk_bytes()),
        chunks_(parts_.chunks(slot_bytes_)),
        on_gpu_(task.on_gpu),
        after_(task.after),
        stream_(task.device.make_stream(StreamKind::nonblocking)),
        first_(task.device, on_gpu_ != nullptr),
        depth_(task.c.depth),
        in_slot_(task.c.all_slots()),
        slots_(task.device.allocate_host(in_slot_.size() * slot_bytes_, task.c.slot_memory)),
        file_(opened_for_queue(task.file, task.c)),
        queue_(made_queue(*file_, task.c, slots_)) {
    for (std::size_t i = 0; i < in_slot_.size(); ++i) copied_.push_back(task.device.make_event(EventKind::ordering));
  }

  void transfer() override {
    first_.begin(stream_);
    run(true);
    times_.first = first_.seconds();
  }
  void file_alone() override { run(false); }

 private:
  void run(bool to_gpu);
  void start(const model::Chunk& chunk);
  void copy(std::size_t slot);
  /// Waits until the first copy in the stream has ended.
  void await_copy();

  HostRuntime& host_;
  PartTable parts_;
  std::size_t slot_bytes_;
  std::vector<model::Chunk> chunks_;
  std::byte* on_gpu_;
  AfterCopy after_;
  Stream stream_;
  FirstCopy first_;
  std::size_t depth_;
  std::vector<Event> copied_;          // per slot: recorded after its copy
  std::vector<model::Chunk> in_slot_;  // per slot: the chunk that is read into it
  std::vector<std::size_t> free_;
  std::deque<std::size_t> crossing_;  // slots that are copied, in the stream's order
  HostBuffer slots_;
  std::unique_ptr<DataFile> file_;
  std::unique_ptr<ReadQueue> queue_;  // last member: its destructor waits for reads of file_ into slots_
};

void QueuedReads::run(bool to_gpu) {
  times_ = {};
  const double cpu = queue_->cpu_now();
  free_.resize(copied_.size());
  std::iota(free_.rbegin(), free_.rend(), std::size_t{0});
  std::size_t started = 0;
  for (std::size_t ended = 0; ended < chunks_.size(); ++ended) {
    while (crossing_.size() > 1) await_copy();
    while (started < std::min(ended + depth_, chunks_.size())) start(chunks_[started++]);
    const double begun = host_.now();
    const std::size_t slot = queue_->finish();
    times_.moving += host_.now() - begun;
    to_gpu ? copy(slot) : free_.push_back(slot);
  }
  while (!crossing_.empty()) await_copy();
  times_.cpu = queue_->cpu_now() - cpu;
}

void QueuedReads::start(const model::Chunk& chunk) {
  const std::size_t slot = free_.back();
  free_.pop_back();
  in_slot_[slot] = chunk;
  queue_->start(slot, chunk.count, chunk.first);
}

void QueuedReads::copy(std::size_t slot) {
  const model::Chunk& chunk = in_slot_[slot];
  stream_.copy({on_gpu_ + parts_.place_of(chunk.first), slots_.data + slot * slot_bytes_, chunk.count, Direction::h2d});
  first_.note_copy(stream_);
  stream_.record(copied_[slot]);
  if (after_) after_(copied_[slot], chunk);
  crossing_.push_back(slot);
}

void QueuedReads::await_copy() {
  const double begun = host_.now();
  copied_[crossing_.front()].synchronize();
  times_.waiting += host_.now() - begun;
  free_.push_back(crossing_.front());
  crossing_.pop_front();
}

}  // namespace

std::unique_ptr<FileWay> make_uring_loader(const FileTask& task) { return std::make_unique<QueuedReads>(task); }

}  // namespace xferbench
