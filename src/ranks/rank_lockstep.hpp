// The Lockstep of MPI ranks: they take each decision by an all-reduce, and start each pass at an agreed time of the
// common clock (the Round-Time method of Hunold and Carpen-Amarie). docs/lab/fleets.md explains which passes are late,
// and the consequences.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "core/interrupt.hpp"
#include "device/host_runtime.hpp"
#include "ranks/common_clock.hpp"
#include "ranks/communicator.hpp"
#include "ranks/lockstep.hpp"
#include "ranks/timed_collectives.hpp"

namespace xferbench {

/// Lockstep of MPI ranks; one object serves all cases of a run. Every rank calls begin_case() for every case. Ranks
/// that measure the case then call the functions of Lockstep, each of which is a question to all ranks, and call
/// answer_questions() when they are finished or have failed. The other ranks call answer_questions() at once. So all
/// ranks take part in every all-reduce, and none waits for a failed rank.
///
/// If ranks ask different questions (by a mistake in the scenario, or from two versions of the program), they do not
/// hang: each uses its own answer, and question_mismatch() is true. If a rank does not answer or MPI fails,
/// timeout_reason() returns the error. From then on each rank uses its own answers without communication, and
/// interrupted() ends the measurement.
class RankLockstep final : public Lockstep {
 public:
  /// Counters of the passes of one case.
  struct Tally {
    std::size_t passes = 0;       ///< number of all passes, warm-up included
    std::size_t void_passes = 0;  ///< number of passes that were repeated because a rank was late
    std::size_t late_passes = 0;  ///< number of void passes in which this rank was late
    /// Number of passes that count although a rank was late (repeating did not help) or ranks asked different
    /// questions.
    std::size_t question_mismatch = 0;

    Tally& operator+=(const Tally& other);
  };

  /// `host` provides the rank's own clock. `interrupted` returns the signal that asks this rank to end; 0 for none.
  RankLockstep(Communicator& ranks, HostRuntime& host, CommonClock& clock, Timeout timeout,
               std::function<int()> interrupted = xferbench::interrupted);

  /// Whether one rank measures a case or several do. A single rank needs no common start, so clocks are not
  /// synchronised during its case.
  enum class Company { alone, together };
  /// Begins a case; collective. `name` is for error messages.
  void begin_case(std::string name, Company company = Company::together);
  /// Takes part in the other ranks' all-reduces without influence on the results, until all ranks have left the case.
  void answer_questions();

  [[nodiscard]] bool any(bool mine) override;
  [[nodiscard]] double largest(double mine) override;
  [[nodiscard]] double shortest_pass() const override;
  void agree_on_start(double preparation, double length) override;
  void wait_for_start() override;
  [[nodiscard]] bool agree_on_pass(bool mine) override;
  /// Whether any rank was asked to end, including ranks that do not measure the case, or a rank no longer responds.
  [[nodiscard]] bool interrupted() const override { return signal_ != 0 || silence_; }
  /// Returns the signal that asked any rank to end; 0 for none. Once all ranks have left a case, all return the same.
  [[nodiscard]] int signal() const { return signal_; }
  [[nodiscard]] Moments last_pass() const override { return last_; }

  /// Counters of the current case's passes so far.
  [[nodiscard]] const Tally& tally() const { return tally_; }
  [[nodiscard]] bool question_mismatch() const { return tally_.question_mismatch > 0; }
  /// Returns the largest uncertainty of the common clock among the measuring ranks during the case, in seconds.
  [[nodiscard]] double clock_uncertainty() const { return clock_uncertainty_; }
  /// Returns the error message (case, question and waiting time) once a rank has not answered in time or MPI has
  /// failed; before that, nullopt.
  [[nodiscard]] const std::optional<std::string>& timeout_reason() const { return silence_; }
  /// Returns the seconds that this rank adds to each start time it proposes, because the agreement itself takes time.
  [[nodiscard]] double slack() const { return slack_; }

 private:
  enum class Question { none, any, largest, start, pass };
  /// The answers of the ranks that measure the case to a Question, combined by ask().
  struct Answer {
    bool together = true;  // whether all ranks asked the same question; otherwise the values are this rank's own
    double first = 0;
    double second = 0;
  };

  Answer ask(Question question, double first, double second = 0);
  /// Combines `values_` of all ranks by an all-reduce; does nothing once a rank has stopped responding. Returns the
  /// seconds that the all-reduce took.
  double exchange(const std::string& what);
  void set_neutral();
  void measure_exchange();
  [[nodiscard]] double tolerance() const;
  /// Whether to synchronise the clocks now; any measuring rank may request it.
  [[nodiscard]] bool synchronising_is_due() const;
  void synchronise_if_due();

  Communicator& ranks_;
  HostRuntime& host_;
  CommonClock& clock_;
  Timeout timeout_;
  std::function<int()> interrupted_here_;
  std::string case_;
  Company company_ = Company::together;
  std::array<double, 8> values_{};  // values of the all-reduce, indexed by Slot
  double step_ = 0;                 // number of questions of this case so far
  std::optional<double> exchange_seconds_;
  double slack_ = 0;
  double start_ = 0;                // agreed start of the pass on the common clock, seconds
  double synchronised_ = 0;         // when clocks were last synchronised, in seconds of the host's clock
  bool just_synchronised_ = false;  // whether the last exchange() synchronised the clocks
  double uncertainty_ = 0;          // largest clock uncertainty of a measuring rank at the last question, seconds
  bool late_ = false;
  bool apart_ = false;  // whether ranks have asked different questions since the last pass
  int void_in_a_row_ = 0;
  double length_ = 0;  // expected duration of the next pass, seconds
  Moments last_;
  Tally tally_;
  double clock_uncertainty_ = 0;
  int signal_ = 0;
  std::optional<std::string> silence_;
};

}  // namespace xferbench
