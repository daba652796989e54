#include "scenarios/exchange/plan.hpp"

#include <stdexcept>

#include "core/units.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kFewSamples = 5;
constexpr std::size_t kFitPieces = 8;
constexpr std::uint64_t kTinyBytes = 4 * KiB;
constexpr double kShareOfBudget = 0.1;  // share of a case's time budget for each preliminary measurement

/// Takes a few samples of each region. Collective: all ranks must call it.
ExchangeSamples few_samples(const ActiveExchange& at, std::vector<Region> regions) {
  SamplingPolicy few = at.bench.policy;
  few.min_samples = few.max_samples = kFewSamples;
  few.budget *= kShareOfBudget;
  return {at, sample(at.bench.machine, std::move(regions), few, at.bench.observe, {}, at.bench.pace)};
}

/// Measures the stages, from which the model predicts an exchange. Uses the times of the slower rank of the pair, so
/// both ranks get the same values.
model::ExchangeStages measure_stages(const ActiveExchange& at) {
  const std::uint64_t bytes = at.c.bytes;
  const std::uint64_t piece = std::max<std::uint64_t>(1, bytes / kFitPieces);
  const std::uint64_t tiny = std::min(bytes, kTinyBytes);
  const ExchangeCopies one(at.c.both_ways, 1);
  const ExchangeCopies many(at.c.both_ways, kFitPieces);
  const ExchangeSamples samples =
      few_samples(at, exchange_regions(at, [&](const ExchangePart& part, auto& regions) {
                    regions.push_back(at.end.exchange("tiny", part, {tiny, 1}, tiny));
                    one.add(at, part, regions);
                    many.add(at, part, regions);
                    regions.push_back(at.end.messages("messages", part, {bytes, 1}, bytes));
                    regions.push_back(at.end.messages("messages-in-pieces", part, {piece, kFitPieces}, bytes));
                  }));
  if (at.bench.stopped()) return {};
  const std::vector<double> t = at.partner.largest(
      {one.d2h(samples).median, many.d2h(samples).median, samples.received("messages").elapsed.median,
       samples.received("messages-in-pieces").elapsed.median, one.h2d(samples).median, many.h2d(samples).median,
       samples.received().elapsed.median});
  return model::fit_exchange_stages({.bytes = static_cast<double>(bytes),
                                     .pieces = kFitPieces,
                                     .d2h = t[0],
                                     .d2h_pieces = t[1],
                                     .message = t[2],
                                     .message_pieces = t[3],
                                     .h2d = t[4],
                                     .h2d_pieces = t[5],
                                     .tiny = t[6]});
}

// --- Shapes ---------------------------------------------------------------------------------------------------------

/// Returns the shapes to try: `shape`, which the model chose, and the same with shorter and with longer chunks. The
/// model ignores CPU caches, so adds fixed shapes: short to long chunks and, unless the case sets the depth, the whole
/// payload as one chunk. The number of shapes is the same on every rank.
std::vector<model::ExchangeShape> with_others(const model::ExchangeShape& shape, const ExchangeCase& c) {
  constexpr std::uint64_t kPage = 4 * KiB;
  const std::uint64_t half = (shape.chunk / 2 + kPage - 1) / kPage * kPage;
  const std::uint64_t shorter = std::clamp(half, std::min(model::kShortestExchangeChunk, shape.chunk), shape.chunk);
  const std::uint64_t longer =
      std::max(shape.chunk, std::min({2 * shape.chunk, c.bytes, model::kLongestExchangeChunk}));
  const std::size_t depth = std::max<std::size_t>(shape.depth, 2);
  std::vector<model::ExchangeShape> shapes{shape,          {shorter, depth}, {longer, depth},
                                           {512 * KiB, 4}, {2 * MiB, 4},     {8 * MiB, 2}};
  if (c.shape.depth == 0) shapes.push_back({c.bytes, 1});
  for (model::ExchangeShape& s : shapes) {
    s.chunk = std::min(s.chunk, c.bytes);
    if (c.shape.depth > 0) s.depth = c.shape.depth;
  }
  return shapes;
}

