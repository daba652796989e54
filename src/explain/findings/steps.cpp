#include "explain/findings/steps.hpp"

#include <algorithm>
#include <utility>

#include "core/lists.hpp"
#include "core/units.hpp"

namespace xferbench::explain {

Phase phase_of(const Operation& o) {
  if (!o.is_copy) return Phase::work;
  if (o.copy == CopyKind::h2d) return Phase::in;
  return o.copy == CopyKind::d2h ? Phase::out : Phase::work;
}

Index last_of(const std::vector<Index>& operations) { return operations.empty() ? kNone : operations.back(); }

Index result_of(const Step& step) { return step.out.empty() ? last_of(step.work) : step.out.back(); }

namespace {

/// In bytes. Smaller copies count as parameters or results, and do not begin a step.
constexpr std::uint64_t kLeastPayload = 256 * KiB;

void add_to(Chain& chain, const Program& p, Index i) {
  const Operation& o = p.operations[i];
  const Phase phase = phase_of(o);
  const bool begins = phase == Phase::in && o.bytes >= kLeastPayload;
  if (chain.empty() || (begins && !(chain.back().work.empty() && chain.back().out.empty()))) chain.emplace_back();
  Step& step = chain.back();
  const Phase before = step.all.empty() ? Phase::in : phase_of(p.operations[step.all.back()]);
  step.in_order = step.in_order && before <= phase;
  step.all.push_back(i);
  (phase == Phase::in ? step.in : phase == Phase::work ? step.work : step.out).push_back(i);
}

}  // namespace

std::vector<Chain> chains_of(const Program& p) {
  std::vector<Chain> chains(p.streams.size());
  for (Index i = 0; i < p.operations.size(); ++i) {
    if (!p.operations[i].in_graph && !p.operations[i].is_join) add_to(chains[p.operations[i].stream], p, i);
  }
  const auto large = [&p](Index i) { return p.operations[i].bytes >= kLeastPayload; };
  for (Chain& chain : chains) {
    std::erase_if(chain, [&large](const Step& step) {
      return std::ranges::none_of(step.in, large) && std::ranges::none_of(step.out, large);
    });
  }
  return chains;
}

std::vector<Chain> chains_of(const Program& p, const std::vector<Index>& streams) {
  std::vector<Chain> all = chains_of(p);
  return list_of(streams, [&all](Index s) { return std::move(all[s]); });
}

}  // namespace xferbench::explain
