#include "explain/shares.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace xferbench::explain {

namespace {

enum ActivityKind : std::size_t { kernels, copies, waits, loads, calls, kinds };

struct Moment {
  double time;
  ActivityKind what;
  int change;
};

ActivityKind activity_of(const HostCall& call) {
  switch (call.kind) {
    case CudaCallKind::allocate:
    case CudaCallKind::free:
    case CudaCallKind::pin:
    case CudaCallKind::unpin:
    case CudaCallKind::managed:
    case CudaCallKind::load:
    case CudaCallKind::stream:
    case CudaCallKind::initialise: return loads;
    default: return call.waits_for.empty() ? calls : waits;
  }
}

/// Copies inside the GPU count as kernels: they do not use the link.
ActivityKind activity_of(const Operation& o) {
  return o.is_copy && o.copy != recording::CopyKind::d2d ? copies : kernels;
}

std::vector<Moment> edges_of(const Program& program) {
  std::vector<Moment> edges;
  edges.reserve(2 * (program.operations.size() + program.calls.size()));
  const auto add = [&](double begin, double end, ActivityKind what) {
    begin = std::clamp(begin, 0., program.seconds);
    end = std::clamp(end, 0., program.seconds);
    if (end <= begin) return;
    edges.push_back({begin, what, 1});
    edges.push_back({end, what, -1});
  };
  for (const Operation& o : program.operations) add(o.begin, o.end, activity_of(o));
  for (const HostCall& call : program.calls) add(call.begin, call.end, activity_of(call));
  std::ranges::sort(edges, {}, &Moment::time);
  return edges;
}

double& share_of(Shares& shares, const std::array<int, kinds>& active) {
  if (active[kernels] > 0) return active[copies] > 0 ? shares.both : shares.kernels;
  if (active[copies] > 0) return shares.copies;
  if (active[waits] > 0) return shares.waiting;
  if (active[loads] > 0) return shares.loading;
  return active[calls] > 0 ? shares.calls : shares.program;
}

void set_profiling(Shares& shares, double more) {
  for (double Shares::*share : {&Shares::calls, &Shares::program, &Shares::waiting, &Shares::loading}) {
    const double taken = std::clamp(more, 0., shares.*share);
    shares.*share -= taken;
    shares.profiling += taken;
    more -= taken;
  }
}

}  // namespace

Shares shares_of(const Program& program, std::optional<double> baseline) {
  Shares shares;
  std::array<int, kinds> active{};
  double time = 0;
  for (const Moment& edge : edges_of(program)) {
    share_of(shares, active) += edge.time - time;
    active[edge.what] += edge.change;
    time = edge.time;
  }
  share_of(shares, active) += program.seconds - time;
  if (baseline) set_profiling(shares, program.seconds - *baseline);
  return shares;
}

Shares shares_unprofiled(const Program& unprofiled, const Replay& replayed, double profiled, double baseline) {
  Program timed = unprofiled;
  timed.seconds = replayed.seconds;
  for (Index i = 0; i < timed.operations.size(); ++i) {
    timed.operations[i].begin = replayed.operation_begins[i];
    timed.operations[i].end = replayed.operation_ends[i];
  }
  for (Index c = 0; c < timed.calls.size(); ++c) {
    timed.calls[c].begin = replayed.call_begins[c];
    timed.calls[c].end = replayed.call_ends[c];
  }
  Shares shares = shares_of(timed, std::nullopt);
  const double scale = baseline / shares.total();
  for (double Shares::*share : {&Shares::kernels, &Shares::copies, &Shares::both, &Shares::waiting, &Shares::calls,
                                &Shares::loading, &Shares::program}) {
    shares.*share *= scale;
  }
  shares.profiling = std::max(0., profiled - baseline);
  return shares;
}

}  // namespace xferbench::explain
