// Fits the costs of pipeline stages to measured times of a payload that is copied or processed in one piece and in
// many. Pure functions; times in seconds. Formulas: docs/lab/overlap-model.md, "The pipeline model".
#pragma once

#include <cstddef>

#include "model/pipeline.hpp"

namespace xferbench::model {

/// Seconds from the common start of both directions until the last copy of each direction ends.
struct CopyEnds {
  double h2d = 0;
  double d2h = 0;
};

/// Equal copies in one direction that follow one another without a pause.
struct CopyRow {
  double bytes = 0;  ///< total of all pieces
  std::size_t pieces = 1;
};

/// Predicts when the copies of each direction end if both directions start together; copies wait for their engine only.
CopyEnds copies_at_once(const Cost& h2d, const Cost& d2h, const CopyRow& in, const CopyRow& out);

struct StageSeconds {
  double h2d = 0;
  double kernel = 0;
  double d2h = 0;
};

/// Measured times, each of a single pass. `whole`: `bytes` bytes through each stage in one piece. `in_pieces`: the same
/// in `pieces` pieces. `small`: `small_bytes` bytes in one piece. `both`: both directions at once, in a few pieces. (In
/// one piece the rates of the directions may differ: on an H100, 46 and 51 GB/s instead of 50 each.) The last four
/// times are of one direction in `pieces` pieces, while the other direction copies whole payloads without a pause.
struct StageTimes {
  double bytes = 0;
  std::size_t pieces = 1;
  StageSeconds whole;
  StageSeconds in_pieces;
  double small_bytes = 0;  ///< 0: not measured
  StageSeconds small;
  CopyEnds both;
  std::size_t both_pieces = 1;
  std::size_t opposing = 1;      ///< number of whole payloads, back to back, in the direction opposite to the pieces
  double h2d_pieces_beside = 0;  ///< seconds until H2D in `pieces` pieces ends, during D2H of `opposing` payloads
  double d2h_pieces_beside = 0;  ///< seconds until D2H in `pieces` pieces ends, during H2D of `opposing` payloads
  /// Like h2d_pieces_beside and d2h_pieces_beside, but the pieces rotate over three streams; 0: not measured.
  double h2d_in_turns_beside = 0;
  double d2h_in_turns_beside = 0;
};

/// Returns all costs except handoffs, submission and the number of copy engines.
StageCosts fit_stage_costs(const StageTimes& times);

/// Measured times of a chain of `links` chunks of `bytes` bytes, in which each chunk passes all stages before the next
/// chunk starts, and of the same chain without the D2H copies.
struct ChainTimes {
  std::size_t links = 1;
  double bytes = 0;
  double all_stages = 0;
  double without_d2h = 0;
};

/// Returns the handoff times: the chains' times minus the times of all their operations, divided by the number of
/// handoffs; never negative. A chain cannot separate handoffs to and from a kernel, so they are assumed to be equal.
Handoff fit_handoff(const StageCosts& costs, const ChainTimes& times);

/// Returns `costs` with both duplex rates multiplied by one factor (0.8 to 1.1), so that makespan() of the arrangement
/// equals `measured`. If chunks rotate over streams, the directions slow each other more than with one stream each (4 %
/// on an H100).
StageCosts with_rates_of(StageCosts costs, const Arrangement& arrangement, double measured);

}  // namespace xferbench::model
