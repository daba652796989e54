#include "scenarios/overlap/stages.hpp"

#include <stdexcept>

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

/// Returns the region of one stage. Sets Region::same_batch, because the time is compared with that of the pipeline.
Region Stages::alone(const char* name, StageOfAll stage) {
  Region r =
      gated(name, {streams_[0]}, work_.operations_for_all(), [this, stage = std::move(stage)] { stage(streams_[0]); });
  r.same_batch = true;
  return r;
}

Region Stages::h2d() {
  Region r = alone("h2d", [this](StreamView stream) { work_.copy_all_in(stream); });
  r.check = [this] { work_.check_stage_input("input on the device"); };
  return r;
}

Region Stages::kernel() {
  Region r = alone("kernel", [this](StreamView stream) { work_.launch_all(stream); });
  r.check = [this] { work_.check_stage_output("kernel output on the device", streams_[0]); };
  return r;
}

Region Stages::d2h() {
  Region r = alone("d2h", [this](StreamView stream) { work_.copy_all_out(stream); });
  // If the device buffer is too small for the whole output, it contains whatever the previous region left there, so the
  // output cannot be checked.
  if (work_.holds_all_output()) r.check = [this] { work_.check_stages("output on the host"); };
  return r;
}

Region Stages::both(const char* name, std::size_t parts) {
  Region r = gated(name, {streams_[0], streams_[1]}, parts * work_.operations_for_all(), [this, parts] {
    work_.copy_all_in(streams_[0], parts);
    work_.copy_all_out(streams_[1], parts);
  });
  r.per_stream = true;
  r.same_batch = true;
  r.check = [this] {
    if (work_.holds_all_output()) work_.check_stages("output on the host");
    work_.check_stage_input("input on the device");
  };
  return r;
}

Region Stages::serial() {
  // Hazard: a blocking copy must not be behind a gate. The copy would wait for the gate, and the host would wait for
  // the copy before it opens the gate.
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

  // Copies in both directions at once. The kernel above has left the correct output on the device, so the D2H copy can
  // be checked now. The output of the kernel below shows whether the H2D copy was correct.
  work_.poison_host_out();
  work_.poison_stage_input();
  run_once(device_.machine(), both());
  work_.check_stages("both directions, D2H");
  work_.poison_host_out();
  work_.poison_stage_input();
  run_once(device_.machine(), both_chunked());
  work_.check_stages("both directions in chunks, D2H");
  work_.poison_host_out();
  work_.poison_stage_output();
  run_once(device_.machine(), kernel());
  run_once(device_.machine(), d2h());
  work_.check_stages("both directions, H2D");
}

void Stages::verify_serial() {
  work_.poison_all();
  run_once(device_.machine(), serial());
  work_.check("serial");
}

std::vector<Region> concurrent_on_all_gpus(std::vector<std::vector<Region>> of_gpus) {
  if (of_gpus.size() == 1) return std::move(of_gpus.front());
  std::vector<Region> together;
  for (std::size_t i = 0; i < of_gpus.front().size(); ++i) {
    std::vector<Region> same;
    for (std::vector<Region>& own : of_gpus) same.push_back(std::move(own[i]));
    const std::string name = same.front().name;
    together.push_back(at_once(name, std::move(same)));
  }
  return together;
}

std::optional<Measurement> at_both_rates(std::span<const Series> series) {
  const auto named = [&](const std::string& name) {
    return std::ranges::find(series, name, [](const Series& s) { return s.elapsed.name; });
  };
  // The series with as many passes per sample as the pipeline is preferred.
  auto both = named(std::string("both") + kAlikeSuffix);
  if (both == series.end()) both = named("both");
  const Samples& h2d = named("h2d")->elapsed.samples;
  const Samples& d2h = named("d2h")->elapsed.samples;
  std::vector<double> times;
  for (std::size_t i = 0; i < both->stream_times.size(); ++i) {
    const std::vector<double>& ends = both->stream_times[i];
    if (ends.size() != 2) return std::nullopt;
    times.push_back(model::time_at_both_rates(h2d[i], d2h[i], ends[0], ends[1]));
  }
  if (times.empty()) return std::nullopt;
  Measurement m = series_of_same_passes(*both, kAtBothRates, std::move(times));
  m.auxiliary = true;
  return m;
}

