#include "scenarios/overlap/case.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "kernels/elementwise.hpp"

namespace xferbench {

namespace {

/// Returns the number of chunks that the device holds at once; 0: all chunks.
std::size_t slots(const Case& c, const PipelineShape& pipeline) {
  if (pipeline.strategy == Strategy::streams) return pipeline.streams;
  if (pipeline.strategy == Strategy::multipath) return 0;  // here --slots limits the chunks that a helper GPU holds
  return c.count_or("slots", pipeline.strategy == Strategy::double_buffer ? 2 : 0);
}

/// Returns the bytes of each item that the model schedules: a chunk, or a whole batch for Strategy::batch.
std::vector<double> chunk_bytes(const OverlapCase& c) {
  const auto chunks = cut(c.work);
  const std::size_t group = c.pipeline.strategy == Strategy::batch ? c.pipeline.batch : 1;
  std::vector<double> bytes;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const auto own = static_cast<double>(chunks[i].count * c.work.element_bytes());
    if (i % group == 0) bytes.push_back(0);
    bytes.back() += own;
  }
  return bytes;
}

/// Returns the dependencies between chunks, for the pipeline model; nothing if the model does not cover the case.
std::optional<model::Arrangement> arrangement(const OverlapCase& c) {
  if (c.work.blocks != 0 || !has_costs(c.work)) return std::nullopt;
  model::Arrangement a;
  const std::size_t group = c.pipeline.strategy == Strategy::batch ? c.pipeline.batch : 1;
  // Number of groups of chunks that the slots hold. A group reuses the slots of the group this many groups earlier, and
  // waits for the last chunk of that group.
  const std::size_t slots = c.work.slots == 0 ? 0 : std::max<std::size_t>(1, c.work.slots / group);
  switch (c.pipeline.strategy) {
    case Strategy::streams:
      a.h2d_after_d2h = c.pipeline.stream_kind == StreamKind::legacy_default ? 1 : c.pipeline.streams;
      a.streams = a.h2d_after_d2h;
      a.wave = c.pipeline.breadth_first ? c.pipeline.streams : 1;
      break;
    case Strategy::engines:
    case Strategy::double_buffer:
    case Strategy::batch:
      (c.work.in_place ? a.h2d_after_d2h : a.h2d_after_kernel) = slots;
      a.kernel_after_d2h = c.work.in_place ? 0 : slots;
      break;
    case Strategy::serial:
    case Strategy::zero_copy:
    case Strategy::multipath: return std::nullopt;
  }
  a.chunks = chunk_bytes(c);
  return a;
}

/// Selects those measured costs that apply to the operations of this case's pipeline. `gated`: the pass is timed behind
/// a gate, which hides the host's submission.
model::StageCosts costs_of(const StageCosts& measured, const OverlapCase& c, bool gated) {
  const bool streams = c.pipeline.strategy == Strategy::streams;
  // In a graph, a dependency between operations is not an event: it costs as much as the order within a stream.
  const bool events = !streams && !c.pipeline.graph;
  model::StageCosts costs = streams ? measured.in_turns : events ? measured.across_streams : measured.in_stream;
  const std::size_t batch = std::min(c.pipeline.batch, c.work.chunks * c.work.rounds);
  const auto group = static_cast<double>(c.pipeline.strategy == Strategy::batch ? batch : 1);
  const double kernels = static_cast<double>(c.work.kernels_per_chunk) * group;
  costs.kernel.per_operation *= kernels;
  costs.submit_kernel *= kernels;
  if (events) {  // host calls: record and wait per hand-over; a wait before and a record after each use of a slot
    const double slots = c.work.slots != 0 ? group * measured.event_call : 0;
    costs.submit_h2d += 2 * measured.event_call + slots;
    costs.submit_kernel += 2 * (measured.event_call + slots);
    costs.submit_d2h += slots;
  }
  if (!gated) costs.start = 0;  // the start of the GPU takes no extra time while the host is still submitting
  if (gated || c.pipeline.graph) costs.submit_h2d = costs.submit_kernel = costs.submit_d2h = 0;
  return costs;
}

double serial_time(const StageCosts& costs, const OverlapCase& c) {
  double seconds = 2 * costs.in_stream.start;  // each of the two blocking copies has a start cost
  for (const model::Cost* s : {&costs.in_stream.h2d, &costs.in_stream.kernel, &costs.in_stream.d2h}) {
    seconds += s->per_operation + s->per_byte * static_cast<double>(c.work.bytes * c.work.rounds);
  }
  return seconds;
}

constexpr std::array<std::size_t, 9> kChunks{4, 8, 16, 24, 32, 48, 64, 128, 256};

/// Returns all variants of `c` with the same strategy but other numbers of chunks, streams or slots, or another growth.
std::vector<OverlapCase> neighbours(const OverlapCase& c) {
  constexpr std::array<double, 5> kGrowths{1, 1.03, 1.04, 1.05, 1.06};
  constexpr std::array<std::size_t, 5> kPlaces{2, 3, 4, 8, 16};
  const bool streams = c.pipeline.strategy == Strategy::streams;
  const std::size_t places_now = streams ? c.pipeline.streams : c.work.slots;
  // A batch needs one slot for each of its chunks, so only multiples of the batch size are useful numbers of slots.
  const std::size_t least = c.pipeline.strategy == Strategy::batch ? c.pipeline.batch : 1;
  std::vector<std::size_t> places{places_now};
  if (places_now > 0) {
    std::ranges::copy_if(kPlaces, std::back_inserter(places), [least](std::size_t p) { return p % least == 0; });
  }
  std::vector<std::size_t> chunks{c.work.chunks};
  std::ranges::copy(kChunks, std::back_inserter(chunks));
  std::vector<OverlapCase> all;
  for (const std::size_t n : chunks) {
    if (n > c.work.units()) continue;
    for (const double growth : kGrowths) {
      for (const std::size_t p : places) {
        OverlapCase& other = all.emplace_back(c);
        other.work.chunks = n;
        other.work.growth = growth;
        other.work.slots = p;
        if (streams) other.pipeline.streams = p;
      }
    }
  }
  return all;
}

std::string differing_flags(const OverlapCase& from, const OverlapCase& to) {
  std::string flags;
  const auto add = [&flags](const std::string& flag) { flags += (flags.empty() ? "" : " ") + flag; };
  if (to.work.chunks != from.work.chunks) add(fmt::format("--chunks {}", to.work.chunks));
  if (to.work.growth != from.work.growth) add(fmt::format("--growth {}", to.work.growth));
  if (to.pipeline.streams != from.pipeline.streams) {
    add(fmt::format("--streams {}", to.pipeline.streams));
  } else if (to.work.slots != from.work.slots) {
    add(fmt::format("--slots {}", to.work.slots));
  }
  return flags;
}

}  // namespace

