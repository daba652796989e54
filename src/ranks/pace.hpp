// How the passes of several processes keep in step. One that measures by itself has no Pace.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace xferbench {

/// What the processes that measure a case together agree on. Every one of them asks the same questions in the same
/// order: what they decide on must follow from the case and from what was agreed before. One that leaves the case early
/// (it failed) is no longer asked. Once somebody does not answer any more, each answers for itself.
class Pace {
 public:
  Pace() = default;
  Pace(const Pace&) = delete;
  Pace& operator=(const Pace&) = delete;
  virtual ~Pace() = default;

  /// Whether any of them says so.
  [[nodiscard]] virtual bool any(bool mine) = 0;
  /// The largest that any of them says.
  [[nodiscard]] virtual double largest(double mine) = 0;
  /// Whether any of them had been asked to end (Ctrl-C) when the last question was answered, or somebody does not
  /// answer any more, which is the end of it, too.
  [[nodiscard]] virtual bool interrupted() const = 0;

  /// Seconds that a pass should last at least, for starts to lie close together beside it.
  [[nodiscard]] virtual double shortest_pass() const = 0;

  /// Before a pass: agrees on when it is to start, so that one who needs `preparation` seconds until then is not late.
  /// `length`: how long the pass will take, in seconds, as the last one of the same work did; 0 where there was none.
  virtual void agree_on_start(double preparation, double length) = 0;
  /// Waits for that moment. For the thread that begins the pass, right before the work is let go.
  virtual void wait_for_start() = 0;
  /// After a pass, which began after wait_for_start() had returned: whether all were in time, and all say that theirs
  /// is good. If not, the pass is void for all, and is repeated.
  [[nodiscard]] virtual bool agree_on_pass(bool mine) = 0;

  /// When the last pass began and ended: seconds from its agreed start, by the common clock.
  struct Moments {
    double begin = 0;
    double end = 0;
  };
  [[nodiscard]] virtual Moments last_pass() const = 0;
};

}  // namespace xferbench
