// The ways of moving scattered pieces. Each enqueues one pass over all pieces of one payload.
#pragma once

#include <cstddef>

#include "device/device.hpp"
#include "scenarios/scatter/case.hpp"

namespace xferbench {

class PieceMover : NonCopyable {
 public:
  virtual ~PieceMover() = default;

  /// Enqueues all copies of one pass to streams(), which must be idle or ordered by the caller. Threads of the way may
  /// go on enqueueing until finish() has returned.
  virtual void submit() = 0;
  /// Waits for the threads that submit() has started.
  virtual void finish() {}
  /// The streams that a pass uses, the first of which is its root.
  [[nodiscard]] virtual std::vector<StreamView> streams() const = 0;
  /// Number of operations that one pass enqueues to the busiest of these streams.
  [[nodiscard]] virtual std::size_t operations() const = 0;
  /// CPU seconds that threads of the way used in the last pass, in addition to those of the thread that called
  /// submit().
  [[nodiscard]] virtual double helpers_cpu_seconds() const { return 0; }
  /// Number of multiprocessors that the way's kernels occupy; 0 if copy engines do all the work.
  [[nodiscard]] virtual unsigned multiprocessors() const { return 0; }
  /// Enqueues only the kernels of a pass to a stream; nothing if multiprocessors() is 0. Call it after a whole pass:
  /// the kernels then write the same data again.
  virtual void submit_kernels(StreamView) {}
};

/// Creates the mover of a legal case. `copies`: the pieces, not empty and all in one direction. For
/// PieceList::resident, copies the list to the GPU. Loads all kernels.
std::unique_ptr<PieceMover> make_piece_mover(Device& device, const ScatterCase& c, std::vector<Copy> copies);
/// Like make_piece_mover(), for ScatterWay::packed. Its submit() returns when the threads have made all calls.
std::unique_ptr<PieceMover> make_packed_mover(Device& device, const ScatterCase& c, std::vector<Copy> copies);

}  // namespace xferbench
