#include "scenarios/multipath/case.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "model/relation.hpp"
#include "run/finding_text.hpp"
#include "run/findings.hpp"

namespace xferbench {

namespace {

/// Returns the names of GPUs, for example "GPU 1" or "GPUs 1,2".
std::string gpus_named(std::span<const int> numbers) {
  return fmt::format("GPU{} {}", numbers.size() > 1 ? "s" : "", gpus_text(numbers, ','));
}

/// Creates the finding about gain and cost of one result. `may_be_fewer`: whether to advise trying fewer helpers.
Finding gained(const Result& r, const std::string& prefix, bool may_be_fewer) {
  const MultipathCase c = multipath_case(r.config);
  const bool in = c.direction == Direction::h2d;
  const std::string moves = fmt::format("data {} GPU {}", in ? "reaches" : "leaves", c.target.front());
  const double rate = r.value("bandwidth");
  const double relayed = r.value("relayed");
  std::string text = prefix;
  if (relayed <= 0) {
    text += fmt::format("all data went over the own link of GPU {}, at {} GB/s: {}", c.target.front(),
                        format_significant(rate),
                        c.share ? "--share relays nothing" : "relaying would save less than 20 %");
  } else {
    const bool one = c.via.size() == 1;
    const std::string links = relayed < 1 ? fmt::format("its own link and {} of", one ? "that" : "those")
                                          : fmt::format("the link{} of", one ? "" : "s");
    text += fmt::format("{} through {} {} at {} GB/s, through its own link alone at {} GB/s: {}", moves, links,
                        gpus_named(c.via), format_significant(rate), format_significant(r.value("direct_bandwidth")),
                        ratio_text(model::estimate_of(r, "multipath"), model::estimate_of(r, "direct")));
    text += fmt::format("; meanwhile {} {} busy, with {} MiB of buffers{}", gpus_named(c.via),
                        c.via.size() > 1 ? "are" : "is", format_significant(r.value("helper_memory")),
                        c.via.size() > 1 ? " each" : "");
    if (c.via.size() > 1 && may_be_fewer) text += "; fewer may be enough: try --via growing";
  }
  return {
      .kind = "multipath",
      .labels = {{"case", r.config.key()}},
      .metrics = {r.needed_metric("bandwidth"), r.needed_metric("direct_bandwidth"), r.needed_metric("times_direct")},
      .text = std::move(text)};
}

/// Of results that differ in the helpers only, returns the one with the fewest helpers that is as fast as the fastest.
const Result& fewest_helpers(std::span<const Result* const> results) {
  const auto time = [](const Result* r) { return r->median("multipath"); };
  const double least = time(*std::ranges::min_element(results, {}, time));
  const Result* fewest = nullptr;
  for (const Result* r : results) {
    const auto helpers = [](const Result& one) { return multipath_case(one.config).via.size(); };
    if (time(r) > (1 + model::kAlike) * least) continue;
    if (fewest == nullptr || helpers(*r) < helpers(*fewest)) fewest = r;
  }
  return *fewest;
}

/// Returns a finding that the helpers of `fewest` are enough; nothing if no result has more helpers than `fewest`.
std::optional<Finding> enough(std::span<const Result* const> results, const Result& fewest, const std::string& prefix) {
  const auto helpers = [](const Result* r) { return multipath_case(r->config).via; };
  const Result* most = *std::ranges::max_element(results, {}, [&](const Result* r) { return helpers(r).size(); });
  const std::vector<int> via = helpers(&fewest);
  if (helpers(most).size() <= via.size()) return std::nullopt;
  return Finding{
      .kind = "helpers",
      .labels = {{"case", fewest.config.key()}, {"via", gpus_text(via)}},
      .metrics = {fewest.needed_metric("bandwidth")},
      .text = fmt::format("{}{} {} enough, at {} GB/s: {} helpers reach {} GB/s; use --via {}", prefix, gpus_named(via),
                          via.size() > 1 ? "are" : "is", format_significant(fewest.value("bandwidth")),
                          helpers(most).size(), format_significant(most->value("bandwidth")), gpus_text(via))};
}

/// If there are many findings, shows only the fastest case; the table already contains the others.
void keep_fastest(std::vector<Finding>& findings) {
  constexpr std::size_t kFew = 4;
  const auto shown = [](const Finding& f) { return !f.detail; };
  if (static_cast<std::size_t>(std::ranges::count_if(findings, shown)) <= kFew) return;
  const auto rate = [](const Finding& f) { return f.metrics.front().value; };
  const auto fastest = std::ranges::max_element(findings, {}, rate);
  for (Finding& f : findings) f.detail = &f != &*fastest;
}

}  // namespace

std::vector<Finding> multipath_findings(std::span<const Result* const> results) {
  for (const Result* r : results) r->needed_measurement("multipath");
  const std::vector<const Result*> measured = with_metric(results, "bandwidth");
  const std::vector<std::string> axes = varying_axes(measured);
  std::vector<std::string> but_via = axes;
  std::erase(but_via, "via");
  std::vector<Finding> gains;
  std::vector<Finding> helpers;
  for (const auto& alike : grouped(measured, [](const Result& r) { return r.config.with("via", {}).key(); })) {
    const Result& fewest = fewest_helpers(alike);
    for (const Result* r : alike) {
      gains.push_back(gained(*r, measured.size() == 1 ? "" : name_of(r->config, axes) + ": ", alike.size() == 1));
      gains.back().detail = r != &fewest;
    }
    const std::string prefix = but_via.empty() ? "" : name_of(fewest.config, but_via) + ": ";
    if (auto f = enough(alike, fewest, prefix)) helpers.push_back(std::move(*f));
  }
  keep_fastest(gains);
  std::ranges::move(helpers, std::back_inserter(gains));
  return gains;
}

}  // namespace xferbench
