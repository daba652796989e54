#include "cli/reproduce.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "cli/plan.hpp"
#include "cli/values.hpp"

namespace xferbench::cli {

namespace {

bool is_default(const Axis& axis, const Value& value) {
  return !axis.defaults.empty() && parse_axis(axis, axis.defaults, "--" + axis.name) == std::vector<Value>{value};
}

std::vector<std::string> device_flags(const DeviceChoice& device) {
  std::vector<std::string> words;
  if (device.simulate) words.insert(words.end(), {"--simulate", *device.simulate});
  if (device.gpu) words.insert(words.end(), {"--gpu", std::to_string(*device.gpu)});
  if (device.numa.kind == NumaPolicy::Kind::none) words.insert(words.end(), {"--numa", "none"});
  if (device.numa.kind == NumaPolicy::Kind::node) {
    words.insert(words.end(), {"--numa", std::to_string(device.numa.node)});
  }
  return words;
}

}  // namespace

std::string command_line(const TuneCommand& command, const PlannedCase& planned) {
  std::vector<std::string> words{"xferbench", planned.config.scenario()};
  for (const Axis& axis : described(*planned.scenario).axes) {
    const Case::Param* param = planned.config.find(axis.name);
    if (param == nullptr) continue;
    const bool given = std::ranges::find(command.given, axis.name) != command.given.end();
    if (given || !is_default(axis, param->value)) {
      words.insert(words.end(), {"--" + axis.name, to_text(param->value, param->kind)});
    }
  }
  for (std::string& word : device_flags(command.measuring.device)) words.push_back(std::move(word));
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace xferbench::cli
