#include "paper/document.hpp"

#include <fmt/format.h>

#include "core/lists.hpp"

namespace xferbench {

std::vector<Trust::Mark> Trust::marks() const {
  std::vector<Mark> marks;
  if (!profile.empty()) {
    marks.push_back(
        {"SIMULATED", fmt::format("by profile {}: modelled times, not measurements of this machine", profile)});
  }
  if (!verified) {
    marks.push_back({"NOT VERIFIED",
                     unverified + (unverified.empty() ? "" : ": ") + "measured with --no-verify; data not checked"});
  }
  if (!fault.empty()) marks.push_back({"FAULT INJECTED", fault + "; not a measurement"});
  return marks;
}

std::vector<std::string> Trust::words() const {
  return list_of(marks(), [](Mark& mark) { return std::move(mark.word); });
}

std::vector<std::string> Trust::alarms() const {
  std::vector<std::string> lines;
  for (const Mark& mark : marks()) lines.push_back(mark.word + (mark.said.starts_with("by ") ? " " : ": ") + mark.said);
  lines.insert(lines.end(), besides.begin(), besides.end());
  return lines;
}

std::string Trust::incomplete_text() const {
  if (complete) return {};
  return incomplete.empty() ? "INCOMPLETE: not all cases were completed" : incomplete;
}

List::List(const std::vector<std::string>& sentences, Tone its_tone, std::size_t its_margin)
    : tone(its_tone), margin(its_margin) {
  for (const std::string& sentence : sentences) items.push_back({.text = sentence});
}

}  // namespace xferbench
