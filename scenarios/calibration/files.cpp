// Calibration figures from files (scenario storage).
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "scenarios/calibration/figures.hpp"

namespace xferbench {

namespace {

bool is_one_of(const Case& c, std::string_view axis, std::initializer_list<std::string_view> values) {
  return std::ranges::any_of(values, [&](std::string_view value) { return c.is(axis, value); });
}

/// Whether requests are at least 1 MiB; the time of shorter requests is mostly the disk's latency.
bool has_long_requests(const Case& c) { return c.count_or("request", 0) >= 1 << 20; }

}  // namespace

void add_files(std::span<const NamedReport> runs, Figures& figures) {
  const auto files = [&](std::string_view direction, const std::function<bool(const Case&)>& wanted) {
    return cases_of(runs, "storage", [&](const Case& c) {
      const bool whole = !c.has("layout") || c.is("layout", "whole");  // layouts with tensors have short reads
      return c.is("dir", "save") == (direction == "save") && whole && wanted(c);
    });
  };
  const auto past_cache = [](std::string_view slots) {
    return [slots](const Case& c) {
      return is_one_of(c, "way", {"direct", "uring"}) && !c.is("cache", "warm") && c.is("slot-memory", slots) &&
             has_long_requests(c);
    };
  };
  const auto cold = [](const Case& c) {
    return c.is("cache", "cold") && is_one_of(c, "way", {"threads", "mmap-threads"});
  };
  const auto by_one = [](const Case& c) { return c.is("way", "threads") && c.count_or("threads", 0) == 1; };
  const auto warm = [](std::string_view way) {
    return [way](const Case& c) { return c.is("cache", "warm") && c.is("way", way); };
  };

  const FigureReader reading = by_median("read-alone", rate_of);
  const FigureReader writing = by_median("write-alone", rate_of);
  figures.add(files("load", past_cache("registered-huge")), "disk_read_rate", reading);
  figures.add(files("load", past_cache("pinned")), "disk_read_rate_scattered", reading);
  figures.add(files("load", cold), "disk_read_rate_cached", reading);
  figures.add(files("save", past_cache("registered-huge")), "disk_write_rate", writing);
  figures.add(files("save", past_cache("pinned")), "disk_write_rate_scattered", writing);
  figures.add(files("save", by_one), "file_write_rate", by_median("written", rate_of));
  figures.add(files("save", by_one), "disk_write_rate_cached", [](const Result& r) -> std::optional<FigureValue> {
    const Measurement* whole = r.measurement("storage");
    const Measurement* copied = r.measurement("written");
    if (whole == nullptr || copied == nullptr || copied->samples.empty()) return std::nullopt;
    return FigureValue{rate_of(r, whole->median - copied->median), "storage less written"};
  });
  figures.add(files("load", [&](const Case& c) { return warm("threads")(c) && by_one(c); }), "file_copy_rate", reading);
  // A mapped file is faulted in, then copied as pageable memory. So the times per byte of both add up.
  const double copied = figures.known("pageable_h2d_rate");
  figures.add(files("load", warm("mmap")), "fault_rate",
              by_median("storage", [copied](const Result& r, double s) { return 1 / (s / bytes_of(r) - 1 / copied); }));
}

}  // namespace xferbench
