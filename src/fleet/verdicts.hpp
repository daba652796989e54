// What suspicions of all tests amount to: who is flagged, as what, and what is said of it.
#pragma once

#include <map>
#include <optional>
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
  /// Who was suspected in a test and not so again; of who is flagged, by other tests.
  [[nodiscard]] std::vector<std::string> notes() const;
  /// How many suspicions the second round could neither confirm nor remove.
  [[nodiscard]] std::size_t unresolved() const;

 private:
  /// A test that shows a suspicion.
  struct Shown {
    const Test* test = nullptr;
    const Suspicion* suspicion = nullptr;
    Again again{};
  };
  using ShownOf = std::map<Subject, std::vector<Shown>>;

  [[nodiscard]] Flagged missing(int rank) const;
  [[nodiscard]] std::map<int, std::vector<Shown>> slow_hosts() const;
  [[nodiscard]] Flagged host(int node, const std::vector<Shown>& shown) const;
  struct PartOfRank {
    Flagged::What what = Flagged::What::link;
    const char* name = "";
    const char* doubt = "";  ///< the end of the sentence; empty where there is none
  };
  [[nodiscard]] PartOfRank part_of(const Subject& subject, const std::vector<Shown>& shown) const;
  [[nodiscard]] Flagged rank(const Subject& subject, const std::vector<Shown>& shown) const;
  /// Whether those of a node that are suspected by their transfers are all that could be.
  [[nodiscard]] bool are_all_of(int node, const std::map<int, std::vector<Shown>>& by_rank) const;
  [[nodiscard]] Flagged network(const std::vector<int>& ranks, const std::vector<Shown>& shown) const;
  [[nodiscard]] Flagged pair(const Subject& subject, const std::vector<Shown>& shown) const;
  [[nodiscard]] bool exchanged_with_others(int rank, int than) const;
  void add_trained_low(std::vector<Flagged>& flagged) const;
  void add_transfers(std::vector<Flagged>& flagged) const;
  void add_or_explain(std::vector<Flagged>& flagged, Flagged transfers) const;
  [[nodiscard]] bool others_are_low(const std::vector<int>& pair, const std::vector<int>& ranks) const;
  [[nodiscard]] Flagged flag(Flagged::What what, std::string name, const std::vector<Shown>& shown) const;
  [[nodiscard]] std::string numbers(const std::vector<Shown>& shown) const;
  /// How many tests say something of a subject: all, or those of a path.
  [[nodiscard]] std::size_t tests_of_subject(const Subject& subject, std::optional<DataPath> path = {}) const;
  [[nodiscard]] bool is_fine(const Subject& subject, DataPath path) const;

  const Fleet& fleet_;
  const FirstRound& first_;
  double threshold_;
  ShownOf shown_;      ///< in both rounds
  ShownOf not_shown_;  ///< again
};

}  // namespace xferbench::fleet
