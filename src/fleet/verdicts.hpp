// Combines the suspicions from all tests into verdicts: which GPUs, links, hosts and transfers are flagged as slow, and
// the report's sentences about them.
#pragma once

#include "fleet/suspicion.hpp"

namespace xferbench::fleet {

/// Whether the second measurement of a test confirmed a suspicion.
struct RetestOutcome {
  enum class Reproduced {
    never,   ///< the test was not measured again
    nobody,  ///< the suspect, or every unsuspected rank to compare it with, was not measured again
    clocks,  ///< the clock error of the second measurement was too large
    no,
    yes,
  };
  Reproduced seen = Reproduced::never;
  /// Shortfall of each new value of the suspect, compared with the unsuspected ranks.
  std::vector<double> shortfalls{};
};

class Verdicts {
 public:
  /// `fleet` and `first` must outlive this object.
  Verdicts(const Fleet& fleet, const FirstRound& first, const Options& options)
      : fleet_(fleet), first_(first), threshold_(options.threshold) {}
  /// Adds a suspicion from a test, with the outcome of its second measurement. To be called in the order of the tests.
  /// `test` and `suspicion` must outlive this object.
  void add(const Test& test, const Suspicion& suspicion, RetestOutcome again);

  /// Returns what is flagged, in this order: ranks that no longer answer, hosts, GPUs and links by rank, and problems
  /// that only transfers between ranks show.
  [[nodiscard]] std::vector<Flagged> flagged() const;
  /// Returns a sentence about each subject with unconfirmed suspicions, even if other tests confirmed that it is slow.
  [[nodiscard]] std::vector<std::string> notes() const;
  /// Returns the number of suspicions that the second round neither confirmed nor refuted.
  [[nodiscard]] std::size_t unresolved() const;

 private:
  /// A suspicion, the test that raised it, and the outcome of the second measurement.
  struct Shown {
    const Test* test = nullptr;
    const Suspicion* suspicion = nullptr;
    RetestOutcome again{};
  };
  using ShownOf = std::map<Subject, std::vector<Shown>>;

  [[nodiscard]] Flagged missing(int rank) const;
  [[nodiscard]] std::map<int, std::vector<Shown>> slow_hosts() const;
  [[nodiscard]] Flagged host(int node, const std::vector<Shown>& shown) const;
  struct PartOfRank {
    Flagged::What what = Flagged::What::link;
    const char* name = "";
    const char* doubt = "";  ///< remark that ends the sentence about the rank; may be empty
  };
  [[nodiscard]] PartOfRank part_of(const Subject& subject, const std::vector<Shown>& shown) const;
  [[nodiscard]] Flagged rank(const Subject& subject, const std::vector<Shown>& shown) const;
  /// Whether all ranks of a node are suspected; ignores ranks that have no transfers of the suspected kind.
  [[nodiscard]] bool covers_node(int node, const std::map<int, std::vector<Shown>>& by_rank) const;
  [[nodiscard]] Flagged network(const std::vector<int>& ranks, const std::vector<Shown>& shown) const;
  [[nodiscard]] Flagged pair(const Subject& subject, const std::vector<Shown>& shown) const;
  [[nodiscard]] bool exchanged_with_others(int rank, int than) const;
  void add_trained_low(std::vector<Flagged>& flagged) const;
  void add_transfers(std::vector<Flagged>& flagged) const;
  void add_unless_explained(std::vector<Flagged>& flagged, Flagged transfers) const;
  [[nodiscard]] bool has_other_low_transfers(const std::vector<int>& pair, const std::vector<int>& ranks) const;
  [[nodiscard]] Flagged flag(Flagged::What what, std::string name, const std::vector<Shown>& shown) const;
  [[nodiscard]] std::string numbers(const std::vector<Shown>& shown) const;
  /// Returns the number of tests that have values of the subject, among all tests or among the tests of one data path.
  [[nodiscard]] std::size_t tests_of_subject(const Subject& subject, std::optional<DataPath> path = {}) const;
  [[nodiscard]] bool is_fine(const Subject& subject, DataPath path) const;

  const Fleet& fleet_;
  const FirstRound& first_;
  double threshold_;
  ShownOf shown_;      ///< suspicions that the second round confirmed, by subject
  ShownOf not_shown_;  ///< suspicions that the second round did not confirm, by subject
};

}  // namespace xferbench::fleet