// --- What operations cost -------------------------------------------------------------------------------------------

StageCosts of_passes_in_a_row(StageCosts costs, unsigned passes) {
  const double first = 1.0 / passes;
  for (model::StageCosts* c : costs.all()) c->start = first * c->start + (1 - first) * c->handoff.copy_to_copy;
  return costs;
}

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

namespace {

/// Returns into how many pieces the payload is cut to measure the cost of one more copy. Many pieces average out noise.
/// Each piece has at least 64 KiB, so that its copy takes as long as a copy in a pipeline.
std::size_t pieces_for(const ChunkedWork::Shape& shape, std::size_t bytes) {
  constexpr std::size_t kMost = 64;
  return std::min({bytes / (64 * KiB), kMost, bytes / shape.unit_bytes()});
}

/// Returns how many times the whole payload must be copied in the other direction so that these copies outlast the
/// pieces. Assumes that each piece costs at most 8 us in addition to the time of its bytes. This includes a stream
/// switch. A link of 55 GB/s carries 400 KiB in 8 us.
std::size_t opposing_for(std::size_t bytes, std::size_t pieces) { return 1 + (pieces * 400 * KiB + bytes - 1) / bytes; }

/// Number of chunks that rotate over kTurnStreams streams, as in Strategy::streams.
constexpr std::size_t kTurns = 16;
constexpr std::size_t kTurnStreams = 4;

/// Number, and size in bytes, of small chunks that each pass through all three engines before the next starts.
constexpr std::size_t kLinks = 16;
constexpr std::size_t kLinkBytes = 4 * KiB;
/// Bytes of a single small operation, which shows the fixed cost of a pass.
constexpr std::size_t kSmallBytes = 64 * KiB;

/// Returns the median time at which `streams` streams of each GPU, from stream index `first` on, have finished; with
/// several GPUs, the time of the last GPU. Returns the makespan if the streams were not timed separately.
double end_of(const Series& s, std::size_t first, std::size_t streams, std::size_t streams_of_gpu) {
  std::vector<double> ends;
  for (const auto& sample : s.stream_times) {
    double& end = ends.emplace_back(0);
    for (std::size_t gpu = 0; gpu + streams_of_gpu <= sample.size(); gpu += streams_of_gpu) {
      const auto begin = sample.begin() + static_cast<std::ptrdiff_t>(gpu + first);
      end = std::max(end, *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(streams)));
    }
  }
  return ends.empty() ? s.elapsed.median : statistics::median(ends);
}

/// Returns the end time of each direction, for a region with one stream per direction.
model::CopyEnds ends_of(const Series& s) { return {end_of(s, 0, 1, 2), end_of(s, 1, 1, 2)}; }

/// Returns the time at which all pieces have arrived, for a region of in_turns(). The pieces use three streams; a
/// fourth stream copies in the other direction.
double end_in_turns(const Series& s) { return end_of(s, 0, 3, 4); }

/// Returns the number of payload bytes to measure with: at most `most_bytes`, rounded up to whole units (rows or
/// elements), and no more than the device buffers hold.
std::size_t bytes_of(const ChunkedWork& work, std::size_t most_bytes) {
  const std::size_t held = std::min(work.shape().bytes, work.payload()->shape().device_bytes);
  return held <= most_bytes ? held : work.shape().in_units(most_bytes);
}

/// Index of a region in CostRegions::all(). The series of its samples has the same index.
enum class Timed : std::size_t {};
struct TimedStages {
  Timed h2d, kernel, d2h;
};
struct TimedChains {
  Timed all_stages, without_d2h;
};

