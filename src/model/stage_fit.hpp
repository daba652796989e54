// What single operations of a pipeline's stages cost, from the times of a payload in one piece and in many. Pure
// functions; times in seconds. Formulas: docs/scenarios/overlap-model.md, "The pipeline model".
#pragma once

#include <cstddef>

#include "model/pipeline.hpp"

namespace xferbench::model {

/// When each direction ends.
struct CopyEnds {
  double h2d = 0;
  double d2h = 0;
};

/// Both directions started together, `bytes` each way in so many equal copies that wait for nothing but their engine.
CopyEnds copies_at_once(const Cost& h2d, const Cost& d2h, double bytes, std::size_t h2d_pieces, std::size_t d2h_pieces);

/// Measured: `bytes` through each stage, in one piece and in `pieces`; both directions at once, each in one piece, and
/// one in pieces while the other is in one; and chains of `links` chunks of `link_bytes`, each of which goes through
/// all stages before the next begins. (Both in pieces would fall into step or not, and tell little of either.)
struct StageTimes {
  double bytes = 0;
  std::size_t pieces = 1;
  double h2d = 0;
  double kernel = 0;
  double d2h = 0;
  double h2d_pieces = 0;
  double kernel_pieces = 0;
  double d2h_pieces = 0;
  CopyEnds both;
  double h2d_pieces_beside = 0;  ///< end of H2D in pieces while D2H is in one
  double d2h_pieces_beside = 0;  ///< end of D2H in pieces while H2D is in one
  std::size_t links = 1;
  double link_bytes = 0;
};

/// All but handoff, submission and the number of copy engines.
StageCosts fit_stage_costs(const StageTimes& times);

/// From the end of an operation to the start of the next on another engine: what is left of a chain's time when its
/// operations are taken off, for each of the three ways of a link. Never negative.
double handoff(const StageCosts& costs, const StageTimes& times, double chain);

}  // namespace xferbench::model
