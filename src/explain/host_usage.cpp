#include "explain/host_usage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"

namespace xferbench::explain {

using recording::ProcessUsage;
using recording::Time;

std::string usage_note(const Recording& r, const Window& window) {
  if (r.process_usages.empty()) return {};
  // The counters of a whole process begin with 0.
  const ProcessUsage first = window.is_whole ? ProcessUsage{.time = window.begin} : r.process_usages.front();
  const ProcessUsage& last = *std::ranges::min_element(r.process_usages, {}, [&window](const ProcessUsage& u) {
    return std::max(u.time, window.end) - std::min(u.time, window.end);
  });
  const Time tolerance = (window.end - window.begin) / 100 + 200'000;  // ns
  const auto is_near = [tolerance](Time one, Time other) {
    return std::max(one, other) - std::min(one, other) <= tolerance;
  };
  if (!is_near(first.time, window.begin) || !is_near(last.time, window.end)) return {};
  const auto since = [](std::uint64_t before, std::uint64_t now) { return now - std::min(before, now); };
  const std::uint64_t read = since(first.read, last.read);
  const std::uint64_t faults = since(first.faults, last.faults);
  // A fast host reads 10 GB/s from the page cache, and brings a page of 4 KiB in 0.1 us.
  const double seconds = static_cast<double>(read) / 10e9 + static_cast<double>(faults) * 0.1e-6;
  if (seconds < 0.02 * static_cast<double>(window.end - window.begin) * 1e-9) return {};
  return fmt::format(
      "In this time the process read {} from files, pipes and sockets ({} from disks), and had {} page faults",
      format_size(read), format_size(since(first.from_disk, last.from_disk)), faults);
}

}  // namespace xferbench::explain
