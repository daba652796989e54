// Compares paths (ways of copying, measured at several sizes): which one is faster, at which sizes, and by how much.
#include "run/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include "core/units.hpp"
#include "run/finding_text.hpp"

namespace xferbench {

namespace {

using model::Relation;

// --- Two paths -------------------------------------------------------------------------------------------------------

/// Formats a size rounded to two significant digits, because interpolation between measured sizes is not more precise.
std::string rough_size(double bytes) {
  double unit = 1;
  while (bytes >= 1024 * unit && unit < static_cast<double>(TiB)) unit *= 1024;
  const double step = unit * std::pow(10, std::floor(std::log10(bytes / unit)) - 1);
  return format_size(whole_bytes(std::round(bytes / step) * step));
}

std::string exact_size(double bytes) { return format_size(whole_bytes(bytes)); }

std::string sizes_text(double smallest, double largest) {
  return smallest == largest ? exact_size(smallest)
                             : fmt::format("{} to {}", exact_size(smallest), exact_size(largest));
}

/// Returns for example "at every size measured (1 KiB to 1 GiB)" or "at 1 MiB".
std::string at_all_sizes(double smallest, double largest) {
  if (smallest == largest) return "at " + exact_size(smallest);
  return fmt::format("at every size measured ({})", sizes_text(smallest, largest));
}

/// One path to compare: `value` is its value of the compared label, `others` are its other labels.
struct ComparedWay {
  const Path* path;
  std::string value;
  Labels others;
};

/// Two paths that differ only in the compared label, and the result of their comparison.
struct WayPair {
  const ComparedWay& first;
  const ComparedWay& second;
  model::Comparison outcome = model::compare(first.path->points, second.path->points);

  [[nodiscard]] const std::string& winner(bool first_faster) const { return first_faster ? first.value : second.value; }
};

/// Returns for example "h2d: " or "h2d, node 1: ". A label whose value is a number is preceded by its name.
std::string prefix(const Labels& labels) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : labels) {
    const bool is_number = !value.empty() && std::isdigit(static_cast<unsigned char>(value.front())) != 0;
    parts.push_back(is_number ? fmt::format("{} {}", name, value) : value);
  }
  return parts.empty() ? "" : fmt::format("{}: ", fmt::join(parts, ", "));
}

/// Returns the difference that the measurement rules out, for example "; a difference of more than 3.1 % is ruled out";
/// empty if there is no such bound. Used if no difference between the paths was found.
std::string excluded_text(double excluded) {
  return excluded > 0 && std::isfinite(excluded)
             ? fmt::format("; a difference of more than {} is ruled out", format_percent(excluded))
             : "";
}

/// Returns how many sizes have no faster path, for example "equally fast (within 1 %) at 2, not decided at 1".
std::string undecided_text(const model::Comparison& o) {
  const std::size_t undecided = o.sizes - o.decided - o.equal;
  std::vector<std::string> parts;
  if (o.equal > 0) parts.push_back(fmt::format("equally fast (within 1 %) at {}", o.equal));
  if (undecided > 0) parts.push_back(fmt::format("not decided at {}", undecided));
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (o.without_interval == undecided && undecided > 0) text += fmt::format(" for {}", kTooFewSamples);
  if (o.without_interval > 0 && o.without_interval < undecided) {
    text += fmt::format(", at {} of these for {}", o.without_interval, kTooFewSamples);
  }
  return text;
}

std::string no_difference_text(const WayPair& c) {
  const model::Comparison& o = c.outcome;
  const std::string both = fmt::format("{} and {}", c.first.value, c.second.value);
  const std::string everywhere = at_all_sizes(o.smallest, o.largest);
  if (o.without_interval == o.sizes) return fmt::format("{}: not decided {}: {}", both, everywhere, kTooFewSamples);
  if (o.equal == o.sizes) return fmt::format("{} are equally fast (within 1 %) {}", both, everywhere);
  if (o.without_interval == 0) {
    return fmt::format("{}: no difference found {}{}", both, everywhere, excluded_text(o.excluded));
  }
  return fmt::format("{}: no difference found at any of {} sizes ({}): {}", both, o.sizes,
                     sizes_text(o.smallest, o.largest), undecided_text(o));
}

std::string no_crossover_text(const WayPair& c) {
  const model::Comparison& o = c.outcome;
  if (o.decided == 0) return no_difference_text(c);
  const std::string faster =
      fmt::format("{} is faster than {}", c.winner(o.first_faster_at_start), c.winner(!o.first_faster_at_start));
  const std::string factors = factors_text(o.factors) + " times as fast";
  if (o.decided == o.sizes) return fmt::format("{} {}: {}", faster, at_all_sizes(o.smallest, o.largest), factors);
  return fmt::format("{} at {} of {} sizes measured ({}): {}; {}", faster, o.decided, o.sizes,
                     sizes_text(o.smallest, o.largest), factors, undecided_text(o));
}

