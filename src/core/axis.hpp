// Axes (parameters of a scenario), their values, and cases (one value for each axis).
//
// A scenario declares its axes. The command line makes flags and help from them. The cases of a run are the Cartesian
// product of the values of its axes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace xferbench {

/// A value of an axis: a size in bytes, a count, a real number or a word.
using Value = std::variant<std::uint64_t, double, std::string>;

enum class AxisKind {
  size,   ///< in bytes; written as 256M, 4KiB or 1GB
  count,  ///< a whole number
  real,
  time,    ///< written as 3ms, 90s or 2h, or as a multiple of Axis::unit; stored in Axis::unit
  choice,  ///< one of Axis::choices
  gpus,    ///< GPU numbers, joined by Axis::joined_by, or one of Axis::choices
  text,    ///< anything that can be written in a line, without Axis::separator
  file,    ///< the path of a file, in one line and without commas
};

constexpr bool is_word(AxisKind kind) {
  return kind == AxisKind::choice || kind == AxisKind::gpus || kind == AxisKind::text || kind == AxisKind::file;
}

/// A parameter that a scenario declares. It contains the data from which flags, help, checks and defaults are made.
struct Axis {
  std::string name{};  ///< name in case keys and files; also the name of the flag (without dashes) if `flag` is empty
  std::string flag{};  ///< name of the flag, if not `name`; `name` is then accepted as an older name of the flag
  AxisKind kind = AxisKind::count;
  /// default values as on the command line; if empty, a case has the axis only if its flag is given
  std::string defaults{};
  std::string tuning{};          ///< values that `tune` tries if the flag is not given; if empty, the defaults
  bool tuned_without = false;    ///< if true, `tune` also tries cases without the axis
  std::string implicit_value{};  ///< value of the flag if it is given without one; if empty, the flag needs a value
  std::string help{};            ///< one-line description for help
  std::vector<std::string> choices{};  ///< legal words, for AxisKind::choice and AxisKind::gpus
  std::string example{};               ///< for AxisKind::text and AxisKind::file: an example value
  char joined_by = '+';                ///< for AxisKind::gpus: separator of the numbers; 0: only one number is legal
  char separator = ',';                ///< between values on the command line
  double min = 1;                      ///< smallest legal number; for AxisKind::time in units of `unit`
  double max = 1e18;                   ///< largest legal number, in the unit of `min`
  double unit = 1;                     ///< for AxisKind::time: the unit of stored values, in seconds
  /// name of another axis for the same quantity; cases lack that axis if the flag of this axis is given; giving both
  /// flags is an error
  std::string alternative_to{};
  /// name of another axis; a case has this axis only if the other axis has one of `only_with_values`
  std::string only_with_axis{};
  /// values of `only_with_axis`; if empty, any value that its flag gives: its default is not enough
  std::vector<std::string> only_with_values{};
};

/// Returns the flag as it is written in help and errors, for example "--size".
inline std::string flag_of(const Axis& axis) { return "--" + (axis.flag.empty() ? axis.name : axis.flag); }
/// Returns the names of the flag as CLI11 expects them, with the older name if there is one: "--location,--lies-in".
inline std::string flag_names(const Axis& axis) { return flag_of(axis) + (axis.flag.empty() ? "" : ",--" + axis.name); }

/// Returns the axis `dependent`, restricted to cases in which `axis` has one of `values`. If `values` is empty, `axis`
/// may have any value, but its flag must be given.
inline Axis only_with(std::string axis, std::vector<std::string> values, Axis dependent) {
  dependent.only_with_axis = std::move(axis);
  dependent.only_with_values = std::move(values);
  return dependent;
}
inline Axis choice_axis(std::string name, std::vector<std::string> words, Axis rest) {
  rest.name = std::move(name);
  rest.kind = AxisKind::choice;
  rest.choices = std::move(words);
  return rest;
}
inline Axis size_axis(std::string name, Axis rest) {
  rest.name = std::move(name);
  rest.kind = AxisKind::size;
  return rest;
}

/// Makes an axis of kind `gpus`. `words` are legal in place of GPU numbers.
inline Axis gpus_axis(std::string name, std::vector<std::string> words, Axis rest) {
  rest.name = std::move(name);
  rest.kind = AxisKind::gpus;
  rest.choices = std::move(words);
  return rest;
}
/// Returns the GPU numbers in a value of a `gpus` axis; "0+3" gives 0 and 3. Empty if the value is a word.
std::vector<int> gpu_numbers(std::string_view value);
/// Joins GPU numbers to a text; the inverse of gpu_numbers().
std::string gpus_text(std::span<const int> numbers, char joined_by = '+');

