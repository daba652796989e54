#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/calibrated.hpp"
#include "app/commands.hpp"
#include "app/files.hpp"
#include "app/session.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"
#include "report/calibrate/calibrate_report.hpp"
#include "results/json.hpp"
#include "run/runner.hpp"
#include "scenarios/scenarios.hpp"
#include "validate/validation.hpp"

namespace xferbench::app {

namespace {

/// The simulated machine that predicts, and where its numbers are best and worst, as far as their intervals are known.
struct Predictors {
  std::unique_ptr<Machine> middle;
  std::unique_ptr<Machine> fastest;  ///< null where nothing is known of them
  std::unique_ptr<Machine> slowest;
};

Predictors open_predictors(const std::string& profile) {
  if (!is_profile_file(profile)) return {open_simulated(profile), nullptr, nullptr};
  ProfileText text = profile_text(profile);
  Predictors all;
  for (const auto& [ends, machine] :
       {std::pair{ProfileEnds::middle, &all.middle}, std::pair{ProfileEnds::fastest, &all.fastest},
        std::pair{ProfileEnds::slowest, &all.slowest}}) {
    text.ends = ends;
    *machine = open_simulated(text);
  }
  return all;
}

/// A case that was measured, and its headline.
struct Measured {
  PlannedCase planned;
  const Measurement* headline = nullptr;
};

/// Every case once: that of the first file that has it.
std::vector<Measured> measured_cases(const std::vector<Report>& reports) {
  std::vector<Measured> all;
  for (const Report& report : reports) {
    for (const Result& r : report.results) {
      const auto known =
          std::ranges::find(scenarios(), r.config.scenario(), [](const Scenario* s) { return s->descriptor().name; });
      const auto again = [&](const Measured& m) { return m.planned.config.key() == r.config.key(); };
      if (r.status != Status::ok || known == scenarios().end() || std::ranges::any_of(all, again)) continue;
      const Measurement* headline = headline_of(r, (*known)->descriptor().metrics);
      if (headline != nullptr && headline->unit == "s") all.push_back({{*known, r.config, SamplingPolicy{}}, headline});
    }
  }
  return all;
}

/// The headline of each case on the simulated machine, in seconds; nothing where it cannot tell.
std::vector<std::optional<double>> predicted_by(Machine& machine, const std::vector<Measured>& all) {
  std::vector<PlannedCase> cases;
  for (const Measured& m : all) cases.push_back(m.planned);
  for (PlannedCase& c : cases) c.policy = SamplingPolicy{.min_samples = 1, .max_samples = 1};
  const RunContext bench{.machine = machine,
                         .device = machine.device(),
                         .policy = {},
                         .verify = false,
                         .observe = [](const SamplingProgress&) {}};
  std::vector<std::optional<double>> seconds;
  const std::vector<Result> results = run_cases(cases, bench, {});
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Measurement* headline = headline_of(results[i], cases[i].scenario->descriptor().metrics);
    const bool told = results[i].status == Status::ok && headline != nullptr && headline->name == all[i].headline->name;
    seconds.push_back(told ? std::optional(headline->median) : std::nullopt);
  }
  return seconds;
}

/// Cases that move as much in the same number of rounds are ways of doing the same.
std::string group_of(const Case& c) {
  std::string name = c.scenario();
  if (c.has("size")) name += " " + format_size(c.count("size"));
  if (c.has("dir")) name += " " + c.word("dir");
  if (c.count_or("rounds", 1) > 1) name += fmt::format(", {} rounds", c.count("rounds"));
  return name;
}

std::string kind_of(const Case& c) {
  for (const char* axis : {"strategy", "host", "method", "op"}) {
    if (c.has(axis)) return c.word(axis);
  }
  return c.scenario();
}

std::vector<validation::Prediction> predictions_of(const Predictors& by, const std::vector<Measured>& all,
                                                   std::vector<std::string>& left_out) {
  const auto middle = predicted_by(*by.middle, all);
  std::vector<std::optional<double>> fastest(all.size());
  std::vector<std::optional<double>> slowest(all.size());
  if (by.fastest) fastest = predicted_by(*by.fastest, all), slowest = predicted_by(*by.slowest, all);
  std::vector<validation::Prediction> predictions;
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!middle[i]) {
      ++unknown;
      continue;
    }
    const Case& c = all[i].planned.config;
    validation::Prediction& p = predictions.emplace_back();
    p = {.key = c.key(),
         .group = group_of(c),
         .kind = kind_of(c),
         .measured = all[i].headline->median,
         .interval = all[i].headline->ci95,
         .predicted = *middle[i]};
    if (fastest[i] && slowest[i])
      p.between = Interval{std::min(*fastest[i], *middle[i]), std::max(*slowest[i], *middle[i])};
  }
  if (unknown > 0) {
    left_out.push_back(fmt::format("{} case{} left out: the simulated device cannot run {}", unknown,
                                   unknown == 1 ? " is" : "s are", unknown == 1 ? "it" : "them"));
  }
  return predictions;
}

}  // namespace

int perform(const cli::ValidateCommand& command) {
  refuse_same_twice(command.results);
  std::vector<std::string> inputs = command.results;
  if (is_profile_file(command.profile)) inputs.push_back(command.profile);
  JudgementFiles files(command.files, inputs);
  Predictors by = open_predictors(command.profile);
  std::vector<Report> reports;
  for (const std::string& file : command.results) {
    reports.push_back(read_report(file));
    if (!reports.back().environment.simulated() || command.allow_simulated) continue;
    throw UsageError(
        fmt::format("{} was simulated, and to predict that says nothing of any machine; --allow-simulated "
                    "does it all the same",
                    printable(file)));
  }
  Validated validated{.profile = command.profile, .files = command.results, .predictions = {}, .left_out = {}};
  validated.predictions = predictions_of(by, measured_cases(reports), validated.left_out);
  if (validated.predictions.empty())
    throw InputError("none of these results has a case that the simulated device can run");
  files.write([&] { return to_validation_json(validated); }, [&] { return to_validation_markdown(validated); },
              [&] { return to_validation_table(validated, style_of(command.show)); });
  return 0;
}

}  // namespace xferbench::app
