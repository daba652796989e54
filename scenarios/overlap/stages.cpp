#include "scenarios/overlap/stages.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "model/stage_fit.hpp"

namespace xferbench {

namespace {

Region gated(std::string name, std::vector<StreamView> streams, std::size_t operations, std::function<void()> submit) {
  return {.name = std::move(name),
          .clock = Clock::event_gated,
          .streams = std::move(streams),
          .submit = std::move(submit),
          .operations = operations};
}

}  // namespace

// --- Stages ---------------------------------------------------------------------------------------------------------

Stages::Stages(Device& device, ChunkedWork& work)
    : device_(device),
      work_(work),
      default_stream_(device.make_stream(StreamKind::legacy_default)),
      streams_{device.make_stream(StreamKind::nonblocking), device.make_stream(StreamKind::nonblocking)} {}

Region Stages::alone(const char* name, StageOfAll stage) {
  return gated(name, {streams_[0]}, work_.operations_for_all(), [this, stage] { (work_.*stage)(streams_[0]); });
}

Region Stages::h2d() {
  Region r = alone("h2d", &ChunkedWork::copy_all_in);
  r.check = [this] { work_.check_stage_input("what arrived on the device"); };
  return r;
}

Region Stages::kernel() {
  Region r = alone("kernel", &ChunkedWork::launch_all);
  r.check = [this] { work_.check_stage_output("what it computed", streams_[0]); };
  return r;
}

Region Stages::d2h() {
  Region r = alone("d2h", &ChunkedWork::copy_all_out);
  // Otherwise what is there to be copied depends on which region ran before.
  if (work_.holds_all_output()) r.check = [this] { work_.check_stages("what came back"); };
  return r;
}

Region Stages::both() {
  Region r = gated("both", {streams_[0], streams_[1]}, work_.operations_for_all(), [this] {
    work_.copy_all_in(streams_[0]);
    work_.copy_all_out(streams_[1]);
  });
  r.per_stream = true;
  r.check = [this] {
    if (work_.holds_all_output()) work_.check_stages("what came back");
    work_.check_stage_input("what arrived on the device");
  };
  return r;
}

Region Stages::serial() {
  // No gate: it would hold the blocking copy, and with it the host that is to open it.
  Region r = gated("serial", {default_stream_}, 3 * work_.operations_for_all(),
                   [this] { work_.run_blocking(default_stream_); });
  r.clock = Clock::event;
  r.check = [this] { work_.check("its output"); };
  return r;
}

void Stages::verify() {
  work_.poison_all();
  run_once(device_.machine(), h2d());
  run_once(device_.machine(), kernel());
  run_once(device_.machine(), d2h());
  work_.check_stages("h2d, kernel and d2h");

  // Both directions: what came back was right on the device before; what went in shows in what follows from it.
  work_.poison_host_out();
  work_.poison_stage_input();
  run_once(device_.machine(), both());
  work_.check_stages("both directions, D2H");
  work_.poison_host_out();
  work_.poison_stage_output();
  run_once(device_.machine(), kernel());
  run_once(device_.machine(), d2h());
  work_.check_stages("both directions, H2D");

  work_.poison_all();
  run_once(device_.machine(), serial());
  work_.check("serial");
}

// --- What operations cost -------------------------------------------------------------------------------------------

namespace {

/// Into how many pieces a payload is cut to see what one more costs: many, so that noise is small beside it, but each
/// long enough to be a copy like those of pipelines.
std::size_t pieces_for(std::size_t bytes) {
  constexpr std::size_t kMost = 64;
  return std::min<std::size_t>(bytes / (64 * KiB), kMost);
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

/// When each direction ends, of the last GPU; the makespan for both where streams cannot be timed.
model::CopyEnds ends_of(const Series& s) {
  std::vector<double> h2d;
  std::vector<double> d2h;
  for (const auto& sample : s.stream_times) {  // of each GPU both, in this order
    h2d.push_back(0), d2h.push_back(0);
    for (std::size_t i = 0; i + 1 < sample.size(); i += 2) {
      h2d.back() = std::max(h2d.back(), sample[i]);
      d2h.back() = std::max(d2h.back(), sample[i + 1]);
    }
  }
  if (h2d.empty()) return {s.elapsed.median, s.elapsed.median};
  return {statistics::median(h2d), statistics::median(d2h)};
}

/// Everything that is timed for the costs on one GPU.
class CostRegions {
 public:
  CostRegions(Device& device, ChunkedWork& work)
      : bytes_(std::min(work.shape().bytes, work.payload()->shape().device_bytes)),
        pieces_(recut(device, work, bytes_, pieces_for(bytes_))),
        whole_(recut(device, work, bytes_, 1)),
        links_(recut(device, work, kLinkBytes * kLinks, kLinks)),
        event_(device.make_event(EventKind::ordering)) {
    for (Stream& stream : streams_) stream = device.make_stream(StreamKind::nonblocking);
  }

  /// In the order in which costs_from() expects what was sampled of them.
  std::vector<Region> all() {
    return {alone("h2d", whole_, &ChunkedWork::copy_in),
            alone("kernel", whole_, &ChunkedWork::launch),
            alone("d2h", whole_, &ChunkedWork::copy_out),
            alone("h2d", pieces_, &ChunkedWork::copy_in),
            alone("kernel", pieces_, &ChunkedWork::launch),
            alone("d2h", pieces_, &ChunkedWork::copy_out),
            both(whole_, whole_),
            both(pieces_, whole_),
            both(whole_, pieces_),
            chain(false),
            chain(true)};
  }

  /// Of the payload, as much as the device holds.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t pieces() const { return pieces_.chunks().size(); }

 private:
  using StageOf = void (ChunkedWork::*)(std::size_t, StreamView);
  static void each(ChunkedWork& work, StageOf stage, StreamView stream) {
    for (std::size_t i = 0; i < work.chunks().size(); ++i) (work.*stage)(i, stream);
  }

  Region alone(std::string name, ChunkedWork& work, StageOf stage) {
    const StreamView stream = streams_[0];
    return gated(std::move(name), {stream}, work.chunks().size(),
                 [&work, stage, stream] { each(work, stage, stream); });
  }

  Region both(ChunkedWork& h2d, ChunkedWork& d2h) {
    const StreamView in = streams_[0];
    const StreamView out = streams_[1];
    const std::size_t operations = std::max(h2d.chunks().size(), d2h.chunks().size());
    Region r = gated("both", {in, out}, operations, [&h2d, &d2h, in, out] {
      each(h2d, &ChunkedWork::copy_in, in);
      each(d2h, &ChunkedWork::copy_out, out);
    });
    r.per_stream = true;
    r.batchable = false;
    return r;
  }

  /// Each chunk through all stages before the next begins, in one stream or in one for each engine.
  Region chain(bool across_streams) {
    std::array<StreamView, 3> at{streams_[0], streams_[1], streams_[2]};
    if (!across_streams) at.fill(at[0]);
    const auto then = [this](StreamView from, StreamView to) {
      if (from == to) return;
      from.record(event_);
      to.wait(event_);
    };
    const std::vector<StreamView> streams(at.begin(), across_streams ? at.end() : at.begin() + 1);
    return gated("chain", streams, 3 * kLinks, [this, at, then] {
      for (std::size_t i = 0; i < kLinks; ++i) {
        links_.copy_in(i, at[0]);
        then(at[0], at[1]);
        links_.launch(i, at[1]);
        then(at[1], at[2]);
        links_.copy_out(i, at[2]);
        then(at[2], at[0]);
      }
    });
  }

  std::size_t bytes_;
  ChunkedWork pieces_;
  ChunkedWork whole_;
  ChunkedWork links_;
  std::array<Stream, 3> streams_;
  Event event_;
};

StageCosts costs_from(const std::vector<Series>& s, const CostRegions& of, unsigned copy_engines) {
  const auto median = [&](std::size_t i) { return s[i].elapsed.median; };
  const std::size_t n = of.pieces();
  const auto call = [&](std::size_t i) { return s[i].submit.median / static_cast<double>(n); };
  const model::StageTimes times{static_cast<double>(of.bytes()),
                                n,
                                median(0),
                                median(1),
                                median(2),
                                median(3),
                                median(4),
                                median(5),
                                ends_of(s[6]),
                                ends_of(s[7]).h2d,
                                ends_of(s[8]).d2h,
                                kLinks,
                                static_cast<double>(kLinkBytes)};
  StageCosts costs;
  costs.in_stream = model::fit_stage_costs(times);
  costs.in_stream.copy_engines = copy_engines;
  costs.in_stream.submit_h2d = call(3), costs.in_stream.submit_kernel = call(4), costs.in_stream.submit_d2h = call(5);
  costs.across_streams = costs.in_stream;
  costs.in_stream.handoff = model::handoff(costs.in_stream, times, median(9));
  costs.across_streams.handoff = model::handoff(costs.in_stream, times, median(10));
  // Three hand-overs in each link, of two calls each.
  costs.event_call = std::max(0.0, (s[10].submit.median - s[9].submit.median) / static_cast<double>(6 * kLinks));
  return costs;
}

}  // namespace

StageCosts measure_stage_costs(const RunContext& bench, std::span<const OnGpu> all) {
  std::vector<std::unique_ptr<CostRegions>> of_gpus;
  std::vector<std::vector<Region>> regions;  // by what they are of, then by GPU
  for (const auto& [device, work] : all) {
    if (work->shape().bytes < kLeastForCosts) throw std::logic_error("a payload too small for costs to be measured");
    of_gpus.push_back(std::make_unique<CostRegions>(*device, *work));
    std::vector<Region> own = of_gpus.back()->all();
    regions.resize(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) regions[i].push_back(std::move(own[i]));
  }
  std::vector<Region> together;
  for (std::vector<Region>& same : regions) {
    const std::string name = same.front().name;
    together.push_back(same.size() == 1 ? std::move(same.front()) : at_once(name, std::move(same)));
  }
  constexpr std::size_t kSamples = 20;
  const std::vector<Series> series = sample_few(bench, std::move(together), kSamples);
  return costs_from(series, *of_gpus.front(), bench.device.capabilities().environment.gpu.copy_engines);
}

}  // namespace xferbench