/// Sorts the numbers and returns texts for a sentence, in which three or more consecutive numbers are a range: "0 to
/// 3", "6".
std::vector<std::string> in_ranges(std::vector<int> numbers);

inline std::vector<std::string> words(std::span<const std::string_view> all) { return {all.begin(), all.end()}; }

/// Returns exact text that the command line can parse again, for example "256MiB", "1000B", "8", "0.5" or "h2d".
std::string to_text(const Value& value, AxisKind kind);

/// One combination of axis values of a scenario. Copies share their data (copy on write), because a long run keeps each
/// case in its plan and in its results.
class Case {
 public:
  struct Param {
    std::string name;
    AxisKind kind = AxisKind::count;
    Value value;
    friend bool operator==(const Param&, const Param&) = default;
  };

  explicit Case(std::string scenario = {});

  /// Appends a parameter and adds it to the key. Each axis may be set only once.
  void set(const Axis& axis, Value value);
  /// Returns a copy with `instead` in place of the parameter `axis`, for example with GPU numbers in place of `all`.
  [[nodiscard]] Case with(std::string_view axis, std::span<const Param> instead) const;

  [[nodiscard]] const std::string& scenario() const { return choice_->scenario; }
  [[nodiscard]] const std::vector<Param>& params() const { return choice_->params; }
  /// Returns for example `overlap/size=256MiB/streams=8`. The key of a case is the same in every run and on every
  /// machine. A slash within a value is written as %2F, and a percent sign as %25.
  [[nodiscard]] const std::string& key() const { return choice_->key; }

  [[nodiscard]] const Param* find(std::string_view axis) const;
  [[nodiscard]] bool has(std::string_view axis) const { return find(axis) != nullptr; }
  /// Returns the value of an axis of kind size or count. Throws std::logic_error if the case lacks the axis, which is
  /// an error in the scenario's code.
  [[nodiscard]] std::uint64_t count(std::string_view axis) const;
  /// real() is for axes of kind real or time, word() for axes whose values are words. Both throw as count() does.
  [[nodiscard]] double real(std::string_view axis) const;
  [[nodiscard]] const std::string& word(std::string_view axis) const;

  /// Returns whether the case has the axis and its value is that word.
  [[nodiscard]] bool is(std::string_view axis, std::string_view word) const {
    return has(axis) && this->word(axis) == word;
  }
  [[nodiscard]] std::uint64_t count_or(std::string_view axis, std::uint64_t otherwise) const {
    return has(axis) ? count(axis) : otherwise;
  }
  /// Converts the word of an axis to an enumerator. `words` must be in the order of the enumerators. Throws
  /// std::logic_error if the word is not in `words`.
  template <class Enumeration>
  [[nodiscard]] Enumeration one_of(std::string_view axis, std::span<const std::string_view> words) const {
    return static_cast<Enumeration>(place_among(axis, words));
  }

  friend bool operator==(const Case& a, const Case& b) { return a.choice_ == b.choice_ || *a.choice_ == *b.choice_; }

 private:
  friend struct StoredCase;
  struct Choice {
    std::string scenario;
    std::string key;
    std::vector<Param> params;
    friend bool operator==(const Choice&, const Choice&) = default;
  };
  /// A shared_ptr that is never null: a move only copies the pointer, so that the moved-from case stays valid.
  class Shared : public std::shared_ptr<Choice> {
   public:
    using std::shared_ptr<Choice>::shared_ptr;
    Shared(std::shared_ptr<Choice> choice) : std::shared_ptr<Choice>(std::move(choice)) {}
    Shared(const Shared&) = default;
    Shared& operator=(const Shared&) = default;
    ~Shared() = default;
  };

  /// Copies the data if other cases share it (copy on write), and returns it for changes.
  Choice& own();
  void append(Param param);
  [[nodiscard]] std::size_t place_among(std::string_view axis, std::span<const std::string_view> words) const;

  Shared choice_;
};

/// Gives file readers access to the members of a case. Files do not store AxisKind, so sizes are read as counts.
struct StoredCase {
  static std::string& scenario(Case& c) { return c.own().scenario; }
  static std::string& key(Case& c) { return c.own().key; }
  static std::vector<Case::Param>& params(Case& c) { return c.own().params; }
};

}  // namespace xferbench