/// Returns for example "about 23 KiB (21 to 26 KiB)". If the measured sizes around the crossover are too far apart to
/// estimate it, returns "somewhere between 4 KiB and 64 KiB".
std::string place_of(const model::Crossover& crossover) {
  if (!crossover.is_estimated()) {
    return fmt::format("somewhere between {} and {}", exact_size(crossover.measured_below),
                       exact_size(crossover.measured_above));
  }
  const std::string low = rough_size(crossover.low);
  const std::string high = rough_size(crossover.high);
  const std::string about = "about " + rough_size(crossover.bytes);
  return low == high ? about : fmt::format("{} ({} to {})", about, low, high);
}

std::string crossover_text(const WayPair& c) {
  const std::vector<model::Crossover>& found = c.outcome.crossovers;
  const model::Crossover& last = found.back();
  if (found.size() == 1) {
    const std::string measured =
        last.is_estimated()
            ? fmt::format("; measured at {} and {}", exact_size(last.measured_below), exact_size(last.measured_above))
            : "";
    return fmt::format("{} is faster than {} from {} on{}", c.winner(last.first_faster_above),
                       c.winner(!last.first_faster_above), place_of(last), measured);
  }
  std::string text = fmt::format("{} and {} alternate: {} is faster up to {}", c.first.value, c.second.value,
                                 c.winner(c.outcome.first_faster_at_start), place_of(found.front()));
  for (const model::Crossover& crossover : found) {
    text += fmt::format(", {} from there", c.winner(crossover.first_faster_above));
    const bool is_last = &crossover == &last;
    text += is_last ? " on" : " to " + place_of(*(&crossover + 1));
  }
  return text;
}

void add_crossover(const model::Crossover& crossover, Finding& finding) {
  if (crossover.is_estimated()) {
    finding.metrics = {{"crossover", crossover.bytes, "B"},
                       {"crossover_low", crossover.low, "B"},
                       {"crossover_high", crossover.high, "B"}};
  }
  finding.metrics.push_back({"measured_below", crossover.measured_below, "B"});
  finding.metrics.push_back({"measured_above", crossover.measured_above, "B"});
}

Finding finding_of(const WayPair& c, std::string_view axis) {
  const model::Comparison& o = c.outcome;
  const bool crosses = !o.crossovers.empty();
  const Labels& common = c.first.others;
  Finding finding{.scenario = {},
                  .kind = crosses ? "crossover" : "winner",
                  .labels = common,
                  .metrics = {},
                  .text = prefix(common) + (crosses ? crossover_text(c) : no_crossover_text(c))};
  if (o.decided > 0) {
    const bool first = crosses ? o.crossovers.back().first_faster_above : o.first_faster_at_start;
    finding.labels.emplace_back("faster", c.winner(first));
    finding.labels.emplace_back("slower", c.winner(!first));
  } else {
    finding.labels.emplace_back(axis, c.first.value + "," + c.second.value);
    finding.labels.emplace_back("outcome", o.equal == o.sizes ? "equal" : "undecided");
  }
  if (crosses) add_crossover(o.crossovers.back(), finding);
  return finding;
}

std::vector<ComparedWay> compared_ways(std::span<const Path> paths, std::string_view axis) {
  std::vector<ComparedWay> all;
  for (const Path& path : paths) {
    const auto own = std::ranges::find(path.labels, axis, &Labels::value_type::first);
    if (own == path.labels.end()) continue;
    ComparedWay c{&path, own->second, path.labels};
    std::erase(c.others, *own);
    all.push_back(std::move(c));
  }
  return all;
}

/// Whether one path is faster than the other at most sizes, or the faster path changes with the size.
bool differs(const model::Comparison& outcome) {
  return 2 * outcome.decided > outcome.sizes || !outcome.crossovers.empty();
}

// --- Many paths ------------------------------------------------------------------------------------------------------

/// Two paths belong to one class if at every size one is at most this many times as fast as the other, even where the
/// difference is statistically significant.
constexpr double kSmall = 1.05;

using Class = std::vector<const ComparedWay*>;

model::Comparison compared(const ComparedWay* a, const ComparedWay* b) {
  return model::compare(a->path->points, b->path->points);
}

bool belong_together(const model::Comparison& c) { return c.sizes > 0 && c.factors.high <= kSmall; }

/// Puts each path into the first class whose members all are about as fast as this path, or into a new class.
std::vector<Class> classes_of(const Class& all) {
  std::vector<Class> classes;
  for (const ComparedWay* e : all) {
    const auto own = std::ranges::find_if(classes, [e](const Class& members) {
      return std::ranges::all_of(members, [e](const ComparedWay* m) { return belong_together(compared(m, e)); });
    });
    own == classes.end() ? classes.push_back({e}) : own->push_back(e);
  }
  return classes;
}

