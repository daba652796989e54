#include "explain/host_usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "core/units.hpp"

namespace xferbench::explain {

using recording::ProcessUsage;

namespace {

/// Returns the counters that were sampled nearest to this time, if they are near enough for a window of such length.
const ProcessUsage* usage_at(const Recording& r, Time time, Time length) {
  const auto distance = [time](const ProcessUsage& u) { return std::max(u.time, time) - std::min(u.time, time); };
  const auto nearest = std::ranges::min_element(r.process_usages, {}, distance);
  const Time tolerance = length / 100 + 200'000;  // ns
  return nearest == r.process_usages.end() || distance(*nearest) > tolerance ? nullptr : &*nearest;
}

}  // namespace

std::string usage_note(const Recording& r, const Window& window) {
  const Time length = window.end - window.begin;
  const ProcessUsage* first = usage_at(r, window.begin, length);
  const ProcessUsage* last = usage_at(r, window.end, length);
  if (first == nullptr || last == nullptr) return {};
  const auto since = [first, last](std::uint64_t ProcessUsage::*counter) {
    return last->*counter - std::min(first->*counter, last->*counter);
  };
  const std::uint64_t read = since(&ProcessUsage::read);
  const std::uint64_t from_disk = since(&ProcessUsage::from_disk);
  const std::uint64_t faults = since(&ProcessUsage::faults);
  // A fast host reads 10 GB/s from the page cache or a disk, and brings a page of 4 KiB in 0.1 us.
  const double seconds = static_cast<double>(read + from_disk) / 10e9 + static_cast<double>(faults) * 0.1e-6;
  if (seconds < 0.02 * static_cast<double>(length) * 1e-9) return {};
  std::vector<std::string> parts;
  if (read > 0) parts.push_back(format_size(read) + " read from files, pipes and sockets");
  if (from_disk > 0) parts.push_back(format_size(from_disk) + " delivered by disks");
  if (faults > 0) parts.push_back(fmt::format("{} page faults", faults));
  return fmt::format("In this time the process had {}", fmt::join(parts, ", "));
}

}  // namespace xferbench::explain
