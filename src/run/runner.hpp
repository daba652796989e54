// Runs cases one after another. A case that fails, fails alone.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/result.hpp"
#include "run/scenario.hpp"

namespace xferbench {

struct PlannedCase {
  const Scenario* scenario;
  Case config;
};

/// Why a case asks for too much, known before anything is allocated: an objection of its scenario, or more memory than
/// there is. Nothing if it can run.
std::optional<std::string> refusal(const PlannedCase& planned, Device& device, bool verify);

/// Adds the flags of a result's measurements as warnings, each flag once, and intervals wider than the policy wants.
void warn(Result& result, const SamplingPolicy& policy);

/// Called after each case with its result, so that nothing is lost if the process ends before the last.
using CaseObserver = std::function<void(const Result&)>;
/// Called before each case with its index.
using CaseAnnouncer = std::function<void(std::size_t index, const Case& config)>;

/// Runs every case: `ok`, `failed` with a reason, or `skipped` with a reason (refused, not
/// supported by the device, a lost context, Ctrl-C).
std::vector<Result> run_cases(std::span<const PlannedCase> cases, const Bench& bench, const CaseAnnouncer& announce,
                              const CaseObserver& observe);

}  // namespace xferbench
