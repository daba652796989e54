#include "ranks/farewell.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <limits>
#include <span>
#include <sstream>
#include <thread>

namespace xferbench {

namespace {

using FarewellClock = std::chrono::steady_clock;

constexpr int kGreetingTag = Communicator::kOwnTags + 703;
constexpr int kCallTag = Communicator::kOwnTags + 700;
constexpr int kSizeTag = Communicator::kOwnTags + 701;
constexpr int kTextTag = Communicator::kOwnTags + 702;
/// Instead of the size of a last text: there is none, since all is well.
constexpr std::uint64_t kWell = std::numeric_limits<std::uint64_t>::max();
/// Of a text that a rank sends; what is longer comes as nothing.
constexpr std::uint64_t kLongestText = std::numeric_limits<int>::max();

template <class Value>
std::span<std::byte> value_bytes(Value& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// Until `done` says so; false where the time is over first.
template <class Done>
bool poll_for(double seconds, const Done& done) {
  const auto end = FarewellClock::now() +
                   std::chrono::duration_cast<FarewellClock::duration>(std::chrono::duration<double>(seconds));
  while (!done()) {
    if (FarewellClock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

bool is_alive(int process) { return kill(process, 0) == 0 || errno != ESRCH; }

bool all_done(const std::vector<PendingPtr>& operations) {
  return std::ranges::all_of(operations, [](const PendingPtr& one) { return one->done(); });
}

}  // namespace

/// Another rank, as rank 0 hears it.
struct Farewell::Other {
  Other(Communicator& all, int number) : ranks(all), rank(number) {
    pending = ranks.receive(rank, kSizeTag, value_bytes(size));
  }

  /// Whether it has said how long its text is.
  [[nodiscard]] bool has_spoken() {
    if (!said && pending->done()) said = true;
    return said;
  }
  /// Whether all of it has come.
  [[nodiscard]] bool has_ended() {
    if (!has_spoken()) return false;
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

Farewell::Farewell(Communicator& ranks, std::vector<Neighbour> neighbours, const Patience& patience)
    : ranks_(ranks), neighbours_(std::move(neighbours)) {
  greet(patience);
  // All are alive: one that cannot be seen now (in a container of its own) could not be missed either.
  std::erase_if(neighbours_, [](const Neighbour& n) { return !is_alive(n.process); });
  if (ranks.rank() == 0) {
    for (int rank = 1; rank < ranks.size(); ++rank) others_.push_back(std::make_unique<Other>(ranks, rank));
  } else {
    calling_ = ranks.receive(0, kCallTag, value_bytes(call_));
  }
}

Farewell::~Farewell() = default;

void Farewell::greet(const Patience& patience) {
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
  for (const PendingPtr& one : greetings) wait_for(*one, patience, "the first words of all ranks");
}

bool Farewell::is_gone(int rank) const { return std::ranges::find(gone_, rank) != gone_.end(); }

void Farewell::look_after_neighbours() {
  constexpr auto kBetween = std::chrono::milliseconds(20);
  const auto now = FarewellClock::now();
  if (now - looked_ < kBetween) return;
  looked_ = now;
  for (const Neighbour& n : neighbours_) {
    if (is_alive(n.process) || is_gone(n.rank)) continue;
    gone_.push_back(n.rank);
    throw RanksSilentError("rank " + std::to_string(n.rank) + " has died");
  }
}

void Farewell::look() {
  look_after_neighbours();
  if (calling_) {
    if (calling_->done() && call_ == Call::farewell) throw RanksSilentError("rank 0 ends the run: a rank is silent");
    return;
  }
  if (others_.empty()) return;
  next_ = (next_ + 1) % others_.size();
  Other& other = *others_[next_];
  if (other.has_spoken() && other.size != kWell) {
    throw RanksSilentError("rank " + std::to_string(other.rank) + " waits for a rank that is silent");
  }
}

void Farewell::send_to_all(Call call) {
  for (const auto& other : others_) {
    if (is_gone(other->rank)) continue;
    calls_.push_back(std::make_unique<Call>(call));
    sending_.push_back(ranks_.send(other->rank, kCallTag, value_bytes(*calls_.back())));
  }
}

void Farewell::end(const Patience& patience) {
  constexpr const char* kWhat = "the end of the run";
  send_to_all(Call::well);
  if (calling_) {
    size_ = kWell;
    sending_.push_back(ranks_.send(0, kSizeTag, value_bytes(size_)));
    wait_for(*calling_, patience, kWhat);
  }
  for (const auto& other : others_) wait_for(*other->pending, patience, kWhat);
  for (const PendingPtr& one : sending_) wait_for(*one, patience, kWhat);
}

/// A last text begins with a line of ranks that are gone.
void Farewell::learn_who_is_gone(const std::string& text) {
  std::istringstream line(text.substr(0, text.find('\n')));
  for (int rank = 0; line >> rank;) {
    if (!is_gone(rank)) gone_.push_back(rank);
  }
}

Farewell::Heard Farewell::listen(double seconds) {
  constexpr double kSpontaneous = 0.05;  // seconds for those that know who is gone, who is better not called
  const auto all_ended = [&] {
    const auto ended = [&](const auto& other) { return other->has_ended() || is_gone(other->rank); };
    // Every one is asked each time, since MPI goes on only where it is asked.
    return static_cast<std::size_t>(std::ranges::count_if(others_, ended)) == others_.size();
  };
  poll_for(kSpontaneous, all_ended);
  for (const auto& other : others_) {
    if (other->has_ended()) learn_who_is_gone(other->text);
  }
  send_to_all(Call::farewell);
  poll_for(seconds, all_ended);
  Heard heard{.texts = std::vector<std::string>(others_.size() + 1), .silent = {}};
  for (const auto& other : others_) {
    if (other->has_ended()) {
      learn_who_is_gone(other->text);
      heard.texts[static_cast<std::size_t>(other->rank)] = other->text.substr(other->text.find('\n') + 1);
    } else {
      heard.silent.push_back(other->rank);
    }
  }
  if (!gone_.empty()) heard.silent = gone_;
  std::ranges::sort(heard.silent);
  return heard;
}

void Farewell::speak(const std::string& mine, double seconds) {
  for (const int rank : gone_) mine_ += std::to_string(rank) + " ";
  mine_ += "\n";
  if (mine.size() < kLongestText - mine_.size()) mine_ += mine;
  size_ = mine_.size();
  sending_.push_back(ranks_.send(0, kSizeTag, value_bytes(size_)));
  if (!mine_.empty()) sending_.push_back(ranks_.send(0, kTextTag, std::as_bytes(std::span(mine_))));
  poll_for(seconds, [&] {
    if (calling_->done() && call_ == Call::farewell) calling_ = ranks_.receive(0, kCallTag, value_bytes(call_));
    return all_done(sending_) && calling_->done() && call_ == Call::dismissed;
  });
}

Farewell::Heard Farewell::say(const std::string& mine, double seconds) noexcept {
  try {
    if (calling_) {
      speak(mine, seconds);
      return {};
    }
    Heard heard = listen(seconds);
    heard.texts[0] = mine;
    return heard;
  } catch (const std::exception&) {  // MPI itself is broken: then nobody can be heard
    return {};
  }
}

void Farewell::dismiss() noexcept {
  constexpr double kSeconds = 0.1;
  try {
    send_to_all(Call::dismissed);
    poll_for(kSeconds, [&] { return all_done(sending_); });
  } catch (const std::exception&) {  // then they end by themselves
  }
}

}  // namespace xferbench
