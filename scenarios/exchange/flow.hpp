// Not a scenario: chunks that go through one or two stages, copies of the GPU and messages of MPI, and a host that
// lets all of them get on without ever waiting inside one: MPI moves nothing while nobody calls it.
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
#include "ranks/waiting.hpp"

namespace xferbench {

/// A payload in chunks of like length but for the last.
struct Chunks {
  std::uint64_t bytes = 0;
  std::uint64_t chunk = 1;

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>((bytes + chunk - 1) / chunk); }
  [[nodiscard]] std::uint64_t offset(std::size_t i) const { return i * chunk; }
  [[nodiscard]] std::uint64_t length(std::size_t i) const { return std::min(chunk, bytes - offset(i)); }
};

/// Number i of those that are used one after the other and then again. Mostly there are enough for all of them, and a
/// division takes a while beside a small message.
inline std::size_t around(std::size_t i, std::size_t count) { return i < count ? i : i % count; }

/// Where chunks lie: one behind the other, and after so many again from the beginning.
struct Slots {
  std::byte* data = nullptr;
  std::uint64_t chunk = 0;
  std::size_t count = 1;

  [[nodiscard]] std::byte* at(std::size_t i) const { return data + around(i, count) * chunk; }
};

/// How long, and how, a host waits.
struct FlowWaiting {
  /// To ask a simulated machine for the end of a message is to wait for it, by a clock that is not ours; who asked now
  /// this and now that would make times of chance. There everything is awaited in its order.
  bool in_order = false;
  Patience patience{};
  std::string what{};  ///< of an error
};

/// What chunks go through: it works on several at once, and finishes them in their order.
class Stage : NonCopyable {
 public:
  virtual ~Stage() = default;

  virtual void start(std::size_t chunk) = 0;
  /// Never waits.
  [[nodiscard]] virtual bool finished(std::size_t chunk) = 0;
  virtual void wait(std::size_t chunk, const FlowWaiting& waiting) = 0;
  /// Lets what has begun get on, where that needs the host.
  virtual void get_on() {}
  [[nodiscard]] virtual bool is_message() const { return false; }
};

/// Copies between a GPU's memory, where chunks lie one behind the other, and slots on the host. What fails there is
/// kept, and from then on copies are taken for finished: the other end still gets its messages, and does not hang.
class CopyStage final : public Stage {
 public:
  CopyStage(Device& device, Direction direction, std::byte* on_gpu, const Slots& on_host, const Chunks& chunks,
            std::size_t depth);

  void start(std::size_t chunk) override;
  [[nodiscard]] bool finished(std::size_t chunk) override;
  void wait(std::size_t chunk, const FlowWaiting& waiting) override;
  /// Throws what has failed, once.
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
  [[nodiscard]] EventView event(std::size_t chunk) const { return events_[around(chunk, events_.size())]; }

  Direction direction_;
  std::byte* on_gpu_;
  Slots on_host_;
  Chunks chunks_;
  Stream stream_;
  std::vector<Event> events_;
  std::exception_ptr failure_;
};

/// Messages to another rank, or from it. `memory` may be a GPU's, where MPI can read and write that.
class MessageStage final : public Stage {
 public:
  enum class Way { send, receive };
  MessageStage(Communicator& ranks, Way way, int other, const Slots& memory, const Chunks& chunks, std::size_t depth);

  void start(std::size_t chunk) override;
  [[nodiscard]] bool finished(std::size_t chunk) override;
  void wait(std::size_t chunk, const FlowWaiting& waiting) override;
  void get_on() override;
  [[nodiscard]] bool is_message() const override { return true; }

 private:
  /// A chunk's messages: one, unless that would be longer than MPI takes.
  using Parts = std::vector<PendingPtr>;
  [[nodiscard]] Parts& parts(std::size_t chunk) { return parts_[around(chunk, parts_.size())]; }

  Communicator& ranks_;
  Way way_;
  int other_;
  Slots memory_;
  Chunks chunks_;
  std::vector<Parts> parts_;
  std::size_t oldest_ = 0;  // chunk that was last seen unfinished
};

/// A payload's chunks through a first stage and, where there is one, a second, `depth` of them on their way at once.
class Flow {
 public:
  Flow(Stage& first, Stage* second, std::size_t chunks, std::size_t depth)
      : first_(first), second_(second), chunks_(chunks), depth_(depth) {}

  /// Starts what waits for nothing.
  void begin();
  [[nodiscard]] bool over() const { return left_ == chunks_; }
  /// Takes the next step if it can be taken now. Whether it could.
  bool go_on();
  /// Waits until it can.
  void wait_and_go_on(const FlowWaiting& waiting);
  /// When that should be about, in times of a message since the beginning, where messages take longer than copies. Of
  /// flows that are awaited in an order, whichever is due first comes first: at both ends, so that they never wait for
  /// each other.
  [[nodiscard]] double due() const;

 private:
  /// Whether it is the second stage that is awaited now, or the first. A few chunks stay behind in the second, so that
  /// both always have work.
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
  std::size_t passed_ = 0;  // chunks that are through the first stage
  std::size_t left_ = 0;    // through both
};

/// Until all are over. Throws RanksSilentError where nothing has moved for as long as the patience lasts.
void drive(std::span<Flow* const> flows, const FlowWaiting& waiting);

}  // namespace xferbench
