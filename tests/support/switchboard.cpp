#include "support/switchboard.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace xferbench::test {

/// `finish` runs under the lock and on the rank that owns the operation. It returns whether the operation has ended,
/// and stores the received data when it has.
class Switchboard::Operation final : public Pending {
 public:
  Operation(Switchboard& board, int rank, std::function<bool()> finish)
      : board_(board), rank_(rank), finish_(std::move(finish)) {}

  [[nodiscard]] bool done() override {
    if (ask()) return true;
    board_.turns_.pause(rank_);
    return ask();
  }

 private:
  bool ask() {
    const std::lock_guard lock(board_.mutex_);
    if (!done_) done_ = finish_();
    return done_;
  }

  Switchboard& board_;
  int rank_;
  std::function<bool()> finish_;
  bool done_ = false;
};

class Switchboard::Rank final : public Communicator {
 public:
  Rank(Switchboard& board, int rank)
      : Communicator(
            {.rank = rank,
             .size = board.ranks_,
             .local_rank = rank % board.ranks_per_node_,
             .local_size = std::min(board.ranks_per_node_, board.ranks_ - (rank - rank % board.ranks_per_node_)),
             .node_root = rank - rank % board.ranks_per_node_}),
        board_(board),
        rank_(rank) {}

  [[nodiscard]] std::string library() const override { return "threads of one process"; }

  [[nodiscard]] PendingPtr barrier() override {
    return after(board_.enter(rank_, "barrier", [](Collective&) {}), [](Collective&) {});
  }

  [[nodiscard]] PendingPtr broadcast(std::span<std::byte> data, int root) override {
    const bool mine = root == rank_;
    const auto call = board_.enter(
        rank_, "broadcast of " + std::to_string(data.size()) + " from " + std::to_string(root), [&](Collective& c) {
          if (!mine) return;
          c.data.assign(data.begin(), data.end());
          c.root_entered = true;
        });
    return operation([call, data, mine] {
      if (!call || !call->root_entered) return failed(call);
      if (!mine) std::ranges::copy(call->data, data.begin());
      return true;
    });
  }

  [[nodiscard]] PendingPtr gather(std::span<const std::byte> mine, std::span<std::byte> all,
                                  std::span<const std::size_t> sizes) override {
    const auto call = board_.enter(rank_, "gather", [&](Collective& c) {
      c.parts.resize(static_cast<std::size_t>(size()));
      c.parts[static_cast<std::size_t>(rank_)].assign(mine.begin(), mine.end());
    });
    if (rank_ != 0) return operation([call] { return !failed(call) && call != nullptr; });
    return after(call, [all, sizes](Collective& c) {
      auto to = all.begin();
      for (std::size_t i = 0; i < c.parts.size(); ++i) {
        if (c.parts[i].size() != sizes[i]) throw CommunicationError("gather: another size than was sent");
        to = std::ranges::copy(c.parts[i], to).out;
      }
    });
  }

  [[nodiscard]] PendingPtr all_reduce(std::span<double> values, Reduction reduction) override {
    const bool sum = reduction == Reduction::sum;
    const auto call =
        board_.enter(rank_, (sum ? "sum of " : "max of ") + std::to_string(values.size()), [&](Collective& c) {
          if (c.values.empty()) return c.values.assign(values.begin(), values.end());
          if (c.values.size() != values.size()) return;
          for (std::size_t i = 0; i < values.size(); ++i) {
            c.values[i] = sum ? c.values[i] + values[i] : std::max(c.values[i], values[i]);
          }
        });
    return after(call, [values](Collective& c) { std::ranges::copy(c.values, values.begin()); });
  }

  [[nodiscard]] PendingPtr send(int to, int tag, std::span<const std::byte> data) override {
    const std::lock_guard lock(board_.mutex_);
    if (board_.silent(rank_)) return operation([] { return false; });
    board_.boxes_.at(static_cast<std::size_t>(to))[{rank_, tag}].messages.emplace_back(data.begin(), data.end());
    board_.turns_.wake(to);
    return operation([] { return true; });
  }

  [[nodiscard]] PendingPtr receive(int from, int tag, std::span<std::byte> data) override {
    const std::lock_guard lock(board_.mutex_);
    if (board_.silent(rank_)) return operation([] { return false; });
    Box& box = board_.boxes_.at(static_cast<std::size_t>(rank_))[{from, tag}];
    return operation([&box, number = box.asked++, data] { return take(box, number, data); });
  }

  [[noreturn]] void abort(int) noexcept override { std::abort(); }

 private:
  static bool failed(const CollectivePtr& call) {
    if (call && !call->error.empty()) throw CommunicationError(call->error);
    return false;
  }

  /// Receives the message of this number, independent of other receives from the same box.
  static bool take(Box& box, std::size_t number, std::span<std::byte> data) {
    if (number - box.first >= box.messages.size()) return false;
    const std::vector<std::byte>& message = box.messages[number - box.first];
    if (message.size() != data.size()) throw CommunicationError("receive: another size than was sent");
    if (!message.empty()) std::memcpy(data.data(), message.data(), message.size());
    box.taken[number] = true;
    while (box.taken.erase(box.first) > 0) {
      box.messages.pop_front();
      ++box.first;
    }
    return true;
  }

  PendingPtr operation(std::function<bool()> finish) {
    return std::make_unique<Operation>(board_, rank_, std::move(finish));
  }

  /// An operation that ends once all ranks have entered the call.
  PendingPtr after(const CollectivePtr& call, std::function<void(Collective&)> finish) {
    return operation([call, finish = std::move(finish), all = size()] {
      if (!call || call->entered < all || !call->error.empty()) return failed(call);
      finish(*call);
      return true;
    });
  }

  Switchboard& board_;
  int rank_;
};

Switchboard::Switchboard(int ranks, int ranks_per_node, Scheduler& turns)
    : ranks_(ranks),
      ranks_per_node_(ranks_per_node),
      turns_(turns),
      silent_(static_cast<std::size_t>(ranks)),
      next_(static_cast<std::size_t>(ranks)),
      boxes_(static_cast<std::size_t>(ranks)) {}

std::unique_ptr<Communicator> Switchboard::communicator(int rank) { return std::make_unique<Rank>(*this, rank); }

void Switchboard::stop_responding(int rank) {
  const std::lock_guard lock(mutex_);
  silent_.at(static_cast<std::size_t>(rank)) = 1;
}

Switchboard::CollectivePtr Switchboard::enter(int rank, const std::string& what,
                                              const std::function<void(Collective&)>& add) {
  const std::lock_guard lock(mutex_);
  if (silent(rank)) return nullptr;
  const std::size_t number = next_.at(static_cast<std::size_t>(rank))++ - first_collective_;
  if (number == collectives_.size()) collectives_.push_back(std::make_shared<Collective>());
  const CollectivePtr call = collectives_[number];
  if (call->entered++ == 0) call->what = what;
  const bool root_was_here = call->root_entered;
  if (call->what != what) call->error = "rank " + std::to_string(rank) + ": " + what + ", others: " + call->what;
  if (call->error.empty()) add(*call);
  while (!collectives_.empty() && collectives_.front()->entered == ranks_) {
    collectives_.pop_front();
    ++first_collective_;
  }
  if (call->entered == ranks_ || call->root_entered != root_was_here || !call->error.empty()) {
    for (int other = 0; other < ranks_; ++other) turns_.wake(other);
  }
  return call;
}

}  // namespace xferbench::test
