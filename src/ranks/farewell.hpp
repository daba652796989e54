// The last thing that ranks say to each other when one of them does not answer any more.
#pragma once

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
  /// Collective.
  explicit Farewell(Communicator& ranks);
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;
  ~Farewell();

  /// For Patience::idle. Throws RanksSilentError where another rank has said farewell, or rank 0 asks for it.
  void look();
  /// All is well. Collective.
  void end(const Patience& patience);

  struct Heard {
    std::vector<std::string> texts;  ///< at rank 0: what each rank said; empty of those that said nothing
    std::vector<int> silent;         ///< at rank 0: who did not answer, ascending
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

  void send_to_all(Call call);
  Heard listen(double seconds);
  void speak(const std::string& mine, double seconds);

  Communicator& ranks_;
  std::vector<std::unique_ptr<Other>> others_;  // at rank 0: of each rank but it
  std::size_t next_ = 0;                        // that look() looks at
  Call call_ = Call::well;                      // elsewhere: of rank 0
  PendingPtr calling_;
  std::vector<std::unique_ptr<Call>> calls_;  // that are on their way
  std::vector<PendingPtr> sending_;
  std::string mine_;
  std::uint64_t size_ = 0;
};

}  // namespace xferbench