OverlapCase overlap_case(const Case& c) {
  OverlapCase o;
  const StrategyWord& word = strategy_word(c.word("strategy"));
  o.pipeline.strategy = word.strategy;
  o.pipeline.graph = word.graph;
  o.pipeline.streams = c.count_or("streams", 1);
  if (c.has("stream-kind")) o.pipeline.stream_kind = c.one_of<StreamKind>("stream-kind", kStreamKindNames);
  o.pipeline.breadth_first = c.is("issue", "breadth");
  o.pipeline.batch = c.count_or("batch", 1);
  o.pipeline.blocks = static_cast<unsigned>(c.count_or("blocks", 0));
  if (o.uses_peer_relay()) o.pipeline.helper_slots = c.count_or("slots", o.pipeline.helper_slots);
  const bool has_chunks = word.strategy != Strategy::serial && word.strategy != Strategy::zero_copy;
  o.work = {.bytes = c.count("size"),
            .chunks = c.count_or("chunks", 1),
            .growth = c.has("growth") ? c.real("growth") : 1,
            .rounds = c.count_or("rounds", 1),
            .slots = slots(c, o.pipeline),
            .in_place = c.is("in-place", "yes"),
            .own = own_kernel_of(c, c.count("size")),
            .work = static_cast<std::uint32_t>(c.count_or("work", 1)),
            .kernels_per_chunk = c.count_or("kernels-per-chunk", 1),
            .blocks = has_chunks ? o.pipeline.blocks : 0};  // strategies without chunks launch a single kernel
  if (c.has("kernel")) o.work.op = c.one_of<kernels::ElementwiseOp>("kernel", kernels::kElementwiseNames);
  if (c.has("balance")) o.balance = c.real("balance");
  o.sizes_kernels = c.has("blocks") || c.has("kernels-per-chunk");
  if (c.has("split")) o.split = c.one_of<Split>("split", kSplits);
  if (c.has("gpus")) o.gpus = gpu_numbers(c.word("gpus")).size();
  return o;
}

