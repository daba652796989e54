#include "cli/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"
#include "device/topology.hpp"

namespace xferbench::cli {

namespace {

/// The value that stands for all choices of an axis.
constexpr std::string_view kAll = "all";

constexpr std::size_t kMostValues = 10'000;
// Maximum number of steps that are computed for a range. Small steps may give the same whole number many times.
constexpr std::size_t kMostSteps = 100 * kMostValues;
constexpr double kLargest = 9.2e18;  // just below 2^63, so that sums of sizes do not overflow

/// Returns the number of bytes in a unit such as "KiB"; nullopt for an unknown unit.
std::optional<double> unit_factor(std::string_view unit) {
  const std::string u = lower_case(unit.starts_with(' ') ? unit.substr(1) : unit);
  if (u.empty() || u == "b") return 1;
  const std::size_t power = std::string_view("kmgt").find(u[0]) + 1;
  if (power == 0) return std::nullopt;
  const std::string_view rest = std::string_view(u).substr(1);
  if (rest.empty() || rest == "ib") return std::pow(1024.0, static_cast<double>(power));
  if (rest == "b") return std::pow(1000.0, static_cast<double>(power));
  return std::nullopt;
}

struct Number {
  double value;
  std::string_view rest;  // the text that follows the number
};

/// Parses the decimal number at the start of the text; nullopt if there is none. Does not accept infinity or
/// hexadecimal numbers; `format` says whether exponents are accepted.
std::optional<Number> leading_number(std::string_view text, std::chars_format format = std::chars_format::fixed) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format);
  if (error == std::errc::invalid_argument || !std::isfinite(value)) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    const bool is_tiny =
        text.substr(0, static_cast<std::size_t>(end - text.data())).find("e-") != std::string_view::npos;
    value = is_tiny ? 0 : text.starts_with("-") ? -2 * kLargest : 2 * kLargest;
  }
  return Number{value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

/// Rounds to twelve digits, so that 0.1 + 2 * 0.1 from a range gives the same case key as 0.3 from a list.
double snapped(double value) {
  const std::string text = fmt::format("{:.12g}", value);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Parses a number that consists of digits only. A double would round large counts.
std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

struct UnitOfTime {
  std::string_view name;
  double seconds;
};
/// Units from the longest to the shortest; those after "ns" are other spellings, which are read but never written.
constexpr std::array<UnitOfTime, 9> kUnitsOfTime{{{"d", 86400},
                                                  {"h", 3600},
                                                  {"min", 60},
                                                  {"s", 1},
                                                  {"ms", 1e-3},
                                                  {"us", 1e-6},
                                                  {"ns", 1e-9},
                                                  {"m", 60},
                                                  {"\u00b5s", 1e-6}}};

/// Returns the seconds in a text such as "90s" or "1.5h". A plain number counts units of `unit` seconds. nullopt for
/// other texts.
std::optional<double> time_in(std::string_view text, double unit) {
  const auto number = leading_number(text, std::chars_format::general);
  if (!number) return std::nullopt;
  if (number->rest.empty()) return number->value * unit;
  const auto* const found = std::ranges::find(kUnitsOfTime, number->rest, &UnitOfTime::name);
  return found == kUnitsOfTime.end() ? std::nullopt : std::optional(number->value * found->seconds);
}

/// Formats a time in the longest unit of which it is a whole multiple, for example "2h".
std::string time_text(double seconds) {
  for (const UnitOfTime& unit : kUnitsOfTime) {
    const double number = snapped(seconds / unit.seconds);
    if (number >= 1 && number == std::floor(number)) return fmt::format("{}{}", number, unit.name);
  }
  return fmt::format("{}s", seconds);
}

double as_number(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return static_cast<double>(std::get<std::uint64_t>(value));
}

/// Parses GPU numbers as gpus_text() writes them, for example "0+3"; empty for other texts and for repeated numbers.
std::vector<int> distinct_gpus(std::string_view text, char joined_by) {
  if (text.find_first_not_of(fmt::format("0123456789{}", joined_by)) != std::string_view::npos) return {};
  std::vector<int> numbers = gpu_numbers(text);
  const bool each_once = std::set(numbers.begin(), numbers.end()).size() == numbers.size();
  if (!each_once || gpus_text(numbers, joined_by) != text) numbers.clear();
  return numbers;
}

[[noreturn]] void fail(const std::string& what) { throw UsageError(what); }

class AxisParser {
 public:
  explicit AxisParser(const Axis& axis) : axis_(axis) {}

  [[nodiscard]] std::vector<Value> parse(std::string_view text) const {
    Values values;
    std::size_t begin = 0;
    while (begin <= text.size()) {
      const std::size_t end = std::min(text.find(axis_.separator, begin), text.size());
      refuse_decimal_comma(text.substr(begin), end - begin);
      append(text.substr(begin, end - begin), values);
      begin = end + 1;
    }
    return std::move(values.in_order);
  }

 private:
  /// Collects the values in the order written, each once.
  struct Values {
    std::vector<Value> in_order;
    std::set<Value> known;
  };

  /// Throws UsageError if the item of `length` characters that the text begins with, and the item that follows, may be
  /// meant as one size with a decimal comma: 1,5G is 1 byte and 5 GiB.
  void refuse_decimal_comma(std::string_view text, std::size_t length) const {
    if (axis_.kind != AxisKind::size || length >= text.size() || !whole(text.substr(0, length))) return;
    const std::string_view next = text.substr(length + 1, text.find(axis_.separator, length + 1) - length - 1);
    const auto number = leading_number(next);
    const std::string meant = fmt::format("{}.{}", text.substr(0, length), next);
    if (!number || unit_factor(number->rest).value_or(1) == 1 || !is_size(meant)) return;
    fail(fmt::format("'{0}{1}{2}' may mean {3}, or {0} B and {2}; write {3} or {0}B{1}{2}", text.substr(0, length),
                     axis_.separator, next, meant));
  }

  static bool is_size(const std::string& text) {
    try {
      return parse_size(text) > 0;
    } catch (const UsageError&) {
      return false;
    }
  }

  void append(std::string_view item, Values& values) const {
    const auto add = [&values](const Value& v) {
      if (values.known.insert(v).second) values.in_order.push_back(v);
    };
    if (axis_.kind == AxisKind::choice && item == kAll) {
      for (const std::string& choice : axis_.choices) add(choice);
    } else if (!is_word(axis_.kind) && item.find(':') != std::string_view::npos) {
      for (const Value& v : range(item)) add(v);
    } else {
      add(single(item));
    }
    if (values.known.size() > kMostValues) fail(fmt::format("more than {} values; choose a larger step", kMostValues));
  }

  [[nodiscard]] Value single(std::string_view text) const {
    if (text.empty()) fail(fmt::format("a value is missing; write one like {}", example()));
    switch (axis_.kind) {
      case AxisKind::choice: return choice(text);
      case AxisKind::size: return checked(parse_size(text), text);
      case AxisKind::count: return checked(count(text), text);
      case AxisKind::real: return checked(real(text), text);
      case AxisKind::time: return checked(time(text), text);
      case AxisKind::gpus: return gpus(text);
      case AxisKind::text:
      case AxisKind::file: return one_line(text);
    }
    return {};
  }

  [[nodiscard]] std::string example() const {
    if (axis_.kind == AxisKind::gpus)
      return axis_.joined_by == '\0' ? "1" : gpus_text(std::array{0, 1}, axis_.joined_by);
    if (axis_.kind == AxisKind::choice) return axis_.choices.front();
    if (axis_.kind == AxisKind::text || axis_.kind == AxisKind::file) return axis_.example;
    return axis_.kind == AxisKind::size    ? "256M"
           : axis_.kind == AxisKind::count ? "8"
           : axis_.kind == AxisKind::time  ? "500ms"
                                           : "0.5";
  }

  [[nodiscard]] bool is_choice(std::string_view text) const { return has_item(axis_.choices, text); }

  [[nodiscard]] Value choice(std::string_view text) const {
    if (is_choice(text)) return std::string(text);
    // Other commands, and people, call copies in both directions at once `both`.
    const bool both = text == "both" && is_choice("bidirectional");
    fail(fmt::format("'{}' is not one of {}{}", text, fmt::join(axis_.choices, ", "),
                     suggestion(both ? "bidirection" : text, axis_.choices)));
  }

  static Value one_line(std::string_view text) {
    if (find_control(text).bytes == 0) return std::string(text);
    fail(fmt::format("'{}' has unprintable characters (shown as ?); leave them out", printable(text)));
  }

  /// Checks a value of an axis of kind `gpus`: different GPU numbers, for example "0+3", or one of the axis's words.
  [[nodiscard]] Value gpus(std::string_view text) const {
    if (is_choice(text)) return std::string(text);
    const bool one = axis_.joined_by == '\0';
    const std::size_t numbers = distinct_gpus(text, axis_.joined_by).size();
    if (one ? numbers == 1 : numbers > 0) return std::string(text);
    const char* const wanted = one ? "the number of a GPU" : "numbers of different GPUs";
    fail(fmt::format("'{}' is neither {}, as in {}, nor {}{}", text, wanted, example(), fmt::join(axis_.choices, ", "),
                     suggestion(text, axis_.choices)));
  }

  [[nodiscard]] Value count(std::string_view text) const {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::invalid_argument || end != text.data() + text.size()) refuse_count(text);
    if (error == std::errc()) return value;
    fail(fmt::format("{} is too large; the largest is {}", text, limit(axis_.max)));
  }

  /// Throws UsageError for a text that is not a count. Negative numbers, and whole numbers written with a point or an
  /// exponent, have their own messages.
  [[noreturn]] void refuse_count(std::string_view text) const {
    const auto number = leading_number(text, std::chars_format::general);
    const bool is_number = number && number->rest.empty();
    if (is_number && number->value < 0) {
      fail(fmt::format("{} is too small; the smallest is {}", text, limit(axis_.min)));
    }
    const bool is_whole = is_number && number->value == std::floor(number->value) && number->value <= axis_.max;
    if (is_whole) fail(fmt::format("'{}' has a point or an exponent; write it out: {:.0f}", text, number->value));
    fail(fmt::format("'{}' is not a whole number; write one like 8", text));
  }

  static Value real(std::string_view text) {
    const auto number = leading_number(text, std::chars_format::general);
    if (!number) fail(fmt::format("'{}' is not a number; write one like 0.5", text));
    if (!number->rest.empty()) fail(fmt::format("'{}' is not a number; leave out '{}'", text, number->rest));
    return number->value;
  }

  [[nodiscard]] Value time(std::string_view text) const {
    if (const auto seconds = time_in(text, axis_.unit)) return snapped(*seconds / axis_.unit);
    fail(fmt::format("'{}' is not a time; write one like {}, with ns, us, ms, s, min, h or d; a number alone is in {}",
                     text, example(), time_text(axis_.unit).substr(1)));
  }

  [[nodiscard]] std::string limit(double bound) const { return bound_text(axis_, bound); }

  [[nodiscard]] Value checked(const Value& value, std::string_view text) const {
    const double number = as_number(value);
    if (number < axis_.min) fail(fmt::format("{} is too small; the smallest is {}", text, limit(axis_.min)));
    if (number > axis_.max) fail(fmt::format("{} is too large; the largest is {}", text, limit(axis_.max)));
    return value;
  }

  /// Parses a range: "first:last" (doubling), "first:last:xFACTOR" or "first:last:+STEP".
  [[nodiscard]] std::vector<Value> range(std::string_view text) const {
    const std::size_t one = text.find(':');
    const std::size_t two = text.find(':', one + 1);
    const Value first = single(text.substr(0, one));
    const Value last = single(text.substr(one + 1, two == std::string_view::npos ? two : two - one - 1));
    if (as_number(first) > as_number(last)) fail(fmt::format("the range {} ends before it begins", text));
    const Step step = two == std::string_view::npos ? Step{true, 2} : parse_step(text.substr(two + 1), text);
    if (first == last) return {first};
    if (step.multiply && as_number(first) <= 0) {
      fail(fmt::format("multiplying {} in {} never reaches its end; add instead, as in 0:16:+1", text.substr(0, one),
                       text));
    }
    return std::holds_alternative<double>(first) ? steps<double>(first, last, step)
                                                 : steps<std::uint64_t>(first, last, step);
  }

  struct Step {
    bool multiply;
    double by;
  };

  [[nodiscard]] Step parse_step(std::string_view text, std::string_view range) const {
    const bool multiply = !text.empty() && text[0] == 'x';
    const bool add = !text.empty() && text[0] == '+';
    if (!multiply && !add) fail(fmt::format("the step of {} must begin with x or +, as in 4K:1G:x4 or 1:16:+1", range));
    const std::string_view amount = text.substr(1);
    double by = 0;
    if (add && axis_.kind == AxisKind::size) {
      by = static_cast<double>(parse_size(amount));
    } else if (add && axis_.kind == AxisKind::time) {
      by = std::get<double>(time(amount));
    } else if (const auto number = leading_number(amount); number && number->rest.empty()) {
      by = number->value;
    } else {
      fail(fmt::format("'{}' is not a number to step by in {}", amount, range));
    }
    const bool whole_axis = axis_.kind == AxisKind::size || axis_.kind == AxisKind::count;
    if (multiply && by <= 1)
      fail(fmt::format("multiplying by {} in {} never reaches its end; use more than 1", amount, range));
    if (add && by <= 0) fail(fmt::format("adding {} in {} never reaches its end; use more than 0", amount, range));
    if (add && whole_axis && by != std::floor(by)) fail(fmt::format("{} in {} is not a whole number", amount, range));
    return {multiply, by};
  }

  template <class T>
  [[nodiscard]] std::vector<Value> steps(const Value& first, const Value& last, Step step) const {
    std::vector<Value> values{first};
    const auto start = static_cast<double>(std::get<T>(first));
    const T end = std::get<T>(last);
    // Compute each value from its index and not from the previous value, so that rounding errors do not add up.
    for (std::size_t i = 1; i <= kMostSteps && values.size() <= kMostValues; ++i) {
      const auto n = static_cast<double>(i);
      const double exact = step.multiply ? start * std::pow(step.by, n) : start + step.by * n;
      if (exact > static_cast<double>(end) * (1 + 1e-12)) return values;
      const auto value = static_cast<T>(std::is_same_v<T, double> ? snapped(exact) : std::round(exact));
      if (value > end) return values;
      if (std::get<T>(values.back()) != value) values.emplace_back(value);
    }
    fail(fmt::format("more than {} values; choose a larger step", kMostValues));
  }

  const Axis& axis_;
};

}  // namespace

