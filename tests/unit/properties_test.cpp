// Properties checked on random inputs; RapidCheck shrinks a counterexample.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/values.hpp"
#include "core/axis.hpp"
#include "core/spelling.hpp"
#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "model/pipeline.hpp"

namespace xferbench {
namespace {

/// A fixed seed makes failures repeatable. RC_PARAMS="seed=7 max_success=10000" tries others.
[[maybe_unused]] const int kRepeatable = setenv("RC_PARAMS", "seed=20261121", 0);

template <class T>
T between(T low, T high) {
  return *rc::gen::inRange<T>(low, high + 1);
}

/// A real number with six decimals.
double real_between(double low, double high) {
  return static_cast<double>(between(std::llround(low * 1e6), std::llround(high * 1e6))) / 1e6;
}

// --- Values printed and read back ------------------------------------------------------------------------------------

const Axis kSize{.name = "size", .kind = AxisKind::size};
const Axis kCount{.name = "count", .min = 0, .max = 1e15};
const Axis kReal{.name = "real", .kind = AxisKind::real, .min = 0.001, .max = 1e6};

std::vector<Value> parsed(const Axis& axis, const std::string& text) {
  return cli::parse_axis(axis, text, "--" + axis.name);
}

/// A number of bytes that an axis allows: a random multiple of a random power of two.
std::uint64_t any_size() {
  const auto power_of_two = between<unsigned>(0, 50);
  return between<std::uint64_t>(1, (std::uint64_t{1} << 59) >> power_of_two) << power_of_two;
}

Value any_value(const Axis& axis) {
  switch (axis.kind) {
    case AxisKind::size: return any_size();
    case AxisKind::real: return real_between(0.001, 1e6);
    default: return between<std::uint64_t>(0, 1'000'000'000'000);
  }
}

std::vector<Value> each_once(const std::vector<Value>& values) {
  std::vector<Value> once;
  for (const Value& v : values) {
    if (std::ranges::find(once, v) == once.end()) once.push_back(v);
  }
  return once;
}

RC_GTEST_PROP(Values, OfEveryKindAreReadBackAsPrintedAloneAndInLists, ()) {
  const Axis& axis = **rc::gen::elementOf(std::vector<const Axis*>{&kSize, &kCount, &kReal});
  std::vector<Value> values;
  std::string list;
  for (auto left = between(1, 8); left > 0; --left) {
    values.push_back(any_value(axis));
    const std::string text = to_text(values.back(), axis.kind);
    RC_ASSERT(parsed(axis, text) == std::vector<Value>{values.back()});
    list += (list.empty() ? "" : ",") + text;
  }
  RC_ASSERT(parsed(axis, list) == each_once(values));
}

RC_GTEST_PROP(Values, OfARangeAreItsFirstAndEveryStepUpToItsEnd, ()) {
  const auto first = between<std::uint64_t>(1, 1'000'000);
  const auto last = first + between<std::uint64_t>(0, 1'000'000);
  const auto step = between<std::uint64_t>(200, 2'000'000);
  const auto factor = between<std::uint64_t>(2, 100);
  const std::string ends = to_text(Value(first), AxisKind::count) + ":" + to_text(Value(last), AxisKind::count);
  std::vector<Value> sums;
  for (std::uint64_t v = first; v <= last; v += step) sums.emplace_back(v);
  std::vector<Value> products;
  for (std::uint64_t v = first; v <= last; v *= factor) products.emplace_back(v);
  RC_ASSERT(parsed(kCount, ends + ":+" + std::to_string(step)) == sums);
  RC_ASSERT(parsed(kCount, ends + ":x" + std::to_string(factor)) == products);
}

RC_GTEST_PROP(Suggestions, NeverProposeWhatWasTyped, (std::vector<std::string> candidates, std::string typed)) {
  candidates.push_back(typed);
  RC_ASSERT(nearest(typed, candidates) != typed || typed.empty());
  if (!typed.empty()) RC_ASSERT(suggestion(typed, candidates) != "; did you mean '" + typed + "'?");
}

// --- A payload's way through a pipeline ------------------------------------------------------------------------------

model::Cost any_cost() {
  return {real_between(0, 100) * 1e-6, real_between(0, 1) * 1e-9, real_between(0.3, 1), real_between(1, 4)};
}

model::StageCosts any_costs() {
  model::StageCosts c{.h2d = any_cost(), .kernel = any_cost(), .d2h = any_cost()};
  c.handoff = {real_between(0, 10) * 1e-6, real_between(0, 10) * 1e-6, real_between(0, 10) * 1e-6};
  c.stream_switch = real_between(0, 5) * 1e-6;
  c.start = real_between(0, 10) * 1e-6;
  c.copy_engines = between(1U, 2U);
  for (double* submit : {&c.submit_h2d, &c.submit_kernel, &c.submit_d2h}) *submit = real_between(0, 10) * 1e-6;
  return c;
}

/// A payload in chunks of random lengths, with every kind of wait that `makespan` models.
model::Arrangement any_arrangement() {
  model::Arrangement a;
  const double largest = std::pow(10, real_between(2, 8));
  for (auto left = between(1, 40); left > 0; --left) a.chunks.push_back(real_between(0.01, 1) * largest);
  for (std::size_t* waits : {&a.h2d_after_d2h, &a.h2d_after_kernel, &a.kernel_after_d2h}) {
    *waits = between<std::size_t>(0, 6);
  }
  a.wave = between<std::size_t>(1, 8);
  // All H2D copies of a wave are submitted before its first D2H copy. A wave larger than the number of slots would
  // deadlock.
  for (const std::size_t* waits : {&a.h2d_after_d2h, &a.h2d_after_kernel, &a.kernel_after_d2h}) {
    if (*waits > 0) a.wave = std::min(a.wave, *waits);
  }
  return a;
}

double bytes_of(const model::Arrangement& a) {
  double bytes = 0;
  for (const double chunk : a.chunks) bytes += chunk;
  return bytes;
}

RC_GTEST_PROP(Makespan, IsNeverBelowItsLowerBoundNorBelowWhatOneChunkOrOneEngineTakes, ()) {
  const model::StageCosts c = any_costs();
  const model::Arrangement a = any_arrangement();
  const double bytes = bytes_of(a);
  const double makespan = model::makespan(c, a) * (1 + 1e-9);
  RC_ASSERT(makespan >= model::lower_bound(c, bytes));
  double longest_way = 0;
  for (const double chunk : a.chunks) {
    double way = 0;
    for (const model::Cost& stage : {c.h2d, c.kernel, c.d2h}) way += stage.per_operation + chunk * stage.per_byte;
    longest_way = std::max(longest_way, way);
  }
  RC_ASSERT(makespan >= longest_way);
  for (const model::Cost& stage : {c.h2d, c.kernel, c.d2h}) {
    RC_ASSERT(makespan >= static_cast<double>(a.chunks.size()) * stage.per_operation + bytes * stage.per_byte);
  }
}

RC_GTEST_PROP(Losses, AddUpToTheModelAndWithWhatItMissesToWhatWasMeasured, ()) {
  for (int i = 0; i < 5; ++i) {  // cases where effects cancel are rare, so try five
    const model::StageCosts c = any_costs();
    const model::Arrangement a = any_arrangement();
    const double modelled = model::makespan(c, a);
    const double measured = modelled * real_between(0.5, 2);
    const model::Losses l = model::explain(c, a, measured, model::lower_bound(c, bytes_of(a)));
    const double sum = l.limit + l.fill_drain + l.overhead + l.slots + l.submission + l.unexplained;
    RC_ASSERT(std::abs(sum - measured) <= 1e-9 * measured);
    RC_ASSERT(std::abs(l.unexplained - (measured - modelled)) <= 1e-9 * measured + 1e-11);
    for (const double loss : {l.contention, l.fill_drain, l.overhead, l.slots, l.submission}) RC_ASSERT(loss >= 0);
  }
}

// --- Samples ---------------------------------------------------------------------------------------------------------

std::vector<double> any_samples(std::size_t least) {
  std::vector<double> samples(between<std::size_t>(least, 200));
  for (double& x : samples) x = real_between(0.001, 1000);
  return samples;
}

RC_GTEST_PROP(Intervals, ContainTheMedianAndAreOnlyEverWidened, ()) {
  const std::vector<double> samples = any_samples(6);
  const double median = statistics::median(samples);
  const auto plain = statistics::median_interval(samples);
  const auto adjusted = statistics::autocorrelation_adjusted_ci(samples);
  RC_ASSERT(plain && adjusted);
  RC_ASSERT(plain->low <= median);
  RC_ASSERT(plain->high >= median);
  RC_ASSERT(adjusted->low <= plain->low);
  RC_ASSERT(adjusted->high >= plain->high);
}

RC_GTEST_PROP(Summaries, RiseFromTheMinimumOverTheMedianToTheMaximum, ()) {
  Measurement m;
  m.samples = any_samples(1);
  statistics::summarise(m);
  const double p90 = m.p90.value_or(m.max);
  RC_ASSERT(m.min <= m.median);
  RC_ASSERT(m.median <= p90);
  RC_ASSERT(p90 <= m.p99.value_or(m.max));
  RC_ASSERT(m.p99.value_or(m.max) <= m.max);
  RC_ASSERT(std::ranges::count_if(m.samples, [&](double x) { return x < m.median; }) <= std::ssize(m.samples) / 2);
  RC_ASSERT(std::ranges::count_if(m.samples, [&](double x) { return x > m.median; }) <= std::ssize(m.samples) / 2);
}

}  // namespace
}  // namespace xferbench
