// Command `validate`: compares measured results with a profile's predictions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/files.hpp"
#include "app/profile_input.hpp"
#include "app/session.hpp"
#include "app/stored_cases.hpp"
#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/printable.hpp"
#include "report/calibrate/calibrate_report.hpp"
#include "results/json.hpp"
#include "run/runner.hpp"
#include "validate/validation.hpp"
#include "words/validation.hpp"

namespace xferbench::app {

namespace {

/// Three simulated machines: one with the numbers of the profile, two with the best and worst ends of the confidence
/// intervals of these numbers.
struct Predictors {
  std::unique_ptr<Machine> middle;
  std::unique_ptr<Machine> fastest;  ///< null if no interval is known
  std::unique_ptr<Machine> slowest;  ///< null if no interval is known
  /// where the numbers of the profile come from, for example names of results files
  std::vector<std::string> sources{};
};

Predictors open_predictors(const std::string& profile, const GpuSelection& gpus) {
  Predictors all;
  if (!is_profile_file(profile)) {
    all.middle = open_simulated(profile, gpus);
    return all;
  }
  ProfileText text = profile_text(profile);
  ProfileOrigins origins = origins_of(text);
  all.middle = open_simulated(text, gpus);
  all.sources = std::move(origins.sources);
  if (!origins.has_intervals) return all;
  text.ends = ProfileEnds::fastest;
  all.fastest = open_simulated(text, gpus);
  text.ends = ProfileEnds::slowest;
  all.slowest = open_simulated(text, gpus);
  return all;
}

/// Counts the results that are left out of the comparison, by reason.
class ExcludedCases {
 public:
  void add(const std::string& why) { reasons_.push_back(why); }
  [[nodiscard]] std::vector<std::string> sentences() const {
    return list_of(by_name(reasons_, std::identity()), [](const auto& reason) {
      const auto& [why, results] = reason;
      return fmt::format("{} result{} left out: {}", results.size(), results.size() == 1 ? " is" : "s are", why);
    });
  }

 private:
  std::vector<std::string> reasons_;  // one for each result
};

/// A measured case and the value of its headline (main measurement).
struct Measured {
  std::string key;      ///< key of the case in its results file
  PlannedCase planned;  ///< the case with each parameter in the AxisKind that its scenario declares
  const Measurement* headline = nullptr;
};

/// Collects all measured cases, each once: if several files contain a case, the result of the first file is used.
class MeasuredCases {
 public:
  MeasuredCases(const std::vector<Report>& reports, ExcludedCases& left_out) {
    for (const Report& report : reports) {
      for (const Result& r : report.results) {
        const std::string why_not = add(r);
        if (!why_not.empty()) left_out.add(why_not);
      }
    }
  }
  [[nodiscard]] const std::vector<Measured>& all() const { return all_; }

 private:
  /// Adds a result. Returns the reason if it is left out; empty if it was added.
  std::string add(const Result& r) {
    if (r.status != Status::ok) return "failed or skipped";
    const Scenario* scenario = scenario_of(r.config);
    if (scenario == nullptr) return "scenario unknown to this version";
    const Measurement* headline = headline_of(r, scenario->descriptor().metrics);
    if (headline == nullptr || headline->unit != "s") return "headline is not a time";
    constexpr double kLeast = 1e-12;  // seconds; ratios to a smaller time mean nothing
    constexpr double kMost = 1e12;
    if (!(headline->median >= kLeast)) return "measured time is zero";
    if (headline->median > kMost) return "measured time is implausibly long";
    try {
      Case c = legal_case(*scenario, r.config);
      if (!keys_.insert(r.config.key()).second) return "case occurs twice; the first result counts";
      const SamplingPolicy once{.min_samples = 1, .max_samples = 1};
      all_.push_back({r.config.key(), {scenario, std::move(c), once}, headline});
    } catch (const UsageError&) {
      return "case unknown to this version of its scenario";
    }
    return {};
  }

