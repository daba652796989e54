// Axes, values and cases: what can be varied, and one choice of everything.
//
// A scenario declares its axes; the command line builds flags and help from them; the cases of a run are the product
// of the axes' values.
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

/// A value of an axis: a size in bytes or a count, a real number, or a word.
using Value = std::variant<std::uint64_t, double, std::string>;

enum class AxisKind {
  size,   ///< bytes; written 256M, 4KiB, 1GB
  count,  ///< a whole number
  real,
  time,    ///< written 3ms, 90s or 2h, or as a number of Axis::unit; stored in this unit
  choice,  ///< one of Axis::choices
  gpus,    ///< numbers of GPUs, joined by Axis::joined_by, or one of Axis::choices
  text,    ///< anything that can be written in a line, without commas
  file,    ///< the path of a file, in one line and without commas
};

constexpr bool is_word(AxisKind kind) {
  return kind == AxisKind::choice || kind == AxisKind::gpus || kind == AxisKind::text || kind == AxisKind::file;
}

/// A parameter that a scenario declares. Plain data: flags, help, legality and defaults all come from here.
struct Axis {
  std::string name{};  ///< the name in keys and files, and the flag without its dashes
  std::string flag{};  ///< the flag's name if it is not `name`; `name` is then an older name of the flag
  AxisKind kind = AxisKind::count;
  std::string defaults{};        ///< values in the command line's grammar; empty: no axis unless its flag is given
  std::string tuning{};          ///< values that `tune` tries if the flag is not given; empty: the defaults
  bool tuned_without = false;    ///< if true, `tune` also tries cases without the axis
  std::string implicit_value{};  ///< what the flag means without a value; empty: it needs one
  std::string help{};            ///< one line
  std::vector<std::string> choices{};  ///< legal words, for AxisKind::choice and AxisKind::gpus
  std::string example{};               ///< for AxisKind::text and AxisKind::file: an example value
  char joined_by = '+';                ///< for AxisKind::gpus: between the numbers; 0: only one number is legal
  double min = 1;                      ///< smallest legal number; for AxisKind::time in units of `unit`
  double max = 1e18;                   ///< largest legal number, in the unit of `min`
  double unit = 1;                     ///< for AxisKind::time: the unit of stored values, in seconds
  std::string alternative_to{};        ///< axis that is absent if this axis's flag is given; giving both is an error
  std::string only_with_axis{};        ///< another axis: a case has this axis only if the other one has ...
  std::vector<std::string> only_with_values{};  ///< ... one of these values; empty: any value
};

/// The flag as help and errors write it, for example "--size".
inline std::string flag_of(const Axis& axis) { return "--" + (axis.flag.empty() ? axis.name : axis.flag); }
/// The flag and, if the axis has one, its older name, as CLI11 expects: for example "--location,--lies-in".
inline std::string flag_names(const Axis& axis) { return flag_of(axis) + (axis.flag.empty() ? "" : ",--" + axis.name); }

/// Returns `dependent`, restricted to cases in which `axis` has one of `values`; if these are empty, to cases with
/// `axis`.
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

/// `words` are legal in place of GPU numbers.
inline Axis gpus_axis(std::string name, std::vector<std::string> words, Axis rest) {
  rest.name = std::move(name);
  rest.kind = AxisKind::gpus;
  rest.choices = std::move(words);
  return rest;
}
/// The GPU numbers in a value of a gpus axis; empty if the value is a word. "0+3" gives 0 and 3.
std::vector<int> gpu_numbers(std::string_view value);
/// The inverse of gpu_numbers().
std::string gpus_text(std::span<const int> numbers, char joined_by = '+');

/// The numbers, sorted, as texts for a sentence; three or more consecutive ones become a range: "0 to 3", "6".
std::vector<std::string> in_ranges(std::vector<int> numbers);

inline std::vector<std::string> words(std::span<const std::string_view> all) { return {all.begin(), all.end()}; }

/// The value as exact text that the command line can parse again, for example "256MiB", "1000B", "8", "0.5" or "h2d".
std::string to_text(const Value& value, AxisKind kind);

/// One choice of every axis of a scenario. Copies share their data, because a long run holds each case in its plan and
/// in its results.
class Case {
 public:
  struct Param {
    std::string name;
    AxisKind kind = AxisKind::count;
    Value value;
    friend bool operator==(const Param&, const Param&) = default;
  };

  explicit Case(std::string scenario = {});

  /// Appends a param, also to the key. Each axis may be set only once.
  void set(const Axis& axis, Value value);
  /// A copy in which the params `instead` replace one param: for a word that stands for hardware of the machine.
  [[nodiscard]] Case with(std::string_view axis, std::span<const Param> instead) const;

  [[nodiscard]] const std::string& scenario() const { return choice_->scenario; }
  [[nodiscard]] const std::vector<Param>& params() const { return choice_->params; }
  /// `overlap/size=256MiB/streams=8`: the same for the same case in every run, on every machine. A slash within a value
  /// is written %2F, and a percent sign %25.
  [[nodiscard]] const std::string& key() const { return choice_->key; }

  [[nodiscard]] const Param* find(std::string_view axis) const;
  [[nodiscard]] bool has(std::string_view axis) const { return find(axis) != nullptr; }
  /// The value of a size or count axis. Throws std::logic_error if the case has no such axis: a mistake in the
  /// scenario.
  [[nodiscard]] std::uint64_t count(std::string_view axis) const;
  /// The value of a real or time axis; word() returns that of any other. Both throw like count().
  [[nodiscard]] double real(std::string_view axis) const;
  [[nodiscard]] const std::string& word(std::string_view axis) const;

  /// Whether the case has the axis with that word as its value.
  [[nodiscard]] bool is(std::string_view axis, std::string_view word) const {
    return has(axis) && this->word(axis) == word;
  }
  [[nodiscard]] std::uint64_t count_or(std::string_view axis, std::uint64_t otherwise) const {
    return has(axis) ? count(axis) : otherwise;
  }
  /// The enumerator for the axis's word; `words` are in the order of the enumerators. Throws std::logic_error if the
  /// word is none of them.
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
  /// Never null: a move copies the pointer, so that the moved-from case stays valid.
  class Shared : public std::shared_ptr<Choice> {
   public:
    using std::shared_ptr<Choice>::shared_ptr;
    Shared(std::shared_ptr<Choice> choice) : std::shared_ptr<Choice>(std::move(choice)) {}
    Shared(const Shared&) = default;
    Shared& operator=(const Shared&) = default;
    ~Shared() = default;
  };

  /// Copy on write: the data as this case's own, so that it can be changed.
  Choice& own();
  void append(Param param);
  [[nodiscard]] std::size_t place_among(std::string_view axis, std::span<const std::string_view> words) const;

  Shared choice_;
};

/// For file readers, which set a case's fields directly. Files store no kinds: there, sizes are counts.
struct StoredCase {
  static std::string& scenario(Case& c) { return c.own().scenario; }
  static std::string& key(Case& c) { return c.own().key; }
  static std::vector<Case::Param>& params(Case& c) { return c.own().params; }
};

}  // namespace xferbench