/// Builds the regions that are timed to determine the costs on one GPU, and computes the costs from their samples.
class CostRegions {
 public:
  CostRegions(Device& device, ChunkedWork& work, std::size_t most_bytes)
      : bytes_(bytes_of(work, most_bytes)),
        pieces_(recut(device, work, bytes_, pieces_for(work.shape(), bytes_))),
        opposing_(opposing_for(bytes_, pieces_.chunks().size())),
        whole_(recut(device, work, bytes_, 1)),
        few_(recut(device, work, bytes_, std::clamp<std::size_t>(bytes_ / MiB, 1, kChunksOfBoth))),
        turns_(recut(device, work, bytes_, kTurns)),
        links_(recut(device, work, kLinks * work.shape().in_units(kLinkBytes), kLinks)),
        small_(recut(device, work, work.shape().in_units(kSmallBytes), 1)) {
    for (Event& event : events_) event = device.make_event(EventKind::ordering);
    for (Stream& stream : streams_) stream = device.make_stream(StreamKind::nonblocking);
    timed_whole_ = add_stages(whole_);
    timed_pieces_ = add_stages(pieces_);
    timed_both_ = add(both({few_, 1}, {few_, 1}));
    timed_h2d_pieces_ = add(both({pieces_, 1}, {whole_, opposing_}));
    timed_d2h_pieces_ = add(both({whole_, opposing_}, {pieces_, 1}));
    timed_small_ = add_stages(small_);
    timed_h2d_in_turns_ = add(in_turns(&ChunkedWork::copy_in, &ChunkedWork::copy_out));
    timed_d2h_in_turns_ = add(in_turns(&ChunkedWork::copy_out, &ChunkedWork::copy_in));
    timed_in_stream_ = add_chains(false);
    timed_across_streams_ = add_chains(true);
    timed_turns_ = add(turns());
  }

  /// Returns the regions; they have the same order for every GPU.
  std::vector<Region>& all() { return regions_; }

  /// Computes the costs from the samples of all().
  [[nodiscard]] StageCosts costs(const std::vector<Series>& series, unsigned copy_engines) const;

 private:
  Timed add(Region region) {
    regions_.push_back(std::move(region));
    return Timed{regions_.size() - 1};
  }
  TimedStages add_stages(ChunkedWork& work) {
    return {add(alone("h2d", work, &ChunkedWork::copy_in)), add(alone("kernel", work, &ChunkedWork::launch)),
            add(alone("d2h", work, &ChunkedWork::copy_out))};
  }
  TimedChains add_chains(bool across) { return {add(chain(across, true)), add(chain(across, false))}; }

  using StageOf = void (ChunkedWork::*)(std::size_t, StreamView);
  static void each(ChunkedWork& work, StageOf stage, StreamView stream) {
    for (std::size_t i = 0; i < work.chunks().size(); ++i) (work.*stage)(i, stream);
  }

  Region alone(std::string name, ChunkedWork& work, StageOf stage) {
    const StreamView stream = streams_[0];
    return single(
        gated(std::move(name), {stream}, work.chunks().size(), [&work, stage, stream] { each(work, stage, stream); }));
  }

  /// Turns off batching, so that a sample is a single pass and contains the whole fixed cost of a pass.
  static Region single(Region region) {
    region.batchable = false;
    return region;
  }

  /// The copies of all chunks of `work` in one direction, repeated `times` times.
  struct Row {
    ChunkedWork& work;
    std::size_t times;
  };
  static void each(Row row, StageOf stage, StreamView stream) {
    for (std::size_t i = 0; i < row.times; ++i) each(row.work, stage, stream);
  }

  Region both(Row h2d, Row d2h) {
    const StreamView in = streams_[0];
    const StreamView out = streams_[1];
    const std::size_t operations = std::max(h2d.work.chunks().size(), d2h.work.chunks().size());
    Region r = gated("both", {in, out}, operations, [h2d, d2h, in, out] {
      each(h2d, &ChunkedWork::copy_in, in);
      each(d2h, &ChunkedWork::copy_out, out);
    });
    r.per_stream = true;
    return single(std::move(r));
  }

  /// A region that copies pieces in one direction, rotating over three streams, while whole payloads are copied in the
  /// other direction. Piece n waits for piece n - 2. Without this wait, the copy engine would copy several pieces
  /// of one stream in a row. A wait for piece n - 1 would itself be part of the measured time.
  Region in_turns(StageOf piece, StageOf beside) {
    const std::array<StreamView, 3> at{streams_[0], streams_[1], streams_[2]};
    const StreamView other = streams_[3];
    Region r = gated("both", {at[0], at[1], at[2], other}, pieces_.chunks().size(), [this, at, other, piece, beside] {
      for (std::size_t i = 0; i < pieces_.chunks().size(); ++i) {
        const StreamView stream = at[i % at.size()];
        Event& two_before = events_[i % events_.size()];
        if (i >= events_.size()) stream.wait(two_before);
        (pieces_.*piece)(i, stream);
        stream.record(two_before);
      }
      each({whole_, opposing_}, beside, other);
    });
    r.per_stream = true;
    return single(std::move(r));
  }

