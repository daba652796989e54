// How several processes run their passes in step. A process that measures alone has no Lockstep.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace xferbench {

/// Decisions shared by the processes that measure a case. All of them must ask the same questions in the same order, so
/// what they ask may depend only on the case and on earlier answers. A process that leaves the case early (after a
/// failure) is no longer asked. Once a process stops answering, each uses its own answers.
class Lockstep {
 public:
  Lockstep() = default;
  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;
  virtual ~Lockstep() = default;

  /// True if `mine` is true on any process.
  [[nodiscard]] virtual bool any(bool mine) = 0;
  /// The maximum of `mine` over all processes.
  [[nodiscard]] virtual double largest(double mine) = 0;
  /// Whether any process had been asked to end (Ctrl-C) at the last question, or a process no longer answers.
  [[nodiscard]] virtual bool interrupted() const = 0;

  /// Seconds that a pass should last at least, so that the differences between start times do not matter.
  [[nodiscard]] virtual double shortest_pass() const = 0;

  /// Before a pass: agrees on a start time that leaves each process its `preparation` seconds. `length`: expected
  /// duration of the pass in seconds, from the last pass with the same work; 0 if there was none.
  virtual void agree_on_start(double preparation, double length) = 0;
  /// Waits for the agreed start. Called on the thread that begins the pass, right before the work is released.
  virtual void wait_for_start() = 0;
  /// After a pass that began when wait_for_start() returned: whether all processes were in time and report a good pass.
  /// If not, the pass is void for all and must be repeated.
  [[nodiscard]] virtual bool agree_on_pass(bool mine) = 0;

  /// Begin and end of the last pass: seconds from its agreed start, by the common clock.
  struct Moments {
    double begin = 0;
    double end = 0;
  };
  [[nodiscard]] virtual Moments last_pass() const = 0;
};

}  // namespace xferbench