  std::vector<Measured> all_;
  std::set<std::string> keys_;
};

/// Returns the predicted headline (main measurement) of each case in seconds; nullopt if the case cannot run.
std::vector<std::optional<double>> predicted_by(Machine& machine, const std::vector<Measured>& all) {
  const std::vector<PlannedCase> cases = list_of(all, &Measured::planned);
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

std::vector<std::string> names_of_work(const std::vector<Measured>& all) {
  return validation::names_of_work(list_of(all, [](const Measured& m) {
    return validation::Work{&m.planned.config, m.planned.scenario->descriptor().work_axes};
  }));
}

std::vector<validation::Prediction> predictions_of(const Predictors& by, const std::vector<Measured>& all,
                                                   ExcludedCases& left_out) {
  const auto middle = predicted_by(*by.middle, all);
  std::vector<std::optional<double>> fastest(all.size());
  std::vector<std::optional<double>> slowest(all.size());
  if (by.fastest) fastest = predicted_by(*by.fastest, all), slowest = predicted_by(*by.slowest, all);
  const std::vector<std::string> groups = names_of_work(all);
  std::vector<validation::Prediction> predictions;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!middle[i]) {
      left_out.add("the simulated device cannot run such a case");
      continue;
    }
    const Case& c = all[i].planned.config;
    validation::Prediction& p = predictions.emplace_back();
    p = {.key = all[i].key,
         .group = groups[i],
         .kind = validation::kind_of(c),
         .measured = all[i].headline->median,
         .interval = all[i].headline->ci95,
         .predicted = *middle[i]};
    if (fastest[i] && slowest[i])
      p.between = Interval{std::min(*fastest[i], *middle[i]), std::max(*slowest[i], *middle[i])};
  }
  return predictions;
}

std::vector<Report> read_reports(const cli::ValidateCommand& command) {
  std::vector<Report> reports;
  for (const std::string& file : command.results) {
    reports.push_back(read_report(file));
    if (!reports.back().environment.simulated() || command.allow_simulated) continue;
    throw UsageError(
        fmt::format("{} is simulated, so it validates no real machine; --allow-simulated accepts it", printable(file)));
  }
  return reports;
}

/// Selects all GPUs of the simulated machine if some results are from several GPUs, else the first GPU.
GpuSelection gpus_of(const std::vector<Report>& reports) {
  const bool several = std::ranges::any_of(reports, [](const Report& r) { return r.environment.gpu_count() > 1; });
  return several ? GpuSelection{.numbers = {}} : GpuSelection{};
}

std::string name_of(const std::string& file) { return std::filesystem::path(file).filename().string(); }

/// Returns the file names in texts such as "a.json, b.json: ...". Folders are removed, because they may change.
std::set<std::string> names_in(const std::vector<std::string>& sources) {
  std::set<std::string> names;
  for (const std::string& source : sources) {
    std::istringstream files(source.substr(0, source.find(": ")));
    for (std::string file; std::getline(files >> std::ws, file, ',');) names.insert(name_of(file));
  }
  return names;
}

std::vector<std::string> not_held_out(const std::vector<std::string>& files, const std::vector<std::string>& sources) {
  const std::set<std::string> made_of = names_in(sources);
  std::vector<std::string> sentences;
  for (const std::string& file : files) {
    if (!made_of.contains(name_of(printable(file)))) continue;
    sentences.push_back(
        fmt::format("{} is not held out: the profile was made from a file of this name; validate with other results",
                    printable(file)));
  }
  return sentences;
}

}  // namespace

int perform(const cli::ValidateCommand& command) {
  refuse_same_twice(command.results);
  std::vector<std::string> inputs = command.results;
  if (is_profile_file(command.profile)) inputs.push_back(command.profile);
  JudgementFiles files(command.files, inputs);
  const std::vector<Report> reports = read_reports(command);
  const Predictors by = open_predictors(command.profile, gpus_of(reports));
  ExcludedCases left_out;
  const MeasuredCases measured(reports, left_out);
  Validated validated{.profile = command.profile, .files = command.results, .predictions = {}, .left_out = {}};
  validated.predictions = predictions_of(by, measured.all(), left_out);
  validated.left_out = left_out.sentences();
  if (validated.predictions.empty()) {
    throw InputError(fmt::format("the simulated device can run none of these cases{}{}",
                                 validated.left_out.empty() ? "" : ": ", fmt::join(validated.left_out, "; ")));
  }
  for (std::string& sentence : not_held_out(command.results, by.sources)) {
    validated.left_out.push_back(std::move(sentence));
  }
  files.write({.document = [&] { return document_of(validated); },
               .style = style_of(command.show),
               .json = [&] { return to_validation_json(validated); }});
  return 0;
}

}  // namespace xferbench::app