std::uint64_t parse_size(std::string_view text) {
  const auto number = leading_number(text);
  if (!number) throw UsageError(fmt::format("'{}' is not a size; write 4096, 4K, 256M, 1GiB or 1GB", text));
  const auto factor = unit_factor(number->rest);
  if (const std::size_t dots = text.find(".."); !factor && dots != std::string_view::npos) {
    throw UsageError(
        fmt::format("'{}' is not a size; write a range as {}:{}", text, text.substr(0, dots), text.substr(dots + 2)));
  }
  if (!factor) {
    throw UsageError(
        fmt::format("'{}' is not a size: unknown unit '{}'; use K, M, G, T (or KiB, ...) for powers of 1024, "
                    "KB, MB, GB, TB for powers of 1000",
                    text, number->rest));
  }
  if (number->value <= 0) throw UsageError(fmt::format("'{}' is not a positive size", text));
  // Ignore rounding errors: 1.001 KB is a whole number of bytes, but neither 1.001 nor its product with 1000 is exact.
  constexpr double kRounding = 4e-16;
  const double product = number->value * *factor;
  const double bytes = std::round(product);
  if (bytes > kLargest) throw UsageError(fmt::format("'{}' is too large: no machine has that much memory", text));
  if (std::abs(product - bytes) > kRounding * product)
    throw UsageError(fmt::format("'{}' is not a whole number of bytes", text));
  const std::string_view digits = text.substr(0, text.size() - number->rest.size());
  // Multiply whole numbers as integers, because a double is not exact above 2^53.
  if (const auto exact = whole(digits)) return *exact * static_cast<std::uint64_t>(*factor);
  return static_cast<std::uint64_t>(bytes);
}

