// What suspicions of all tests amount to: who is flagged, as what, and what is said of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fleet/suspicion.hpp"

namespace xferbench::fleet {

/// What the second round says of a suspicion.
struct Again {
  enum class Seen {
    never,   ///< it did not measure the test
    nobody,  ///< not the suspect, or no good one beside it
    clocks,  ///< whose clocks were not sure enough
    no,
    yes,
  };
  Seen seen = Seen::never;
  std::vector<double> shortfalls{};  ///< below the good ones, of each value
};

class Verdicts {
 public:
  /// Both outlive it.
  Verdicts(const Fleet& fleet, const FirstRound& first, const Options& options)
      : fleet_(fleet), first_(first), threshold_(options.threshold) {}
  /// `test` and `suspicion` outlive it. In the order of the tests.
  void add(const Test& test, const Suspicion& suspicion, Again again);

  /// Missing ranks, hosts, GPUs and links by their ranks, then what only transfers between ranks show.
  [[nodiscard]] std::vector<Flagged> flagged() const;
  /// Who was suspected and is not flagged.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  /// A test that shows a suspicion.
  struct Shown {
    const Test* test = nullptr;
    const Suspicion* suspicion = nullptr;
    Again again{};
  };
  using ShownOf = std::map<Subject, std::vector<Shown>>;

  [[nodiscard]] Flagged missing(int rank) const;
  [[nodiscard]] Flagged host(const Subject& subject, const std::vector<Shown>& shown) const;
  [[nodiscard]] Flagged rank(const Subject& subject, const std::vector<Shown>& shown) const;
  [[nodiscard]] Flagged network(const std::vector<int>& ranks, const std::vector<Shown>& shown) const;
  [[nodiscard]] Flagged pair(const Subject& subject, const std::vector<Shown>& shown) const;
  [[nodiscard]] bool exchanged_with_others(int rank, int than) const;
  void add_transfers(std::vector<Flagged>& flagged) const;
  void add_or_explain(std::vector<Flagged>& flagged, Flagged transfers) const;
  [[nodiscard]] bool others_are_low(const std::vector<int>& pair, const std::vector<int>& ranks) const;
  [[nodiscard]] Flagged flag(Flagged::What what, std::string name, const std::vector<Shown>& shown) const;
  [[nodiscard]] std::string numbers(const std::vector<Shown>& shown) const;
  /// How many tests say something of a subject; of these, how many stay on the GPU.
  [[nodiscard]] std::size_t tests_of_subject(const Subject& subject, bool on_gpu_only) const;

  const Fleet& fleet_;
  const FirstRound& first_;
  double threshold_;
  ShownOf shown_;      ///< in both rounds
  ShownOf not_shown_;  ///< again
};

}  // namespace xferbench::fleet
