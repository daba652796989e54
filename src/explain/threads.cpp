// Finds, for each host call, the call that must end before it is made (HostCall::follows).
#include "explain/program.hpp"

#include <algorithm>

namespace xferbench::explain {

namespace {

/// Threads count as taking turns only if each makes at least this many CUDA calls per turn on average.
constexpr double kLeastCallsInTurn = 3;
/// Threads count as taking turns only if at most this share of a thread's calls overlap with calls of other threads.
constexpr double kMostOverlapping = 0.02;

struct Turns {
  std::size_t calls = 0;
  std::size_t turns = 0;
  std::size_t overlapping = 0;
  [[nodiscard]] bool taken() const {
    return static_cast<double>(calls) >= kLeastCallsInTurn * static_cast<double>(turns) &&
           static_cast<double>(overlapping) <= kMostOverlapping * static_cast<double>(calls);
  }
};

std::map<std::uint32_t, Turns> turns_of(const std::vector<HostCall>& calls) {
  std::map<std::uint32_t, Turns> threads;
  const HostCall* before = nullptr;
  for (const HostCall& call : calls) {
    Turns& turns = threads[call.thread];
    ++turns.calls;
    if (before == nullptr || before->thread != call.thread) ++turns.turns;
    if (before != nullptr && before->thread != call.thread && before->end > call.begin) ++turns.overlapping;
    before = &call;
  }
  return threads;
}

/// Returns the last call of another thread that ended before call `first` began, because another thread must have
/// started the thread of `first`; kNone if there is none.
Index starter_of(const Program& program, Index first) {
  constexpr Index kLooks = 64;  // maximum calls to examine; at most one call per thread overlaps with `first`
  Index last = kNone;
  for (Index i = first, looks = 0; i-- > 0 && looks < kLooks; ++looks) {
    const HostCall& call = program.calls[i];
    const bool before = call.thread != program.calls[first].thread && call.end <= program.calls[first].begin;
    if (before && (last == kNone || call.end > program.calls[last].end)) last = i;
  }
  return last;
}

}  // namespace

void follow_threads(Program& program) {
  const std::map<std::uint32_t, Turns> threads = turns_of(program.calls);
  std::map<std::uint32_t, Index> last;  // per thread: index of its last call
  for (Index i = 0; i < program.calls.size(); ++i) {
    HostCall& call = program.calls[i];
    const auto own = last.try_emplace(call.thread, kNone).first;
    call.follows = own->second == kNone ? starter_of(program, i) : own->second;
    const Index before = i == 0 ? kNone : i - 1;
    const bool is_turn = before != kNone && program.calls[before].thread != call.thread;
    if (own->second != kNone && is_turn && threads.at(call.thread).taken() &&
        threads.at(program.calls[before].thread).taken() && program.calls[before].end <= call.begin) {
      call.previous = own->second;
      call.follows = before;
    }
    const double since = call.follows == kNone ? 0 : program.calls[call.follows].end;
    call.gap = std::max(0., call.begin - since);
    own->second = i;
  }
}

}  // namespace xferbench::explain
