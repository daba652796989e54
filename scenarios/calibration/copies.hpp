// Not a scenario: figures of a profile that follow from copies and calls by themselves (memcpy, latency). What is added
// first is taken out of the times of what comes later: pipelines.hpp first, then these in their order.
#pragma once

#include <span>

#include "scenarios/calibration/figures.hpp"

namespace xferbench {

void add_pinned_copies(std::span<const NamedReport> runs, Figures& figures);
void add_calls(std::span<const NamedReport> runs, Figures& figures);
/// A copy of pageable memory returns when it has ended, so that its time by events has what the host does then: it
/// wakes up and records the event that ends the region.
void add_pageable_copies(std::span<const NamedReport> runs, Figures& figures);
/// Kernels that read or write the host's memory over the link.
void add_kernels_on_link(std::span<const NamedReport> runs, Figures& figures);
/// Copies inside the GPU.
void add_inside(std::span<const NamedReport> runs, Figures& figures);

}  // namespace xferbench
