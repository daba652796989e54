#include "results/same_case.hpp"

#include <unordered_map>

namespace xferbench {

std::vector<SameCase> same_cases(std::span<const Report* const> reports) {
  std::vector<SameCase> cases;
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    for (const Result& result : reports[i]->results) {
      const auto [at, is_new] = index.try_emplace(result.config.key(), cases.size());
      if (is_new) cases.push_back({result.config.key(), std::vector<const Result*>(reports.size())});
      cases[at->second].results[i] = &result;
    }
  }
  return cases;
}

}  // namespace xferbench
