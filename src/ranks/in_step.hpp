// Passes in step by the common clock: one all-reduce for each question, and an agreed moment for each start (Round-Time
// of Hunold and Carpen-Amarie). docs/lab/fleets.md tells what comes late, and what follows.
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
#include "ranks/pace.hpp"
#include "ranks/waiting.hpp"

namespace xferbench {

/// For all cases of a run. Every rank calls begin_case() for every case. Those that measure it then ask their questions
/// and, through with it or failed, attend(); the others attend() at once. So all ranks take part in every all-reduce,
/// and who fails leaves nobody waiting.
///
/// Ranks that ask different questions all the same (there is a mistake in the scenario, or two programs) do not hang:
/// each goes by its own answer, and out_of_step() says so. Where somebody does not answer any more, or MPI fails,
/// silence() says what was waited for, and nobody is asked again: each goes by its own answers, and interrupted() ends
/// what is going on.
class InStep final : public Pace {
 public:
  /// Passes of one case.
  struct Tally {
    std::size_t passes = 0;       ///< all of them, those of the warm-up, too
    std::size_t void_passes = 0;  ///< repeated because a rank was late
    std::size_t late_passes = 0;  ///< of these, in which this rank was
    std::size_t out_of_step = 0;  ///< counted though a rank was late, since repeating did not help, or asked otherwise

    Tally& operator+=(const Tally& other);
  };

  /// `host` is that of the clock. `interrupted`: the signal that asks this rank to end; 0 while there was none.
  InStep(Communicator& ranks, HostRuntime& host, CommonClock& clock, Patience patience,
         std::function<int()> interrupted = xferbench::interrupted);

  /// Those who measure a case: where that is a single rank, nobody starts together with it, and no clock has to be
  /// synchronised meanwhile.
  enum class Company { alone, together };
  /// Collective. `name` is for errors.
  void begin_case(std::string name, Company company = Company::together);
  /// Takes part in what the others agree on, without a say, until all have left the case. Collective in the end.
  void attend();

  [[nodiscard]] bool any(bool mine) override;
  [[nodiscard]] double largest(double mine) override;
  [[nodiscard]] double shortest_pass() const override;
  void agree_on_start(double preparation, double length) override;
  void wait_for_start() override;
  [[nodiscard]] bool agree_on_pass(bool mine) override;
  /// Of all ranks of the fleet, also of those that attend.
  [[nodiscard]] bool interrupted() const override { return signal_ != 0 || silence_; }
  /// The signal that asked any of them to end; 0 while there was none. The same on all ranks once all have left a case.
  [[nodiscard]] int signal() const { return signal_; }
  [[nodiscard]] Moments last_pass() const override { return last_; }

  /// Of the case so far.
  [[nodiscard]] const Tally& tally() const { return tally_; }
  [[nodiscard]] bool out_of_step() const { return tally_.out_of_step > 0; }
  /// How far the common clock of those who measured was off at most, at any question; seconds.
  [[nodiscard]] double clock_uncertainty() const { return clock_uncertainty_; }
  /// Once somebody has not answered: the case, the question, and how long it was waited for.
  [[nodiscard]] const std::optional<std::string>& silence() const { return silence_; }
  /// What a start is put off by at this rank, in seconds, for the agreement itself.
  [[nodiscard]] double slack() const { return slack_; }

 private:
  enum class Question { none, any, largest, start, pass };
  /// Of those that measure the case.
  struct Answer {
    bool together = true;  // they asked the same question; if not, the rest is this rank's own
    double first = 0;
    double second = 0;
  };

  Answer ask(Question question, double first, double second = 0);
  /// An all-reduce of `values_`, unless somebody is silent; seconds that it took.
  double exchange(const std::string& what);
  void set_neutral();
  void measure_exchange();
  [[nodiscard]] double tolerance() const;
  /// Whether it is time to synchronise the clocks; any rank that measures may say so.
  [[nodiscard]] bool synchronising_is_due() const;
  void synchronise_if_due();

  Communicator& ranks_;
  HostRuntime& host_;
  CommonClock& clock_;
  Patience patience_;
  std::function<int()> interrupted_here_;
  std::string case_;
  Company company_ = Company::together;
  std::array<double, 8> values_{};  // by Slot, in the source file
  double step_ = 0;                 // questions of this case so far
  std::optional<double> exchange_seconds_;
  double slack_ = 0;
  double start_ = 0;                // of the common clock
  double synchronised_ = 0;         // by the host's clock
  bool just_synchronised_ = false;  // in the last exchange
  double uncertainty_ = 0;          // of the common clock of those who measure, at the last question
  bool late_ = false;
  bool apart_ = false;  // in a question since the last pass
  int void_in_a_row_ = 0;
  double length_ = 0;  // of the pass that is being agreed on, about
  Moments last_;
  Tally tally_;
  double clock_uncertainty_ = 0;
  int signal_ = 0;
  std::optional<std::string> silence_;
};

}  // namespace xferbench
