// What single operations of a pipeline's stages cost, from the times of a payload in one piece and in many. Pure
// functions; times in seconds. Formulas: docs/lab/overlap-model.md, "The pipeline model".
#pragma once

#include <cstddef>

#include "model/pipeline.hpp"

namespace xferbench::model {

/// When each direction ends.
struct CopyEnds {
  double h2d = 0;
  double d2h = 0;
};

/// Equal copies in one direction, one after the other.
struct CopyRow {
  double bytes = 0;  ///< of all together
  std::size_t pieces = 1;
};

/// Both directions started together; copies wait for nothing but their engine.
CopyEnds copies_at_once(const Cost& h2d, const Cost& d2h, const CopyRow& in, const CopyRow& out);

/// Of each stage.
struct StageSeconds {
  double h2d = 0;
  double kernel = 0;
  double d2h = 0;
};

/// Measured, each as a single pass: `bytes` through each stage, in one piece and in `pieces`; `small_bytes` in one
/// piece; both directions at once, each in a few pieces as in a pipeline (in one piece they may leave each other other
/// rates: of an H100, 46 and 51 GB/s instead of 50 each), and one in many pieces beside so many payloads in the other
/// that it is not alone at its end. (Both in many would fall into step or not, and tell little of either.)
struct StageTimes {
  double bytes = 0;
  std::size_t pieces = 1;
  StageSeconds whole;
  StageSeconds in_pieces;
  double small_bytes = 0;  ///< 0: not measured
  StageSeconds small;
  CopyEnds both;
  std::size_t both_pieces = 1;   ///< of each direction
  std::size_t opposing = 1;      ///< payloads in one piece each, one after the other, that pieces are beside
  double h2d_pieces_beside = 0;  ///< end of H2D in pieces
  double d2h_pieces_beside = 0;  ///< end of D2H in pieces
  /// The same two with pieces that three streams have in turns; 0: not measured.
  double h2d_in_turns_beside = 0;
  double d2h_in_turns_beside = 0;
};

/// All but hand-overs, submission and the number of copy engines.
StageCosts fit_stage_costs(const StageTimes& times);

/// Measured: chains of `links` chunks of `bytes`, each of which goes through all stages before the next begins, and of
/// as many that only go to the GPU and through the kernel.
struct ChainTimes {
  std::size_t links = 1;
  double bytes = 0;
  double all_stages = 0;
  double without_d2h = 0;
};

/// From the end of an operation to the start of the next on another engine: what is left of the chains' times when
/// their operations are taken off. Never negative. To a kernel and from it cannot be told apart where one follows from
/// the other: they are taken to be alike.
Handoff fit_handoff(const StageCosts& costs, const ChainTimes& times);

/// Costs whose duplex rates, both alike, are corrected until makespan() says what was measured of that arrangement:
/// where chunks take turns on streams, the directions leave each other less than in a stream each (of an H100, 4 %).
StageCosts with_rates_of(StageCosts costs, const Arrangement& arrangement, double measured);

}  // namespace xferbench::model