std::vector<Case> expand_overlap(const Case& c, const GpusOfRun& gpus) {
  const bool uses_peer_relay = overlap_case(c).uses_peer_relay();
  if (gpus.count() < 2 || !(gpus.asked_for || c.has("split") || uses_peer_relay)) return {c};
  Case on_all = c;
  if (!c.has("split") && !uses_peer_relay)
    on_all.set(choice_axis("split", words(kSplits), {}), std::string(kSplits.front()));
  on_all.set(gpus_axis("gpus", {}, {}), gpus_text(gpus.numbers()));
  return {on_all};
}

bool modelled(const OverlapCase& c) {
  if (c.pipeline.strategy == Strategy::serial) return has_costs(c.work);
  return arrangement(c).has_value();
}

std::optional<double> predicted(const StageCosts& costs, const OverlapCase& c, bool gated) {
  if (!modelled(c)) return std::nullopt;
  if (c.pipeline.strategy == Strategy::serial) return serial_time(costs, c);
  const auto a = arrangement(c);
  return a ? std::optional(model::makespan(costs_of(costs, c, gated), *a)) : std::nullopt;
}

std::optional<model::Losses> losses(const StageCosts& costs, const OverlapCase& c, bool gated, double makespan,
                                    double limit) {
  const auto a = arrangement(c);
  return a ? std::optional(model::explain(costs_of(costs, c, gated), *a, makespan, limit)) : std::nullopt;
}

std::optional<Suggestion> suggestion(const StageCosts& costs, const OverlapCase& c, bool gated) {
  constexpr double kWorthwhile = 0.01;
  constexpr double kAlike = 0.001;
  const auto now = predicted(costs, c, gated);
  if (!now || c.pipeline.strategy == Strategy::serial) return std::nullopt;
  const OverlapCase* best = nullptr;
  double fastest = *now;
  const std::vector<OverlapCase> all = neighbours(c);
  for (const OverlapCase& other : all) {
    const bool hidden = gated && fits_gate(other.work, other.pipeline);
    const double seconds = predicted(costs, other, hidden).value_or(fastest);
    if (seconds >= fastest * (1 - kAlike)) continue;
    fastest = seconds;
    best = &other;
  }
  const double gain = 1 - fastest / *now;
  if (best == nullptr || gain <= kWorthwhile) return std::nullopt;
  return Suggestion{differing_flags(c, *best), gain};
}

std::optional<std::size_t> best_chunks(const StageCosts& costs, const OverlapCase& c, bool gated) {
  constexpr double kAlike = 1.01;
  if (!arrangement(c)) return std::nullopt;
  std::vector<std::pair<std::size_t, double>> tried;
  double fastest = std::numeric_limits<double>::infinity();
  for (const std::size_t chunks : kChunks) {
    if (chunks > c.work.units()) break;
    OverlapCase other = c;
    other.work.chunks = chunks;
    tried.emplace_back(chunks, *predicted(costs, other, gated && fits_gate(other.work, other.pipeline)));
    fastest = std::min(fastest, tried.back().second);
  }
  return std::ranges::find_if(tried, [&](const auto& t) { return t.second <= kAlike * fastest; })->first;
}

void add_efficiency(const OverlapCase& c, const model::Bound& limit, double makespan, Result& result) {
  result.labels.emplace_back("limited_by", limit.is_of_kernel ? "kernel" : "link");
  result.labels.emplace_back("limit_set_by", to_text(limit.by));
  result.add("bandwidth", 2e-9 * static_cast<double>(c.work.bytes * c.work.rounds) / makespan, "GB/s");
  result.add("bound", limit.seconds, "s");
  result.add("efficiency", limit.seconds / makespan, "1");
  if (c.work.rounds > 1) result.add("round_time", makespan / static_cast<double>(c.work.rounds), "s");
}

}  // namespace xferbench
