// The processes of a fleet and their messages. No function blocks: operations begin at the call, and the caller polls
// for their end (ranks/timed_collectives.hpp). A dead rank never answers, and a wait inside MPI for it would never
// return.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace xferbench {

/// MPI reported an error.
struct CommunicationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An operation in progress. The memory that it reads or writes must live until it is done. Destroying it earlier gives
/// it up. Its memory must then never be freed, so this is only for a process that is about to end.
class Pending {
 public:
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  virtual ~Pending() = default;
  /// Whether the operation has ended; may be called again afterwards. Throws CommunicationError if it failed.
  [[nodiscard]] virtual bool done() = 0;
};
using PendingPtr = std::unique_ptr<Pending>;

enum class Reduction { max, sum };

struct RankNumbers {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< number among the ranks of its node, which can share memory with it
  int local_size = 1;
  int node_root = 0;  ///< lowest rank of its node; identifies the node
};

/// All ranks must call the collective functions (barrier, broadcast, gather, all_reduce) in the same order. All
/// functions may throw CommunicationError. Only one thread at a time may call them.
class Communicator {
 public:
  explicit Communicator(const RankNumbers& numbers) : numbers_(numbers) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] const RankNumbers& numbers() const { return numbers_; }
  [[nodiscard]] int rank() const { return numbers_.rank; }
  [[nodiscard]] int size() const { return numbers_.size; }
  [[nodiscard]] int local_rank() const { return numbers_.local_rank; }
  [[nodiscard]] int local_size() const { return numbers_.local_size; }
  [[nodiscard]] int node_root() const { return numbers_.node_root; }
  /// Name and version of MPI, for example "Open MPI 4.1.4".
  [[nodiscard]] virtual std::string library() const = 0;

  [[nodiscard]] virtual PendingPtr barrier() = 0;
  [[nodiscard]] virtual PendingPtr broadcast(std::span<std::byte> data, int root) = 0;
  /// Sends to rank 0, where `all` gets `sizes[i]` bytes of each rank i, contiguously. On other ranks both are empty.
  [[nodiscard]] virtual PendingPtr gather(std::span<const std::byte> mine, std::span<std::byte> all,
                                          std::span<const std::size_t> sizes) = 0;
  /// Combines the values of all ranks in place; all ranks get the result.
  [[nodiscard]] virtual PendingPtr all_reduce(std::span<double> values, Reduction reduction) = 0;
  /// `data` has at most INT_MAX bytes. Tags are 0 to 32767; tags from kOwnTags on are reserved for ranks/.
  [[nodiscard]] virtual PendingPtr send(int to, int tag, std::span<const std::byte> data) = 0;
  [[nodiscard]] virtual PendingPtr receive(int from, int tag, std::span<std::byte> data) = 0;

  /// Keeps memory of an abandoned operation, which MPI may still access, alive as long as this object. If MPI cannot be
  /// finalized, the memory is never freed.
  virtual void keep(std::shared_ptr<void> memory) { kept_.push_back(std::move(memory)); }

  /// Ends all ranks; a last resort.
  [[noreturn]] virtual void abort(int code) noexcept = 0;

  static constexpr int kOwnTags = 32000;

 protected:
  /// Never frees the kept memory.
  void leave_kept() { static_cast<void>(new std::vector(std::move(kept_))); }

 private:
  RankNumbers numbers_;
  std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace xferbench