  /// A region in which each chunk passes through all stages before the next chunk starts. `across`: each engine has its
  /// own stream, otherwise all stages are in one stream. Without `with_d2h` the copy out is omitted.
  Region chain(bool across, bool with_d2h) {
    std::array<StreamView, 3> at{streams_[0], streams_[1], streams_[2]};
    if (!across) at.fill(at[0]);
    const auto then = [this](StreamView from, StreamView to) {
      if (from == to) return;
      from.record(events_[0]);
      to.wait(events_[0]);
    };
    const std::vector<StreamView> streams(at.begin(), across ? at.end() : at.begin() + 1);
    return single(gated("chain", streams, 3 * kLinks, [this, at, then, with_d2h] {
      for (std::size_t i = 0; i < kLinks; ++i) {
        links_.copy_in(i, at[0]);
        then(at[0], at[1]);
        links_.launch(i, at[1]);
        if (with_d2h) {
          then(at[1], at[2]);
          links_.copy_out(i, at[2]);
        }
        then(at[with_d2h ? 2 : 1], at[0]);
      }
    }));
  }

  /// A region that copies chunks in and out; the chunks rotate over all streams.
  Region turns() {
    const std::vector<StreamView> streams(streams_.begin(), streams_.end());
    return single(gated("turns", streams, 2 * kTurns / streams_.size(), [this, streams] {
      for (std::size_t i = 0; i < kTurns; ++i) {
        turns_.copy_in(i, streams[i % streams.size()]);
        turns_.copy_out(i, streams[i % streams.size()]);
      }
    }));
  }

  std::size_t bytes_;
  ChunkedWork pieces_;
  std::size_t opposing_;
  ChunkedWork whole_;
  ChunkedWork few_;
  ChunkedWork turns_;
  ChunkedWork links_;
  ChunkedWork small_;
  std::array<Stream, kTurnStreams> streams_;
  std::array<Event, 2> events_;
  std::vector<Region> regions_;
  TimedStages timed_whole_{}, timed_pieces_{}, timed_small_{};
  TimedChains timed_in_stream_{}, timed_across_streams_{};
  Timed timed_both_{}, timed_h2d_pieces_{}, timed_d2h_pieces_{};  // with copies in both directions at once
  Timed timed_h2d_in_turns_{}, timed_d2h_in_turns_{}, timed_turns_{};
};