std::string bound_text(const Axis& axis, double bound) {
  if (axis.kind == AxisKind::real) return fmt::format("{}", bound);
  if (axis.kind == AxisKind::time) return time_text(bound * axis.unit);
  const auto number = static_cast<std::uint64_t>(bound);
  constexpr std::uint64_t kBoundless = 1'000'000'000'000'000'000;
  return axis.kind == AxisKind::size && number < kBoundless ? format_size_exact(number) : fmt::format("{}", number);
}

std::vector<Value> parse_axis(const Axis& axis, std::string_view text, std::string_view flag) {
  try {
    return AxisParser(axis).parse(text);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", flag, error.what()));
  }
}

GpuSelection one_gpu(const std::string& text) {
  constexpr std::uint64_t kMost = 1023;
  const std::optional<std::uint64_t> number = whole(text);
  if (number && *number <= kMost) return {.numbers = {static_cast<int>(*number)}};
  if (number) throw UsageError(fmt::format("--gpu: {} is too large; the largest is {}", text, kMost));
  const std::string name = lower_case(text);
  if (name.starts_with("gpu-") || name.starts_with("mig-") || is_pci_address(name)) return {.named = text};
  throw UsageError(
      fmt::format("--gpu: '{}' is no GPU; write its number (0), UUID (GPU-8932f937) or PCI address (0000:1a:00.0), as "
                  "nvidia-smi -L and xferbench info show them",
                  text));
}

