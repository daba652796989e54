#include "core/environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/lists.hpp"
#include "core/units.hpp"

namespace xferbench {

namespace {

constexpr std::string_view kScale = "scale.";
constexpr std::string_view kSet = "set.";

/// Sorts the changes, which a file may have in any order: scaled values first, then set values, then others.
std::vector<Environment::ProfileChange> in_order(std::vector<Environment::ProfileChange> changes) {
  const auto place = [](const Environment::ProfileChange& change) {
    const int kind = change.name.starts_with(kScale) ? 0 : change.name.starts_with(kSet) ? 1 : 2;
    return std::pair(kind, std::string_view(change.name));
  };
  std::ranges::sort(changes, {}, place);
  return changes;
}

/// Returns a change as text, for example "link x 0.9" or "noise 0.005". `rounded`: numbers have at most six digits.
std::string text_of(const Environment::ProfileChange& change, bool rounded) {
  const double* number = std::get_if<double>(&change.value);
  const std::string value =
      rounded && number != nullptr
          ? fmt::format("{:.6g}", *number)
          : std::visit([](const auto& of_either_kind) { return fmt::format("{}", of_either_kind); }, change.value);
  const std::string_view name = change.name;
  if (name.starts_with(kScale)) return fmt::format("{} x {}", name.substr(kScale.size()), value);
  return fmt::format("{} {}", name.starts_with(kSet) ? name.substr(kSet.size()) : name, value);
}

}  // namespace

std::string Environment::profile_text(std::size_t most) const {
  if (profile_base.empty()) return profile;
  if (profile_changes.empty()) return fmt::format("{} ({})", profile, profile_base);
  const bool for_readers = most < std::numeric_limits<std::size_t>::max();
  std::vector<std::string> texts;
  for (const ProfileChange& change : in_order(profile_changes)) {
    if (texts.size() < most) texts.push_back(text_of(change, for_readers));
  }
  const std::size_t left_out = profile_changes.size() - texts.size();
  const std::string more = left_out == 0 ? "" : " and " + counted(left_out, "more change");
  return fmt::format("{} ({} with {}{})", profile, profile_base, fmt::join(texts, ", "), more);
}

std::string Environment::injected_fault() const {
  const auto found = std::ranges::find(variables, kInjectVariable, &decltype(variables)::value_type::first);
  if (found != variables.end()) return found->second;
  const auto* const of_profile = found_in(profile_changes, kInjectField, &ProfileChange::name);
  const auto* fault = of_profile == nullptr ? nullptr : std::get_if<std::string>(&of_profile->value);
  return fault == nullptr ? "" : *fault;
}

}  // namespace xferbench
