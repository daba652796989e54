// How all ranks end when one of them has failed, has died or no longer answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ranks/communicator.hpp"
#include "ranks/timed_collectives.hpp"

namespace xferbench {

/// Notices when another rank shuts down or dies, and collects the ranks' last texts (reports) at rank 0. Normally all
/// ranks call end(). If a rank fails, the others call send_final() to send their last text; then the process ends
/// without destroying this object, because MPI can neither go on nor be finalized.
class ShutdownHandshake : NonCopyable {
 public:
  /// Another process on this host.
  struct Neighbour {
    int rank = 0;
    int process = 0;  ///< process id
  };

  /// The processes of `neighbours` are checked regularly, so that the death of one is noticed at once, long before a
  /// timeout. Collective: rank 0 exchanges a message with each other rank, so that MPI establishes all connections now.
  /// A later attempt to connect to a dead rank may hang: Open MPI 4 reports the failure to its launcher and waits for
  /// it, although the launcher no longer listens.
  ShutdownHandshake(Communicator& ranks, std::vector<Neighbour> neighbours, const Timeout& timeout);
  ~ShutdownHandshake();

  /// To be called while waiting, as Timeout::idle. Throws RankTimeoutError if another rank has shut down or died, or if
  /// rank 0 asks for last texts. From then on every call throws, so that any later wait ends, too.
  void look();
  /// Ends a run without failure. Collective.
  void end(const Timeout& timeout);

  struct FinalReports {
    std::vector<std::string> texts{};  ///< at rank 0: last text of each rank; empty if it sent none
    /// Ranks that sent no last text and whose process is dead, as another rank on the host found; ascending.
    std::vector<int> gone{};
    std::vector<int> silent{};  ///< at rank 0: ranks that sent nothing, dead or not; ascending
    std::optional<int> code{};  ///< at other ranks: exit code that rank 0 sent; absent if rank 0 did not answer
  };
  /// At rank 0: asks all ranks for their last texts. Ranks that send nothing within `seconds` are listed in `silent`;
  /// texts may take longer while they keep arriving. At other ranks: sends `mine`, and waits up to `seconds` until rank
  /// 0 has written its files, because a launcher that kills all ranks after the first exit would leave rank 0 less
  /// time.
  FinalReports send_final(const std::string& mine, double seconds) noexcept;
  /// At rank 0: lets all other ranks end, with this exit code.
  void release_all(int code) noexcept;

 private:
  struct Other;
  /// A message from rank 0 to the others.
  struct Call {
    enum class Kind : std::int32_t { well, shutdown, dismissed };
    Kind kind = Kind::well;
    std::int32_t code = 0;  // exit code with which the rank must end, if `kind` is dismissed
  };

  void connect_ranks(const Timeout& timeout);
  void send_to_all(Call call);
  [[nodiscard]] bool is_called(Call::Kind kind);
  [[nodiscard]] std::optional<std::string> reason_to_end();
  [[nodiscard]] std::optional<std::string> reason_from_others();
  void check_neighbours();
  void note_lost_ranks(const std::string& text);
  [[nodiscard]] bool is_gone(int rank) const;
  [[nodiscard]] bool has_answered(int rank);
  FinalReports collect_texts(double seconds);
  [[nodiscard]] FinalReports all_reports();
  FinalReports send_text(const std::string& mine, double seconds);

  Communicator& ranks_;
  std::vector<std::unique_ptr<Other>> others_;  // at rank 0: one for each other rank
  std::size_t next_ = 0;                        // index in others_ of the rank that look() checked last
  std::vector<Neighbour> neighbours_;
  std::vector<int> gone_;
  std::optional<std::string> end_;  // message with which look() throws, once set
  std::chrono::steady_clock::time_point looked_{};
  Call call_;  // at ranks other than 0: latest message from rank 0
  PendingPtr calling_;
  std::vector<std::unique_ptr<Call>> calls_;  // messages that are being sent
  std::vector<PendingPtr> sending_;
  std::string mine_;
  std::uint64_t size_ = 0;
};

}  // namespace xferbench
