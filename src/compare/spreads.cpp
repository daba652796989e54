#include "compare/spreads.hpp"

#include <cmath>

#include "core/lists.hpp"

namespace xferbench::compare {

double log_variance(std::span<const double> numbers) {
  const double count = static_cast<double>(numbers.size());
  const double mean = total_of(numbers, [count](double x) { return std::log(x) / count; });
  return total_of(numbers, [mean](double x) { return (std::log(x) - mean) * (std::log(x) - mean); }) / (count - 1);
}

SpreadFile spread_between(std::span<const Report> processes) {
  const Environment& environment = processes.front().environment;
  SpreadFile file{.updated_at = processes.back().started_at,
                  .gpu = environment.gpu.name,
                  .uuid = environment.gpu.uuid,
                  .profile = environment.simulated() ? environment.profile_text() : "",
                  .cases = {}};
  for (const auto& [identity, results] : same_cases(pointers_to(processes))) {
    CaseSpread spread{.key = identity};
    std::vector<double> medians;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i] == nullptr || results[i]->status != Status::ok) continue;
      const Measurement* sampled =
          headline_of(*results[i], declared_for(processes[i].metrics_declared, results[i]->config.scenario()));
      if (sampled == nullptr || !(sampled->median > 0)) continue;
      if (medians.empty()) spread.measured = sampled->name;
      if (sampled->name == spread.measured) medians.push_back(sampled->median);
    }
    if (medians.size() < 2) continue;
    spread.processes = medians.size();
    spread.spread = std::sqrt(log_variance(medians));
    file.cases.push_back(std::move(spread));
  }
  return file;
}

SpreadFile merged(SpreadFile known, SpreadFile newer) {
  const auto name = [](const CaseSpread& c) { return std::pair(c.key, c.measured); };
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (std::size_t i = 0; i < known.cases.size(); ++i) places.emplace(name(known.cases[i]), i);
  for (CaseSpread& c : newer.cases) {
    const auto [place, is_new] = places.try_emplace(name(c), known.cases.size());
    if (is_new) known.cases.emplace_back();
    known.cases[place->second] = std::move(c);
  }
  newer.cases = std::move(known.cases);
  return newer;
}

std::string kind_of(const SpreadFile& known) {
  return known.profile.empty() ? known.gpu : "simulated by profile " + known.profile;
}

std::string kind_of(const Environment& environment) {
  return environment.simulated() ? "simulated by profile " + environment.profile_text() : environment.gpu.name;
}

bool of_same_kind(const SpreadFile& known, const Environment& environment) {
  return kind_of(known) == kind_of(environment);
}

bool of_same_gpu(const SpreadFile& known, const Environment& environment) {
  const std::string& uuid = environment.gpu.uuid;
  return of_same_kind(known, environment) && (known.uuid.empty() || uuid.empty() || known.uuid == uuid);
}

}  // namespace xferbench::compare
