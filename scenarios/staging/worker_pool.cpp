#include "scenarios/staging/worker_pool.hpp"

#include <cstring>

#include "device/cpu_cache.hpp"
#include "measure/worker.hpp"

namespace xferbench {

namespace {

using model::Chunk;

/// Copies data between the payload and pinned slots, on the calling thread.
class Mover final : public SlotFiller {
 public:
  Mover(Device& device, const StagedPayload& payload, StagingStores stores)
      : host_(device.host()), payload_(payload), stores_(stores) {}

  void move(std::size_t /*thread*/, std::byte* slot, const Chunk& part) const override {
    const auto copy = [&](std::size_t begin, std::size_t end) {
      std::byte* const there = slot + (begin - part.first);
      std::byte* const here = payload_.host.data + begin;
      payload_.direction == Direction::h2d ? write(there, here, end - begin) : write(here, there, end - begin);
    };
    host_.work({.bytes_copied = part.count},
               [&] { payload_.part.for_each(part.first, part.first + part.count, copy); });
  }

 private:
  void write(std::byte* to, const std::byte* from, std::size_t bytes) const {
    if (stores_ == StagingStores::streaming) return copy_past_cache(to, from, bytes);
    std::memcpy(to, from, bytes);
  }

  HostRuntime& host_;
  const StagedPayload& payload_;
  StagingStores stores_;
};

/// A chunk of the payload that is pinned during its transfer.
class PinnedChunk {
 public:
  PinnedChunk(Device& device, const StagedPayload& payload, StreamView stream)
      : device_(device), payload_(payload), stream_(stream), copied_(device.make_event(EventKind::ordering)) {}

  void send(const Chunk& chunk) {
    std::byte* const data = payload_.host.data + chunk.first;
    registration_ = device_.register_host({data, chunk.count, payload_.host.kind});
    stream_.copy(payload_.copy(data, chunk));
    stream_.record(copied_);
  }
  void receive() {
    copied_.synchronize();
    registration_ = Registration();
  }

 private:
  Device& device_;
  const StagedPayload& payload_;
  StreamView stream_;
  Event copied_;
  Registration registration_;
};

/// Worker pool whose threads copy the payload through slots.
class CopyingWorkers final : public WorkerPool {
 public:
  CopyingWorkers(Device& device, const StagedPayload& payload, const StagingCase& c)
      : mover_(device, payload, c.stores),
        workers_(make_slot_workers(device,
                                   {.direction = payload.direction,
                                    .on_gpu = payload.device.data,
                                    .chunks = c.chunks(),
                                    .threads = c.threads,
                                    .slots = c.slots,
                                    .slot_bytes = c.chunk_bytes(),
                                    .memory = c.slot_memory,
                                    .crew = c.crew,
                                    .idle = c.idle},
                                   mover_)) {}
  void transfer_payload() override { workers_->transfer_payload(); }

 private:
  Mover mover_;
  std::unique_ptr<WorkerPool> workers_;
};

std::unique_ptr<WorkerPool> make_registering_workers(Device& device, const StagedPayload& payload,
                                                     const StagingCase& c) {
  // One stream, as switching streams costs copy engines time.
  const auto stream = std::make_shared<WorkerStreams>(device, 1);
  return std::make_unique<IndependentWorkers<PinnedChunk>>(device.host(), c.chunks(), c.threads, c.idle, stream,
                                                           [&](std::size_t thread) {
                                                             std::vector<PinnedChunk> chunks;
                                                             for (std::size_t i = 0; i < c.slots; ++i)
                                                               chunks.emplace_back(device, payload, stream->of(thread));
                                                             return chunks;
                                                           });
}

}  // namespace

std::unique_ptr<WorkerPool> make_worker_pool(Device& device, const StagedPayload& payload, const StagingCase& c) {
  if (c.method == StagingMethod::register_chunks) return make_registering_workers(device, payload, c);
  return std::make_unique<CopyingWorkers>(device, payload, c);
}

}  // namespace xferbench
