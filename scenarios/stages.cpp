#include "scenarios/stages.hpp"

#include <algorithm>
#include <cmath>

#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "scenarios/pipelines.hpp"

namespace xferbench {

namespace {

Region gated(std::string name, std::vector<StreamHandle> streams, std::size_t operations,
             std::function<void()> submit) {
  Region r;
  r.name = std::move(name);
  r.clock = Clock::event_gated;
  r.streams = std::move(streams);
  r.operations = operations;
  r.submit = std::move(submit);
  return r;
}

}  // namespace

// --- Stages ---------------------------------------------------------------------------------------------------------

Stages::Stages(Device& device, ChunkedWork& work)
    : device_(device),
      work_(work),
      default_stream_(device.make_stream(StreamKind::legacy_default)),
      streams_{device.make_stream(StreamKind::nonblocking), device.make_stream(StreamKind::nonblocking)} {}

Region Stages::h2d() {
  return gated("h2d", {streams_[0]}, 1, [this] { work_.copy_all_in(streams_[0]); });
}

Region Stages::kernel() {
  return gated("kernel", {streams_[0]}, 1, [this] { work_.launch_all(streams_[0]); });
}

Region Stages::d2h() {
  return gated("d2h", {streams_[0]}, 1, [this] { work_.copy_all_out(streams_[0]); });
}

Region Stages::both() {
  Region r = gated("both", {streams_[0], streams_[1]}, 1, [this] {
    work_.copy_all_in(streams_[0]);
    work_.copy_all_out(streams_[1]);
  });
  r.per_stream = true;
  return r;
}

Region Stages::serial() {
  // No gate: it would hold the blocking copy, and with it the host that is to open it.
  Region r = gated("serial", {default_stream_}, 3, [this] { work_.run_blocking(default_stream_); });
  r.clock = Clock::event;
  return r;
}

void Stages::verify() {
  work_.poison_all();
  run_once(device_, h2d());
  run_once(device_, kernel());
  run_once(device_, d2h());
  work_.check_stages("h2d, kernel and d2h");

  // Both directions: what came back was right on the device before; what went in shows in what follows from it.
  work_.poison_host_out();
  work_.poison_stage_input();
  run_once(device_, both());
  work_.check_stages("both directions, D2H");
  work_.poison_host_out();
  work_.poison_stage_output();
  run_once(device_, kernel());
  run_once(device_, d2h());
  work_.check_stages("both directions, H2D");

  work_.poison_all();
  run_once(device_, serial());
  work_.check("serial");
}

// --- What operations cost -------------------------------------------------------------------------------------------

namespace {

/// Into how many pieces a payload is cut to see what one more costs: many, so that noise is small beside it, but each
/// long enough to be a copy like those of pipelines.
std::size_t pieces_for(std::size_t bytes) {
  constexpr std::size_t kMost = 64;
  return std::clamp<std::size_t>(bytes / (64 * KiB), 1, kMost);
}

/// Small chunks, one after the other through all three engines.
constexpr std::size_t kLinks = 16;
constexpr std::size_t kLinkBytes = 4 * KiB;

/// The same payload in another way of cutting.
ChunkedWork recut(Device& device, ChunkedWork& work, std::size_t bytes, std::size_t chunks) {
  ChunkedWork::Shape shape = work.shape();
  shape.bytes = bytes;
  shape.chunks = chunks;
  shape.growth = 1;
  shape.rounds = 1;
  shape.slots = 0;
  shape.kernels_per_chunk = 1;
  return {device, shape, work.payload()};
}

/// Times the costs follow from; medians in seconds.
struct Times {
  struct Ends {
    double h2d = 0;
    double d2h = 0;
  };
  double h2d = 0, kernel = 0, d2h = 0;                       // in one piece
  double h2d_pieces = 0, kernel_pieces = 0, d2h_pieces = 0;  // in several
  Ends both, both_pieces;                                    // when each direction ends
  double chain = 0;
  double submit_h2d = 0, submit_kernel = 0, submit_d2h = 0;  // of one call
};

/// When each direction ends; the makespan for both where streams cannot be timed.
Times::Ends ends_of(const Series& s) {
  std::vector<double> h2d;
  std::vector<double> d2h;
  for (const auto& sample : s.stream_times) {
    h2d.push_back(sample[0]);
    d2h.push_back(sample[1]);
  }
  if (h2d.empty()) return {s.elapsed.median, s.elapsed.median};
  return {statistics::median(h2d), statistics::median(d2h)};
}

/// How a copy fares beside the other direction.
struct Beside {
  double rate = 1;
  double overhead = 1;
};

/// `alone` and `ends`: this direction, and both, in one piece; `pieces_end`: this direction in `pieces`, beside the
/// other likewise. Until the first direction has ended both are slowed, afterwards neither is.
Beside beside_other(double alone, double end, double other_end, double pieces_end, double per_operation,
                    std::size_t pieces) {
  Beside b;
  const double together = std::min(end, other_end);
  if (together > 0) b.rate = std::clamp((alone - (end - together)) / together, 0.1, 1.0);
  const double added = (pieces_end - end) / static_cast<double>(pieces - 1);
  constexpr double kMostOverhead = 10;
  if (per_operation > 0) b.overhead = std::clamp(added / per_operation, 1.0, kMostOverhead);
  return b;
}

model::Cost cost_of(double whole, double in_pieces, std::size_t pieces, double bytes) {
  model::Cost c;
  if (pieces > 1) c.per_operation = std::max(0.0, (in_pieces - whole) / static_cast<double>(pieces - 1));
  c.per_operation = std::min(c.per_operation, whole);
  c.per_byte = (whole - c.per_operation) / bytes;
  return c;
}

model::StageCosts costs_from(const Times& t, std::size_t pieces, std::size_t bytes, std::size_t link_bytes) {
  const auto payload = static_cast<double>(bytes);
  model::StageCosts c;
  c.h2d = cost_of(t.h2d, t.h2d_pieces, pieces, payload);
  c.kernel = cost_of(t.kernel, t.kernel_pieces, pieces, payload);
  c.d2h = cost_of(t.d2h, t.d2h_pieces, pieces, payload);
  if (pieces > 1) {
    const Beside in =
        beside_other(t.h2d, t.both.h2d, t.both.d2h, t.both_pieces.h2d, c.h2d.per_operation, pieces);
    const Beside out =
        beside_other(t.d2h, t.both.d2h, t.both.h2d, t.both_pieces.d2h, c.d2h.per_operation, pieces);
    c.h2d.duplex_rate = in.rate, c.h2d.duplex_overhead = in.overhead;
    c.d2h.duplex_rate = out.rate, c.d2h.duplex_overhead = out.overhead;
  }
  // A link of the chain is three operations and three hand-overs: to the kernel, to the copy out, to the next copy in.
  const auto alone = [link_bytes](const model::Cost& s) {
    return s.per_operation + static_cast<double>(link_bytes) * s.per_byte;
  };
  const double link = t.chain / static_cast<double>(kLinks);
  c.hand_over = std::max(0.0, (link - alone(c.h2d) - alone(c.kernel) - alone(c.d2h)) / 3);
  c.submit_h2d = t.submit_h2d, c.submit_kernel = t.submit_kernel, c.submit_d2h = t.submit_d2h;
  return c;
}

/// Everything that is timed for the costs, as one interleaved run.
class CostRegions {
 public:
  CostRegions(Device& device, ChunkedWork& work)
      : device_(device),
        bytes_(std::min(work.shape().bytes, work.payload()->shape().device_bytes)),
        pieces_(recut(device, work, bytes_, pieces_for(bytes_))),
        whole_(recut(device, work, bytes_, 1)),
        links_(recut(device, work, link_bytes() * kLinks, kLinks)),
        streams_{device.make_stream(StreamKind::nonblocking), device.make_stream(StreamKind::nonblocking)} {}

