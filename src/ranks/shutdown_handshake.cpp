#include "ranks/shutdown_handshake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <limits>
#include <span>
#include <sstream>
#include <thread>

namespace xferbench {

namespace {

using ShutdownClock = std::chrono::steady_clock;

constexpr int kGreetingTag = Communicator::kOwnTags + 703;
constexpr int kCallTag = Communicator::kOwnTags + 700;
constexpr int kSizeTag = Communicator::kOwnTags + 701;
constexpr int kTextTag = Communicator::kOwnTags + 702;
/// Value that a rank sends instead of the size of its last text if it ends without failure.
constexpr std::uint64_t kWell = std::numeric_limits<std::uint64_t>::max();
/// Largest size of a last text in bytes; a longer text is sent as an empty one.
constexpr std::uint64_t kLongestText = std::numeric_limits<int>::max();

template <class Value>
std::span<std::byte> value_bytes(Value& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// Polls until `done` returns true; returns false on a timeout.
template <class Done>
bool poll_for(double seconds, const Done& done) {
  const auto end = ShutdownClock::now() +
                   std::chrono::duration_cast<ShutdownClock::duration>(std::chrono::duration<double>(seconds));
  while (!done()) {
    if (ShutdownClock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

bool is_alive(int process) { return kill(process, 0) == 0 || errno != ESRCH; }

bool all_done(const std::vector<PendingPtr>& operations) {
  return std::ranges::all_of(operations, [](const PendingPtr& one) { return one->done(); });
}

}  // namespace

/// What rank 0 has received from one other rank so far.
struct ShutdownHandshake::Other {
  Other(Communicator& all, int number) : ranks(all), rank(number) {
    pending = ranks.receive(rank, kSizeTag, value_bytes(size));
  }

  /// Whether the rank has announced its end: it has sent the size of its last text, or kWell.
  [[nodiscard]] bool has_answered() {
    if (!said && pending->done()) said = true;
    return said;
  }
  /// Whether the rank's last text has arrived completely.
  [[nodiscard]] bool has_ended() {
    if (!has_answered()) return false;
    if (size == kWell || size == 0) return true;
    if (text.empty()) {
      text.resize(size);
      pending = ranks.receive(rank, kTextTag, std::as_writable_bytes(std::span(text)));
    }
    return pending->done();
  }

  Communicator& ranks;
  int rank;
  std::uint64_t size = 0;
  std::string text{};
  bool said = false;
  PendingPtr pending;
};

ShutdownHandshake::ShutdownHandshake(Communicator& ranks, std::vector<Neighbour> neighbours, const Timeout& timeout)
    : ranks_(ranks), neighbours_(std::move(neighbours)) {
  connect_ranks(timeout);
  // All ranks are alive now. A process that seems dead is only invisible (in another container): do not watch it.
  std::erase_if(neighbours_, [](const Neighbour& n) { return !is_alive(n.process); });
  if (ranks.rank() == 0) {
    for (int rank = 1; rank < ranks.size(); ++rank) others_.push_back(std::make_unique<Other>(ranks, rank));
  } else {
    calling_ = ranks.receive(0, kCallTag, value_bytes(call_));
  }
}

ShutdownHandshake::~ShutdownHandshake() = default;

void ShutdownHandshake::connect_ranks(const Timeout& timeout) {
  std::vector<std::byte> said(static_cast<std::size_t>(ranks_.size()));
  std::vector<std::byte> heard(said.size());
  std::vector<PendingPtr> greetings;
  const auto greet_one = [&](int rank) {
    const auto place = static_cast<std::size_t>(rank);
    greetings.push_back(ranks_.receive(rank, kGreetingTag, std::span(heard).subspan(place, 1)));
    greetings.push_back(ranks_.send(rank, kGreetingTag, std::span(said).subspan(place, 1)));
  };
  if (ranks_.rank() != 0) greet_one(0);
  for (int rank = 1; ranks_.rank() == 0 && rank < ranks_.size(); ++rank) greet_one(rank);
  for (const PendingPtr& one : greetings) wait_for(*one, timeout, "the first messages of all ranks");
}

bool ShutdownHandshake::is_gone(int rank) const { return std::ranges::find(gone_, rank) != gone_.end(); }

/// Whether another rank has announced its end; always false except at rank 0.
bool ShutdownHandshake::has_answered(int rank) {
  return calling_ == nullptr && rank > 0 && others_.at(static_cast<std::size_t>(rank - 1))->has_answered();
}

/// Looks for ranks on this host that have died: their processes no longer exist, but they have not announced their end.
void ShutdownHandshake::check_neighbours() {
  constexpr auto kBetween = std::chrono::milliseconds(20);
  const auto now = ShutdownClock::now();
  if (now - looked_ < kBetween) return;
  looked_ = now;
  for (const Neighbour& n : neighbours_) {
    if (!is_alive(n.process) && !is_gone(n.rank) && !has_answered(n.rank)) gone_.push_back(n.rank);
  }
}

bool ShutdownHandshake::is_called(Call::Kind kind) { return calling_->done() && call_.kind == kind; }

/// Returns, at rank 0, why the run must end, if another rank has announced its end. Checking a rank costs an MPI call,
/// and look() is called every 200 us or more often. So each call checks only 1/128 of the ranks; all ranks are still
/// checked several times a second.
std::optional<std::string> ShutdownHandshake::reason_from_others() {
  constexpr std::size_t kShares = 128;
  for (std::size_t left = (others_.size() + kShares - 1) / kShares; left > 0; --left) {
    next_ = (next_ + 1) % others_.size();
    Other& other = *others_[next_];
    if (other.has_answered() && other.size != kWell) return fmt::format("rank {} has stopped", other.rank);
  }
  return std::nullopt;
}

/// Returns why this rank must end; nullopt if it may go on. Checks messages before processes: while rank 0 is
/// suspended, other ranks may time out and end. Their processes are then gone, but they have not died.
std::optional<std::string> ShutdownHandshake::reason_to_end() {
  if (calling_) {
    if (is_called(Call::Kind::shutdown)) return "rank 0 has ended the run";
    // The run ends without failure, so a process that no longer exists has not died.
    if (is_called(Call::Kind::well)) return std::nullopt;
  } else if (auto heard = reason_from_others()) {
    return heard;
  }
  check_neighbours();
  if (!gone_.empty()) return fmt::format("rank {} has died", gone_.front());
  return std::nullopt;
}

void ShutdownHandshake::look() {
  if (!end_) end_ = reason_to_end();
  if (end_) throw RankTimeoutError(*end_);
}

void ShutdownHandshake::send_to_all(Call call) {
  for (const auto& other : others_) {
    if (is_gone(other->rank)) continue;
    calls_.push_back(std::make_unique<Call>(call));
    sending_.push_back(ranks_.send(other->rank, kCallTag, value_bytes(*calls_.back())));
  }
}

void ShutdownHandshake::end(const Timeout& timeout) {
  constexpr const char* kWhat = "the end of the run";
  send_to_all({.kind = Call::Kind::well});
  if (calling_) {
    size_ = kWell;
    sending_.push_back(ranks_.send(0, kSizeTag, value_bytes(size_)));
    wait_for(*calling_, timeout, kWhat);
  }
  for (const auto& other : others_) wait_for(*other->pending, timeout, kWhat);
  for (const PendingPtr& one : sending_) wait_for(*one, timeout, kWhat);
}

/// Parses the first line of the final report of a rank, which lists the ranks that it found dead, and records them.
void ShutdownHandshake::note_lost_ranks(const std::string& text) {
  std::istringstream line(text.substr(0, text.find('\n')));
  for (int rank = 0; line >> rank;) {
    if (!is_gone(rank)) gone_.push_back(rank);
  }
}

ShutdownHandshake::FinalReports ShutdownHandshake::collect_texts(double seconds) {
  // Seconds to wait for texts that arrive unasked. They name the dead ranks, to which rank 0 must not send anything.
  constexpr double kSpontaneous = 0.05;
  constexpr double kForEach = 100e-6;  // seconds added to the timeout for each rank, because all send to rank 0 at once
  // Poll every rank each time, because MPI makes progress only when polled.
  const auto count = [&](bool (Other::*question)()) {
    return std::ranges::count_if(others_,
                                 [&](const auto& other) { return (*other.*question)() || is_gone(other->rank); });
  };
  const auto all = std::ssize(others_);
  poll_for(kSpontaneous, [&] { return count(&Other::has_ended) == all; });
  for (const auto& other : others_) {
    if (other->has_ended()) note_lost_ranks(other->text);
  }
  send_to_all({.kind = Call::Kind::shutdown});
  const double timeout = seconds + kForEach * static_cast<double>(others_.size());
  poll_for(timeout, [&] { return count(&Other::has_answered) == all; });
  // Wait until all announced texts have arrived, but give up if none of them is completed within the timeout.
  for (auto ended = count(&Other::has_ended); ended < count(&Other::has_answered); ended = count(&Other::has_ended)) {
    if (!poll_for(timeout, [&] { return count(&Other::has_ended) > ended; })) break;
  }
  return all_reports();
}

ShutdownHandshake::FinalReports ShutdownHandshake::all_reports() {
  FinalReports heard{.texts = std::vector<std::string>(others_.size() + 1)};
  for (const auto& other : others_) {
    if (!other->has_answered()) heard.silent.push_back(other->rank);
    if (!other->has_ended()) continue;
    note_lost_ranks(other->text);
    heard.texts[static_cast<std::size_t>(other->rank)] = other->text.substr(other->text.find('\n') + 1);
  }
  std::ranges::copy_if(heard.silent, std::back_inserter(heard.gone), [&](int rank) { return is_gone(rank); });
  return heard;
}

ShutdownHandshake::FinalReports ShutdownHandshake::send_text(const std::string& mine, double seconds) {
  if (is_gone(0)) return {.gone = {0}};
  for (const int rank : gone_) mine_ += std::to_string(rank) + " ";
  mine_ += "\n";
  if (mine.size() < kLongestText - mine_.size()) mine_ += mine;
  size_ = mine_.size();
  sending_.push_back(ranks_.send(0, kSizeTag, value_bytes(size_)));
  sending_.push_back(ranks_.send(0, kTextTag, std::as_bytes(std::span(mine_))));
  const bool dismissed = poll_for(seconds, [&] {
    check_neighbours();
    if (is_called(Call::Kind::shutdown)) calling_ = ranks_.receive(0, kCallTag, value_bytes(call_));
    return is_gone(0) || (all_done(sending_) && is_called(Call::Kind::dismissed));
  });
  if (is_gone(0)) return {.gone = {0}};
  return dismissed ? FinalReports{.code = call_.code} : FinalReports{};
}

ShutdownHandshake::FinalReports ShutdownHandshake::send_final(const std::string& mine, double seconds) noexcept {
  try {
    if (calling_) return send_text(mine, seconds);
    FinalReports heard = collect_texts(seconds);
    heard.texts[0] = mine;
    return heard;
  } catch (const std::exception&) {  // MPI itself fails, so no text can be received
    return {};
  }
}

void ShutdownHandshake::release_all(int code) noexcept {
  constexpr double kSeconds = 0.1;
  try {
    send_to_all({.kind = Call::Kind::dismissed, .code = code});
    poll_for(kSeconds, [&] { return all_done(sending_); });
  } catch (const std::exception&) {  // MPI itself fails; the other ranks end after their timeout
  }
}

}  // namespace xferbench
