// The interface through which several processes start each timed pass at the same moment. A process that measures alone
// has no Lockstep object.
#pragma once

#include "core/non_copyable.hpp"

namespace xferbench {

/// Interface for decisions that all processes measuring a case take together. All of them must call these functions in
/// the same order, so the calls may depend only on the case and on earlier results. A process that leaves the case
/// early (after a failure) no longer takes part. Once a process stops responding, each of the others decides alone.
class Lockstep : NonCopyable {
 public:
  virtual ~Lockstep() = default;

  /// Returns whether `mine` is true on any process.
  [[nodiscard]] virtual bool any(bool mine) = 0;
  /// Returns the maximum of `mine` over all processes.
  [[nodiscard]] virtual double largest(double mine) = 0;
  /// Whether, at the last call, any process had been asked to end (Ctrl-C) or a process no longer responded.
  [[nodiscard]] virtual bool interrupted() const = 0;

  /// Returns the shortest useful duration of a pass in seconds: long enough that differences between the processes'
  /// start times do not matter.
  [[nodiscard]] virtual double shortest_pass() const = 0;

  /// To be called before a pass: agrees on a start time that leaves each process its `preparation` seconds. `length` is
  /// the expected duration of the pass in seconds, from the last pass with the same work; 0 if there was none.
  virtual void agree_on_start(double preparation, double length) = 0;
  /// Waits for the agreed start time. Called on the thread that begins the pass, right before the GPU work is released.
  virtual void wait_for_start() = 0;
  /// To be called after a pass: returns whether the pass counts, which requires that all processes started in time and
  /// passed true for `mine` (a good pass). Otherwise all processes must repeat the pass.
  [[nodiscard]] virtual bool agree_on_pass(bool mine) = 0;

  /// Begin and end of the last pass: seconds from its agreed start, by the common clock.
  struct Moments {
    double begin = 0;
    double end = 0;
  };
  [[nodiscard]] virtual Moments last_pass() const = 0;
};

}  // namespace xferbench
