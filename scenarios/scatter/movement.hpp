// The timed regions of one case of scenario scatter, and their verification.
#pragma once

#include "kernels/pieces.hpp"
#include "measure/region.hpp"
#include "scenarios/scatter/payload.hpp"
#include "scenarios/scatter/ways.hpp"

namespace xferbench {

/// Number of passes that run in a row during the busy kernel, so that one slow start has little effect.
inline constexpr unsigned kPassesBeside = 4;

class ScatterMovement {
 public:
  /// `same_work`: a movement of a case with the same work, whose buffers are then shared; null: makes new buffers.
  ScatterMovement(const ScatterCase& c, const RunContext& bench, const ScatterMovement* same_work = nullptr);

  void prepare();
  /// Runs one pass on poisoned memory. Throws VerificationError if a byte is wrong.
  void verify(const Region& region);

  /// A region that moves the pieces, timed by the host's clock until they have arrived. Its parts are the time in the
  /// calls, and the CPU seconds of all threads.
  [[nodiscard]] Region pieces();
  /// A region with one contiguous copy of as many bytes in each direction, timed in the same way: the limit.
  [[nodiscard]] Region whole();
  /// A region that moves the pieces, timed by events.
  [[nodiscard]] Region on_gpu();
  /// A region with the way's kernels alone, one after another, timed by events. Requires multiprocessors() > 0.
  [[nodiscard]] Region kernels();
  /// Makes the kernel that fills the GPU for `seconds` or longer. Call it before busy() and beside().
  void make_busy(const RunContext& bench, double seconds);
  /// A region with the kernel of make_busy() alone.
  [[nodiscard]] Region busy();
  /// A region with that kernel and kPassesBeside passes of the pieces, which begin when the kernel has filled the GPU.
  /// Its parts are the time of the kernel and the host's time until all pieces have arrived.
  [[nodiscard]] Region beside();

  [[nodiscard]] unsigned multiprocessors() const { return movers_.front()->multiprocessors(); }
  /// Returns multiprocessors() as a fraction of all multiprocessors of the GPU.
  [[nodiscard]] double share_of_multiprocessors() const;
  /// Number of copies that the way makes of the pieces of one direction, after merging.
  [[nodiscard]] std::size_t copies() const { return copies_; }

 private:
  [[nodiscard]] std::vector<StreamView> streams() const;
  [[nodiscard]] std::size_t operations() const;
  void submit();
  void check(std::string_view what);

  Device& device_;
  Machine& machine_;
  Beside kind_;
  std::vector<std::shared_ptr<ScatteredPayload>> payloads_;
  std::vector<std::unique_ptr<PieceMover>> movers_;
  std::vector<Stream> whole_;  // one for each direction
  std::size_t copies_ = 0;
  DeviceBuffer busy_memory_;
  Stream busy_stream_;
  Event busy_begun_;
  Event busy_ended_;
  std::optional<kernels::BusyKernel> busy_;
};

}  // namespace xferbench
