// The last thing that ranks say to each other when one of them does not answer any more.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
  /// last texts; from then on at every call, so that whoever goes on all the same is stopped where it waits next.
  void look();
  /// All is well. Collective.
  void end(const Patience& patience);

  struct Heard {
    std::vector<std::string> texts{};  ///< at rank 0: what each rank said; empty of those that said nothing
    std::vector<int> gone{};           ///< who has died, as neighbours saw, without a word; ascending
    std::vector<int> silent{};         ///< at rank 0: who has not said a word, dead or not; ascending
    std::optional<int> code{};         ///< elsewhere: what rank 0 dismisses with; nothing where it did not answer
  };
  /// At rank 0: asks all for their last texts. Who does not answer at all within so many seconds is silent; texts may
  /// take as long as they keep coming. Elsewhere: tells `mine`, and waits so long for rank 0 to write everything down:
  /// where a launcher ends all of them, the first that is gone leaves less time to the others.
  Heard say(const std::string& mine, double seconds) noexcept;
  /// At rank 0: all others may end now, with that exit code.
  void dismiss(int code) noexcept;

 private:
  struct Other;
  /// What rank 0 tells the others.
  struct Call {
    enum class Kind : std::int32_t { well, farewell, dismissed };
    Kind kind = Kind::well;
    std::int32_t code = 0;  // to end with, once dismissed
  };

  void greet(const Patience& patience);
  void send_to_all(Call call);
  [[nodiscard]] bool is_called(Call::Kind kind);
  [[nodiscard]] std::optional<std::string> reason_to_end();
  [[nodiscard]] std::optional<std::string> heard_of_others();
  void look_after_neighbours();
  void learn_who_is_gone(const std::string& text);
  [[nodiscard]] bool is_gone(int rank) const;
  [[nodiscard]] bool has_spoken(int rank);
  Heard listen(double seconds);
  [[nodiscard]] Heard all_heard();
  Heard speak(const std::string& mine, double seconds);

  Communicator& ranks_;
  std::vector<std::unique_ptr<Other>> others_;  // at rank 0: of each rank but it
  std::size_t next_ = 0;                        // that look() looks at
  std::vector<Neighbour> neighbours_;
  std::vector<int> gone_;
  std::optional<std::string> end_;  // why look() throws
  std::chrono::steady_clock::time_point looked_{};
  Call call_;  // elsewhere: of rank 0
  PendingPtr calling_;
  std::vector<std::unique_ptr<Call>> calls_;  // that are on their way
  std::vector<PendingPtr> sending_;
  std::string mine_;
  std::uint64_t size_ = 0;
};

}  // namespace xferbench