StageCosts CostRegions::costs(const std::vector<Series>& series, unsigned copy_engines) const {
  const auto of = [&](Timed t) -> const Series& { return series[static_cast<std::size_t>(t)]; };
  const auto median = [&](Timed t) { return of(t).elapsed.median; };
  const auto three = [&](const TimedStages& t) {
    return model::StageSeconds{median(t.h2d), median(t.kernel), median(t.d2h)};
  };
  const auto chains = [&](const TimedChains& t) {
    return model::ChainTimes{kLinks, static_cast<double>(links_.bytes() / kLinks), median(t.all_stages),
                             median(t.without_d2h)};
  };
  StageCosts costs;
  costs.in_stream = model::fit_stage_costs({.bytes = static_cast<double>(bytes_),
                                            .pieces = pieces_.chunks().size(),
                                            .whole = three(timed_whole_),
                                            .in_pieces = three(timed_pieces_),
                                            .small_bytes = static_cast<double>(small_.bytes()),
                                            .small = three(timed_small_),
                                            .both = ends_of(of(timed_both_)),
                                            .both_pieces = few_.chunks().size(),
                                            .opposing = opposing_,
                                            .h2d_pieces_beside = ends_of(of(timed_h2d_pieces_)).h2d,
                                            .d2h_pieces_beside = ends_of(of(timed_d2h_pieces_)).d2h,
                                            .h2d_in_turns_beside = end_in_turns(of(timed_h2d_in_turns_)),
                                            .d2h_in_turns_beside = end_in_turns(of(timed_d2h_in_turns_))});
  costs.in_stream.copy_engines = copy_engines;
  costs.across_streams = costs.in_stream;
  costs.in_stream.handoff = model::fit_handoff(costs.in_stream, chains(timed_in_stream_));
  costs.across_streams.handoff = model::fit_handoff(costs.in_stream, chains(timed_across_streams_));
  costs.in_turns = costs.in_stream;
  // With smaller payloads the fixed costs dominate, and the rates cannot be fitted.
  if (bytes_ >= kTurns * MiB) {
    model::StageCosts copies = costs.in_stream;  // of chunks without kernels, whose copy out follows the copy in
    copies.kernel = {};
    copies.handoff.copy_to_kernel = copies.handoff.copy_to_copy;
    copies.handoff.kernel_to_copy = 0;
    const model::Arrangement turns{.chunks = std::vector<double>(kTurns, static_cast<double>(bytes_) / kTurns),
                                   .h2d_after_d2h = kTurnStreams,
                                   .streams = kTurnStreams};
    const model::StageCosts fitted = model::with_rates_of(copies, turns, median(timed_turns_));
    costs.in_turns.h2d = fitted.h2d;
    costs.in_turns.d2h = fitted.d2h;
  }
  // Returns the host time of submitting one piece.
  const auto call = [&](Timed t) { return of(t).submit.median / static_cast<double>(pieces_.chunks().size()); };
  for (model::StageCosts* c : costs.all()) {
    c->submit_h2d = call(timed_pieces_.h2d);
    c->submit_kernel = call(timed_pieces_.kernel);
    c->submit_d2h = call(timed_pieces_.d2h);
  }
  // A chain across streams has three hand-overs per chunk, each with two event calls: record and wait.
  const double across = of(timed_across_streams_.all_stages).submit.median;
  const double within = of(timed_in_stream_.all_stages).submit.median;
  costs.event_call = std::max(0.0, (across - within) / static_cast<double>(6 * kLinks));
  return costs;
}

/// Whether other activity disturbed the samples: in some region that takes at least 1 ms, the interquartile range is
/// larger than on a quiet machine.
bool is_disturbed(std::span<const Series> series) {
  constexpr double kQuiet = 0.02;
  constexpr double kAWhile = 1e-3;  // seconds
  return std::ranges::any_of(series, [](const Series& s) {
    const std::span<const double> samples = s.elapsed.samples;
    if (samples.empty() || s.elapsed.median < kAWhile) return false;
    return statistics::percentile(samples, 0.75) - statistics::percentile(samples, 0.25) > kQuiet * s.elapsed.median;
  });
}

}  // namespace

bool has_costs(const ChunkedWork::Shape& shape) {
  constexpr std::size_t kMostUnits = 32;  // units that measure_wall_costs() moves at a time
  return shape.bytes >= std::max(kLeastForCosts, kMostUnits * shape.unit_bytes());
}

StageCosts measure_stage_costs(const RunContext& bench, std::span<const OnGpu> all, int attempts) {
  // The costs per operation do not depend on the payload size, so a small payload is used to save time.
  constexpr std::size_t kMostBytes = 64 * MiB;
  constexpr std::size_t kSamples = 10;
  std::vector<std::unique_ptr<CostRegions>> of_gpus;
  std::vector<std::vector<Region>> regions;
  for (const auto& [device, work] : all) {
    if (!has_costs(work->shape())) throw std::logic_error("a payload too small for costs to be measured");
    of_gpus.push_back(std::make_unique<CostRegions>(*device, *work, kMostBytes));
    regions.push_back(std::move(of_gpus.back()->all()));
  }
  std::vector<Region> together = concurrent_on_all_gpus(std::move(regions));
  for (Region& r : together) r.warmed_by_another = true;
  std::vector<Series> series = sample_few(bench, together, kSamples);
  for (int more = 1; more < attempts && is_disturbed(series); ++more) {
    std::vector<Series> again = sample_few(bench, together, kSamples);
    for (std::size_t i = 0; i < series.size() && all_sampled(again); ++i) {
      if (again[i].elapsed.median < series[i].elapsed.median) series[i] = std::move(again[i]);
    }
  }
  return of_gpus.front()->costs(series, bench.device.capabilities().environment.gpu.copy_engines);
}

}  // namespace xferbench
