#include "model/exchange.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace xferbench::model {

namespace {

constexpr std::array<std::size_t, 4> kDepths{2, 3, 4, 8};
constexpr std::uint64_t kMostChunks = 4096;  // more chunks cost far more than they save

/// Fits a stage's cost. `one`: seconds for `bytes` bytes in one piece; `in_pieces`: seconds for the same bytes in
/// `pieces` pieces. The difference of the two times is the cost of the additional operations.
Cost cost_of(double bytes, double one, double in_pieces, std::size_t pieces) {
  const double more = pieces > 1 ? std::max(0.0, (in_pieces - one) / static_cast<double>(pieces - 1)) : 0;
  const double per_operation = std::min(more, one);
  return {.per_operation = per_operation, .per_byte = (one - per_operation) / bytes};
}

std::vector<std::uint64_t> chunks_to_try(std::uint64_t bytes) {
  std::vector<std::uint64_t> chunks;
  for (std::uint64_t chunk = kShortestExchangeChunk; chunk <= kLongestExchangeChunk && chunk < bytes; chunk *= 2) {
    if (bytes / chunk <= kMostChunks) chunks.push_back(chunk);
  }
  if (bytes <= kLongestExchangeChunk || chunks.empty()) chunks.push_back(bytes);
  return chunks;
}

}  // namespace

ExchangeStages fit_exchange_stages(const ExchangeTimes& t) {
  ExchangeStages stages{.d2h = cost_of(t.bytes, t.d2h, t.d2h_pieces, t.pieces),
                        .message = cost_of(t.bytes, t.message, t.message_pieces, t.pieces),
                        .h2d = cost_of(t.bytes, t.h2d, t.h2d_pieces, t.pieces)};
  const double operations = stages.d2h.per_operation + stages.message.per_operation + stages.h2d.per_operation;
  stages.handoff = std::max(0.0, (t.tiny - operations) / 3);  // three handoffs: after each stage, the last to the host
  return stages;
}

double exchange_time(const ExchangeStages& stages, std::uint64_t bytes, const ExchangeShape& shape) {
  Arrangement arrangement{
      .chunks = {}, .h2d_after_d2h = 0, .h2d_after_kernel = shape.depth, .kernel_after_d2h = shape.depth};
  for (std::uint64_t done = 0; done < bytes; done += shape.chunk) {
    arrangement.chunks.push_back(static_cast<double>(std::min(shape.chunk, bytes - done)));
  }
  // The pipeline model applies to any three stages in sequence. Here the message takes the place of the kernel.
  return stages.handoff + makespan({.h2d = stages.d2h,
                                    .kernel = stages.message,
                                    .d2h = stages.h2d,
                                    .handoff = Handoff::alike(stages.handoff)},
                                   arrangement);
}

ExchangeShape best_exchange_shape(const ExchangeStages& stages, std::uint64_t bytes, const ExchangeShape& given) {
  struct Candidate {
    ExchangeShape shape;
    double seconds;
    [[nodiscard]] std::uint64_t memory() const { return shape.chunk * shape.depth; }
  };
  const bool free_choice = given.chunk == 0 && given.depth == 0;
  std::vector<Candidate> candidates;
  for (const std::uint64_t chunk : given.chunk > 0 ? std::vector{std::min(given.chunk, bytes)} : chunks_to_try(bytes)) {
    const std::uint64_t count = (bytes + chunk - 1) / chunk;
    for (const std::size_t wanted :
         given.depth > 0 ? std::vector{given.depth} : std::vector(kDepths.begin(), kDepths.end())) {
      const ExchangeShape shape{chunk, static_cast<std::size_t>(std::min<std::uint64_t>(wanted, count))};
      if (free_choice && shape.depth > kDepths.front() && shape.chunk * shape.depth > kMostExchangeMemory) continue;
      candidates.push_back({shape, exchange_time(stages, bytes, shape)});
    }
  }
  const double least = std::ranges::min_element(candidates, {}, &Candidate::seconds)->seconds;
  std::erase_if(candidates, [least](const Candidate& c) { return c.seconds > 1.01 * least; });
  return std::ranges::min_element(candidates, {}, &Candidate::memory)->shape;
}

}  // namespace xferbench::model