/// Returns the shortest time, in seconds, of the class's paths at their largest size. Classes are sorted by it.
double seconds_at_end(const Class& members) {
  double bytes = 0;
  double seconds = std::numeric_limits<double>::infinity();
  for (const ComparedWay* e : members) {
    for (const model::TransferPoint& p : e->path->points) {
      if (p.bytes < bytes) continue;
      seconds = p.bytes > bytes ? p.seconds : std::min(seconds, p.seconds);
      bytes = p.bytes;
    }
  }
  return seconds;
}

std::string names_of(const Class& members) { return listed(list_of(members, &ComparedWay::value)); }

/// Summary of the comparisons of all pairs of paths in a class.
struct Spread {
  bool equal = true;
  std::size_t decided = 0;
  double factor = 1;  ///< largest statistically significant ratio of two members' times
  double excluded = 0;
};

Spread spread_of(const Class& members) {
  Spread spread;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t k = i + 1; k < members.size(); ++k) {
      const model::Comparison c = compared(members[i], members[k]);
      spread.equal = spread.equal && c.equal == c.sizes;
      spread.decided += c.decided;
      spread.factor = std::max(spread.factor, c.factors.high);
      spread.excluded = std::max(spread.excluded, c.excluded);
    }
  }
  return spread;
}

std::string spread_text(const Class& members, const std::string& where) {
  const Spread spread = spread_of(members);
  if (spread.equal) return fmt::format("equally fast (within 1 %) {}", where);
  if (spread.decided == 0) return fmt::format("no difference found {}{}", where, excluded_text(spread.excluded));
  return fmt::format("differences found are at most {} {}", format_percent(spread.factor - 1), where);
}

/// A range of sizes in which one class is always faster than the other, or always slower. The range may contain sizes
/// with Relation::undecided.
struct SizeRange {
  Relation relation;
  Interval factors;
  double first, last;  ///< sizes in bytes
  std::size_t decided = 1;
  std::size_t sizes = 1;  ///< number of measured sizes from `first` to `last`, including those with Relation::undecided
};

using BySize = std::map<double, model::TransferPoint>;

BySize by_size(const ComparedWay* e) {
  BySize points;
  for (const model::TransferPoint& p : e->path->points) points.emplace(p.bytes, p);
  return points;
}

/// Returns how the members of one class compare with those of the other at one size: the common relation of all pairs
/// (undecided if pairs differ), and the range of the ratios of their times. Returns nothing if a member was not
/// measured at this size.
std::optional<std::pair<Relation, Interval>> standing(std::span<const BySize> members, std::span<const BySize> others,
                                                      double bytes) {
  std::set<Relation> relations;
  Interval factors{std::numeric_limits<double>::infinity(), 1};
  for (const BySize& m : members) {
    for (const BySize& o : others) {
      const auto a = m.find(bytes);
      const auto b = o.find(bytes);
      if (a == m.end() || b == o.end()) return std::nullopt;
      relations.insert(model::relate(a->second.estimate(), b->second.estimate()));
      const double ratio = a->second.seconds / b->second.seconds;
      const double factor = std::max(ratio, 1 / ratio);
      factors = {std::min(factors.low, factor), std::max(factors.high, factor)};
    }
  }
  const bool agree = relations.size() == 1 && *relations.begin() != Relation::equal;
  return std::pair(agree ? *relations.begin() : Relation::undecided, factors);
}

struct Course {
  std::vector<SizeRange> size_ranges;
  std::vector<double> sizes;  ///< sizes, in bytes, at which every member of both classes was measured
};

Course course_of(const Class& members, const Class& reference) {
  const std::vector<BySize> own = list_of(members, by_size);
  const std::vector<BySize> other = list_of(reference, by_size);
  Course course;
  std::size_t since = 0;  // number of sizes with Relation::undecided since the last size with another relation
  for (const auto& [bytes, point] : own.front()) {
    const auto here = standing(own, other, bytes);
    if (!here) continue;
    course.sizes.push_back(bytes);
    const auto& [relation, factors] = *here;
    if (relation == Relation::undecided) {
      ++since;
      continue;
    }
    std::vector<SizeRange>& all = course.size_ranges;
    if (all.empty() || all.back().relation != relation) {
      all.push_back({.relation = relation, .factors = factors, .first = bytes, .last = bytes});
    } else {
      SizeRange& s = all.back();
      s.factors = {std::min(s.factors.low, factors.low), std::max(s.factors.high, factors.high)};
      s.last = bytes;
      ++s.decided;
      s.sizes += since + 1;
    }
    since = 0;
  }
  return course;
}

