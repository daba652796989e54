// Moves chunks through one or two stages, which are GPU copies and MPI messages. The host polls all stages and never
// blocks in one of them, because MPI makes progress only while the host calls it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "core/non_copyable.hpp"
#include "device/device.hpp"
#include "ranks/communicator.hpp"
#include "ranks/timed_collectives.hpp"

namespace xferbench {

/// Cuts a payload into chunks of equal length; the last one may be shorter.
struct Chunks {
  std::uint64_t bytes = 0;
  std::uint64_t chunk = 1;

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>((bytes + chunk - 1) / chunk); }
  [[nodiscard]] std::uint64_t offset(std::size_t i) const { return i * chunk; }
  [[nodiscard]] std::uint64_t length(std::size_t i) const { return std::min(chunk, bytes - offset(i)); }
};

/// Returns i modulo count. Avoids a division, which is slow compared to a small message, in the common case i < count.
inline std::size_t wrap_slot(std::size_t i, std::size_t count) { return i < count ? i : i % count; }

/// A ring of equal slots, `chunk` bytes each, that follow one another in memory.
struct Slots {
  std::byte* data = nullptr;
  std::uint64_t chunk = 0;
  std::size_t count = 1;

  [[nodiscard]] std::byte* at(std::size_t i) const { return data + wrap_slot(i, count) * chunk; }
};

/// How the host waits for the stages to make progress.
struct FlowWaiting {
  /// True for a simulated machine. There, polling a message would advance simulated time, so results would depend on
  /// the order of polls; the host waits for steps in a fixed order instead.
  bool in_order = false;
  Timeout timeout{};
  std::string what{};  ///< what the host waits for, for error messages
};

/// One step on each chunk's path, a copy or a message. Processes several chunks at once and finishes them in order.
class Stage : NonCopyable {
 public:
  virtual ~Stage() = default;

  virtual void start(std::size_t chunk) = 0;
  /// Whether the stage has finished chunk number `chunk`. Does not block.
  [[nodiscard]] virtual bool finished(std::size_t chunk) = 0;
  virtual void wait(std::size_t chunk, const FlowWaiting& waiting) = 0;
  /// Makes progress on started chunks if the stage needs the host for that.
  virtual void make_progress() {}
  [[nodiscard]] virtual bool is_message() const { return false; }
};

/// A stage that copies between GPU memory, where chunks are contiguous, and slots on the host. After an error all
/// copies count as finished, so that the other rank still gets its messages and does not hang; rethrow_failure() then
/// reports the error.
class CopyStage final : public Stage {
 public:
  CopyStage(Device& device, Direction direction, std::byte* on_gpu, const Slots& on_host, const Chunks& chunks,
            std::size_t depth);

  void start(std::size_t chunk) override;
  [[nodiscard]] bool finished(std::size_t chunk) override;
  void wait(std::size_t chunk, const FlowWaiting& waiting) override;
  /// Throws the stored error, if any, and clears it.
  void rethrow_failure();

 private:
  template <class Call>
  void guarded(const Call& call) {
    if (failure_) return;
    try {
      call();
    } catch (const std::exception&) {
      failure_ = std::current_exception();
    }
  }
  [[nodiscard]] EventView event(std::size_t chunk) const { return events_[wrap_slot(chunk, events_.size())]; }

  Direction direction_;
  std::byte* on_gpu_;
  Slots on_host_;
  Chunks chunks_;
  Stream stream_;
  std::vector<Event> events_;
  std::exception_ptr failure_;
};

/// A stage that sends messages to another rank or receives them. `memory` may be GPU memory if MPI is CUDA-aware.
class MessageStage final : public Stage {
 public:
  enum class Way { send, receive };
  MessageStage(Communicator& ranks, Way way, int other, const Slots& memory, const Chunks& chunks, std::size_t depth);

  void start(std::size_t chunk) override;
  [[nodiscard]] bool finished(std::size_t chunk) override;
  void wait(std::size_t chunk, const FlowWaiting& waiting) override;
  void make_progress() override;
  [[nodiscard]] bool is_message() const override { return true; }

 private:
  /// The messages of one chunk: a single one, unless the chunk is longer than MPI allows.
  using Parts = std::vector<PendingPtr>;
  [[nodiscard]] Parts& parts(std::size_t chunk) { return parts_[wrap_slot(chunk, parts_.size())]; }

  Communicator& ranks_;
  Way way_;
  int other_;
  Slots memory_;
  Chunks chunks_;
  std::vector<Parts> parts_;
  std::size_t oldest_ = 0;  // number of the chunk that finished() was last called for
};

/// Moves the chunks of a payload through one or two stages, with at most `depth` chunks in flight.
class Flow {
 public:
  Flow(Stage& first, Stage* second, std::size_t chunks, std::size_t depth)
      : first_(first), second_(second), chunks_(chunks), depth_(depth) {}

  /// Starts as many chunks as there are slots.
  void begin();
  [[nodiscard]] bool is_done() const { return left_ == chunks_; }
  /// Takes the next step if that is possible without blocking. Returns whether a step was taken.
  bool try_step();
  /// Blocks until the next step is possible, then takes it.
  void wait_and_step(const FlowWaiting& waiting);
  /// Returns the estimated time of the flow's next step since the start, in units of a message's duration, assuming
  /// that messages take longer than copies. With FlowWaiting::in_order both ranks always wait for the flow that is due
  /// first, which avoids a deadlock between them.
  [[nodiscard]] double due() const;

 private:
  /// Whether the next step of the flow waits for the second stage. The flow keeps up to depth / 2 chunks in that stage,
  /// so that both stages always have work.
  [[nodiscard]] bool awaits_second() const {
    return second_ != nullptr && (passed_ == chunks_ || passed_ - left_ > depth_ / 2);
  }
  [[nodiscard]] Stage& awaited() const { return awaits_second() ? *second_ : first_; }
  [[nodiscard]] std::size_t awaited_chunk() const { return awaits_second() ? left_ : passed_; }
  void take_step();

  Stage& first_;
  Stage* second_;
  std::size_t chunks_;
  std::size_t depth_;
  std::size_t passed_ = 0;  // chunks that have finished the first stage
  std::size_t left_ = 0;    // chunks that have finished both stages
};

/// Runs all flows until their last chunks have arrived. Throws RankTimeoutError if no stage makes progress for longer
/// than the timeout.
void drive(std::span<Flow* const> flows, const FlowWaiting& waiting);

}  // namespace xferbench