  Times time(const Bench& bench) {
    SamplingPolicy few = bench.policy;
    few.min_samples = few.max_samples = 10;
    const std::size_t n = pieces();
    const StreamHandle a = streams_[0];
    const StreamHandle b = streams_[1];
    Region both = gated("both", {a, b}, 1, [this, a, b] { whole_.copy_in(0, a), whole_.copy_out(0, b); });
    Region both_pieces = gated("both", {a, b}, n, [this, a, b] { each(&ChunkedWork::copy_in, a), each(&ChunkedWork::copy_out, b); });
    both.per_stream = both_pieces.per_stream = true;
    both.batchable = both_pieces.batchable = false;
    const std::vector<Series> s = sample(
        device_,
        {gated("h2d", {a}, 1, [this, a] { whole_.copy_in(0, a); }),
         gated("kernel", {a}, 1, [this, a] { whole_.launch(0, a); }),
         gated("d2h", {a}, 1, [this, a] { whole_.copy_out(0, a); }),
         gated("h2d", {a}, n, [this, a] { each(&ChunkedWork::copy_in, a); }),
         gated("kernel", {a}, n, [this, a] { each(&ChunkedWork::launch, a); }),
         gated("d2h", {a}, n, [this, a] { each(&ChunkedWork::copy_out, a); }), both, both_pieces,
         gated("chain", {a}, 3 * kLinks, [this, a] { chain(a); })},
        few, bench.observe);
    const auto median = [&](std::size_t i) { return s[i].elapsed.median; };
    const auto call = [&](std::size_t i) { return s[i].submit.median / static_cast<double>(n); };
    return {median(0), median(1), median(2), median(3), median(4), median(5), ends_of(s[6]),
            ends_of(s[7]), median(8), call(3), call(4), call(5)};
  }

  [[nodiscard]] std::size_t pieces() const { return pieces_.chunks().size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// A whole number of elements, where the payload has that many.
  [[nodiscard]] std::size_t link_bytes() const {
    constexpr std::size_t kElement = ChunkedWork::kElement;
    return std::clamp<std::size_t>(bytes_ / kLinks / kElement * kElement, kElement, kLinkBytes);
  }

 private:
  using StageOf = void (ChunkedWork::*)(std::size_t, StreamHandle);
  void each(StageOf stage, StreamHandle stream) {
    for (std::size_t i = 0; i < pieces(); ++i) (pieces_.*stage)(i, stream);
  }
  void chain(StreamHandle stream) {
    for (std::size_t i = 0; i < kLinks; ++i) {
      links_.copy_in(i, stream);
      links_.launch(i, stream);
      links_.copy_out(i, stream);
    }
  }

  Device& device_;
  std::size_t bytes_;  // of the payload, as much as the device holds
  ChunkedWork pieces_;
  ChunkedWork whole_;
  ChunkedWork links_;
  std::array<Stream, 2> streams_;
};

}  // namespace

model::StageCosts measure_stage_costs(const Bench& bench, ChunkedWork& work) {
  CostRegions regions(bench.device, work);
  const Times times = regions.time(bench);
  model::StageCosts costs = costs_from(times, regions.pieces(), regions.bytes(), regions.link_bytes());
  costs.copy_engines = bench.device.capabilities().environment.gpu.copy_engines;
  return costs;
}

}  // namespace xferbench
