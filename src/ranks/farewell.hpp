// The last thing that ranks say to each other when one of them does not answer any more.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ranks/communicator.hpp"
#include "ranks/waiting.hpp"

namespace xferbench {

/// From when it is made on, a rank hears of it where others say farewell. Either all end() it, or those that still can
/// say() a last text to rank 0 and the process ends without destroying this: MPI can neither go on nor be ended then.
class Farewell {
 public:
  /// A process of this host.
  struct Neighbour {
    int rank = 0;
    int process = 0;  ///< its number
  };

  /// `neighbours` are watched: that one of them has died is known at once, long before it is missed.
  /// Collective: rank 0 and each other one greet each other, so that no connection has to be made later on, when the
  /// other end may be gone: Open MPI 4 reports one that fails to its launcher and waits for that, which then has ceased
  /// to listen.
  Farewell(Communicator& ranks, std::vector<Neighbour> neighbours, const Patience& patience);
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;
  ~Farewell();

  /// For Patience::idle. Throws RanksSilentError where another rank has said farewell or has died, or rank 0 asks for
  /// last texts.
  void look();
  /// All is well. Collective.
  void end(const Patience& patience);

  struct Heard {
    std::vector<std::string> texts;  ///< at rank 0: what each rank said; empty of those that said nothing
    /// At rank 0: who has died, as neighbours saw; where nobody saw anything, who did not answer. Ascending.
    std::vector<int> silent;
  };
  /// At rank 0: asks all for their last texts and waits for those that answer within so many seconds. Elsewhere: tells
  /// `mine`, and waits as long for rank 0 to write everything down: where a launcher ends all of them, the first that
  /// is gone leaves less time to the others.
  Heard say(const std::string& mine, double seconds) noexcept;
  /// At rank 0: all others may end now.
  void dismiss() noexcept;

 private:
  struct Other;
  enum class Call : std::uint8_t { well, farewell, dismissed };

  void greet(const Patience& patience);
  void send_to_all(Call call);
  void look_after_neighbours();
  void learn_who_is_gone(const std::string& text);
  [[nodiscard]] bool is_gone(int rank) const;
  Heard listen(double seconds);
  void speak(const std::string& mine, double seconds);

  Communicator& ranks_;
  std::vector<std::unique_ptr<Other>> others_;  // at rank 0: of each rank but it
  std::size_t next_ = 0;                        // that look() looks at
  std::vector<Neighbour> neighbours_;
  std::vector<int> gone_;
  std::chrono::steady_clock::time_point looked_{};
  Call call_ = Call::well;  // elsewhere: of rank 0
  PendingPtr calling_;
  std::vector<std::unique_ptr<Call>> calls_;  // that are on their way
  std::vector<PendingPtr> sending_;
  std::string mine_;
  std::uint64_t size_ = 0;
};

}  // namespace xferbench