/// Returns the fastest of the shapes. The time of a shape is that of the slower rank of the pair.
model::ExchangeShape fastest_of(const ActiveExchange& at, const std::vector<model::ExchangeShape>& shapes) {
  const auto name = [](std::size_t i) { return "shape-" + std::to_string(i); };
  const ExchangeSamples samples =
      few_samples(at, exchange_regions(at, [&](const ExchangePart& part, auto& regions) {
                    for (std::size_t i = 0; i < shapes.size(); ++i) {
                      regions.push_back(at.end.exchange(name(i), part, shapes[i], at.c.bytes));
                    }
                  }));
  if (at.bench.stopped()) return shapes.front();
  std::vector<double> times;
  for (std::size_t i = 0; i < shapes.size(); ++i) times.push_back(samples.received(name(i)).elapsed.median);
  times = at.partner.largest(times);
  return shapes[static_cast<std::size_t>(std::ranges::min_element(times) - times.begin())];
}

ExchangePlan plan_host(const ActiveExchange& at) {
  const model::ExchangeShape& given = at.c.shape;
  const std::uint64_t bytes = at.c.bytes;
  const auto shape = [&](std::uint64_t chunk, std::size_t depth) {
    return model::ExchangeShape{std::min(given.chunk > 0 ? given.chunk : chunk, bytes),
                                given.depth > 0 ? given.depth : depth};
  };
  const bool decided = given.chunk > 0 && given.depth > 0;
  if (decided || bytes <= model::kShortestExchangeChunk) return {shape(bytes, 1)};
  return {fastest_of(at, {shape(bytes, 1), shape(4 * MiB, 4), shape(MiB, 8)})};
}

}  // namespace

const Series& ExchangeSamples::named(std::size_t turn, std::string_view name) const {
  const std::span<const Series> of_turn = std::span(series_).subspan(turn * per_turn_, per_turn_);
  const auto found = std::ranges::find(of_turn, name, [](const Series& s) { return std::string_view(s.elapsed.name); });
  if (found == of_turn.end()) throw std::logic_error("exchange: no region " + std::string(name));
  return *found;
}

// --- Stages ---------------------------------------------------------------------------------------------------------

ExchangeCopies::ExchangeCopies(bool both_ways, std::size_t in_pieces) : pieces(in_pieces) {
  const std::string suffix = pieces > 1 ? "-in-pieces" : "";
  d2h_region = (both_ways ? "copies" : "d2h-alone") + suffix;
  h2d_region = (both_ways ? "copies" : "h2d-alone") + suffix;
}

void ExchangeCopies::add(const ActiveExchange& at, const ExchangePart& part, std::vector<Region>& regions) const {
  const bool at_once = d2h_region == h2d_region;
  regions.push_back(at.end.copies(d2h_region, part, true, at_once, at.c.bytes, pieces));
  if (!at_once) regions.push_back(at.end.copies(h2d_region, part, false, true, at.c.bytes, pieces));
}

const Measurement& ExchangeCopies::d2h(const ExchangeSamples& samples) const {
  return samples.sent(d2h_region).part(kExchangeD2h);
}

const Measurement& ExchangeCopies::h2d(const ExchangeSamples& samples) const {
  return samples.received(h2d_region).part(kExchangeH2d);
}

ExchangePlan plan_exchange(const ActiveExchange& at) {
  const model::ExchangeShape& given = at.c.shape;
  const std::uint64_t bytes = at.c.bytes;
  if (at.c.method == ExchangeMethod::host) return plan_host(at);
  if (at.c.method != ExchangeMethod::pipeline) return {{bytes, 1}};
  if (bytes <= kLargestSmallExchange) {
    return {{given.chunk > 0 ? given.chunk : bytes, given.depth > 0 ? given.depth : 2}};
  }
  ExchangePlan plan{.shape = given, .stages = measure_stages(at)};
  if (at.bench.stopped()) return {{bytes, 1}};
  plan.shape = model::best_exchange_shape(*plan.stages, bytes, given);
  if (given.chunk == 0) plan.shape = fastest_of(at, with_others(plan.shape, at.c));
  return plan;
}

}  // namespace xferbench