GpuSelection gpu_selection(const std::string& text) {
  const std::optional<std::uint64_t> count = whole(text);
  GpuSelection selection{.numbers = {}, .first = count};
  if (text == kAll || count.value_or(0) > 0) return selection;
  selection.numbers = count ? std::vector<int>() : distinct_gpus(text, ',');
  if (!selection.numbers.empty()) return selection;
  throw UsageError(fmt::format("--gpus: '{}' {}; write all, a number of GPUs (2), or a list of different GPUs (0,3)",
                               text,
                               count ? "means no GPU; for GPU 0 alone write --gpu 0" : "is not a selection of GPUs"));
}

std::vector<RankConcurrency> paces(const std::string& text) {
  const std::vector<std::string> known = words(texts_of(RankConcurrency{}));
  std::vector<RankConcurrency> all;
  std::istringstream list(text);
  for (std::string word; std::getline(list, word, ',');) {
    const auto found = std::ranges::find(known, word);
    if (found == known.end()) {
      throw UsageError(
          fmt::format("--concurrency: '{}' is not one of {}{}", word, fmt::join(known, ", "), suggestion(word, known)));
    }
    const auto pace = static_cast<RankConcurrency>(found - known.begin());
    if (has_item(all, pace)) throw UsageError("--concurrency: " + word + " is given twice");
    all.push_back(pace);
  }
  if (all.empty()) throw UsageError(fmt::format("--concurrency: write one or more of {}", fmt::join(known, ",")));
  return all;
}

double parse_percent(std::string_view text, std::string_view flag) {
  const auto number = leading_number(text);
  const bool is_percent = number && (number->rest.empty() || number->rest == "%");
  if (is_percent && number->value > 0 && number->value <= 100) return number->value / 100;
  throw UsageError(fmt::format("{}: '{}' is not a percentage above 0 and up to 100, as 90%", flag, text));
}

}  // namespace xferbench::cli