std::string where_of(const SizeRange& s, const Course& course) {
  const double smallest = course.sizes.front();
  const double largest = course.sizes.back();
  std::string where;
  if (s.first == smallest && s.last == largest) {
    where = course.sizes.size() == 1 ? "" : " at every size";
  } else if (s.first == s.last) {
    where = " at " + exact_size(s.first);
  } else if (s.first == smallest) {
    where = fmt::format(" up to {}", exact_size(s.last));
  } else {
    where = fmt::format(" from {} {}", exact_size(s.first), s.last == largest ? "on" : "to " + exact_size(s.last));
  }
  if (s.decided == s.sizes) return where;
  return fmt::format(" at {} of {} sizes", s.decided, s.sizes) + (where == " at every size" ? "" : where);
}

/// Returns how a class compares with the reference class, such as "pageable takes 1.2 to 6.0 times as long from 4 KiB
/// on".
std::string text_beside(const Class& members, const Class& reference) {
  const Course course = course_of(members, reference);
  const bool one = members.size() == 1;
  if (course.size_ranges.empty())
    return names_of(members) + (one ? " differs" : " differ") + " from only some of these";
  std::vector<std::string> parts;
  for (const SizeRange& s : course.size_ranges) {
    const char* verb = s.relation == Relation::slower ? (one ? "takes" : "take") : (one ? "is" : "are");
    const char* than = s.relation == Relation::slower ? "times as long" : "times as fast";
    parts.push_back(fmt::format("{} {} {}{}", verb, factors_text(s.factors), than, where_of(s, course)));
  }
  return names_of(members) + " " + listed(parts);
}

bool has_interval(const ComparedWay& e) {
  return std::ranges::any_of(e.path->points, [](const model::TransferPoint& p) { return p.seconds_ci.has_value(); });
}

std::string classes_text(std::span<const ComparedWay> group) {
  Class known;
  Class unknown;
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const ComparedWay& e : group) {
    (has_interval(e) ? known : unknown).push_back(&e);
    for (const model::TransferPoint& p : e.path->points) {
      smallest = std::min(smallest, p.bytes);
      largest = std::max(largest, p.bytes);
    }
  }
  const std::string where = at_all_sizes(smallest, largest);
  if (known.size() < 2) {
    return fmt::format("{}: not decided {}: {}", names_of(pointers_to(group)), where, kTooFewSamples);
  }
  std::vector<Class> classes = classes_of(known);
  std::ranges::stable_sort(classes, {}, seconds_at_end);
  const Class& reference = classes.front();
  std::string text = reference.size() == 1
                         ? fmt::format("compared with {} ({})", names_of(reference), sizes_text(smallest, largest))
                         : fmt::format("{}: {}", names_of(reference), spread_text(reference, where));
  for (const Class& members : std::span(classes).subspan(1)) {
    text += (&members == &classes[1] && reference.size() == 1 ? ": " : "; ") + text_beside(members, reference);
  }
  if (!unknown.empty()) text += fmt::format("; {}: not decided, {}", names_of(unknown), kTooFewSamples);
  return text;
}

Finding classes_finding(std::span<const ComparedWay> group, std::string_view axis) {
  const Labels& common = group.front().others;
  Finding finding{.kind = "classes", .labels = common, .text = prefix(common) + classes_text(group)};
  std::string all;
  for (const ComparedWay& e : group) all += (all.empty() ? "" : ",") + e.value;
  finding.labels.emplace_back(axis, all);
  return finding;
}

void add_pairs(const std::vector<ComparedWay>& group, std::string_view axis, std::vector<Finding>& findings) {
  const auto add = [&](const ComparedWay& a, const ComparedWay& b, bool in_any_case) {
    const WayPair contest{a, b};
    // With a single size, the finding would only repeat the table of results.
    if (contest.outcome.sizes < 2 || (!in_any_case && !differs(contest.outcome))) return;
    findings.push_back(finding_of(contest, axis));
    findings.back().detail = group.size() > 2;
  };
  for (std::size_t i = 1; i < group.size(); ++i) add(group.front(), group[i], true);
  // Findings for all pairs would be too many. So two consecutive paths get a finding only if they differ.
  for (std::size_t i = 2; i < group.size(); ++i) add(group[i - 1], group[i], false);
}

}  // namespace

std::vector<Finding> comparisons(std::span<const Path> paths, std::string_view axis) {
  std::vector<Finding> findings;
  for (const auto& [others, group] : by_name(compared_ways(paths, axis), &ComparedWay::others)) {
    if (group.size() > 2) findings.push_back(classes_finding(group, axis));
    add_pairs(group, axis, findings);
  }
  return findings;
}

}  // namespace xferbench
