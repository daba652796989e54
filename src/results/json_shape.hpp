// How records look as JSON: a shape says it once, and serves to read, to write, and to make the schemas in docs/.
//
// Reading is for files that may be large, damaged or hostile: values go straight into the records as the parser finds
// them, what no shape asks for is read over, and neither stack nor memory grows with what a file nests. Writing is a
// piece at a time, for the same reason.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/enum_text.hpp"
#include "results/sink.hpp"

namespace xferbench::json {

/// A single value: as the parser has found it, or as it is to be written. Texts belong to somebody else.
using Single = std::variant<std::nullptr_t, bool, std::uint64_t, double, std::string_view>;

struct Shape;
class Source;

/// Where the value that comes next goes, and in which shape it must be.
struct Target {
  const Shape* shape = nullptr;  ///< null: the value is read over
  void* object = nullptr;
};

/// Where reading stands. All that fails throws InputError: one line with the file, the line in it, the place
/// (results[3].key), what was found, and what was expected.
class Reader {
 public:
  [[noreturn]] void fail(const std::string& what) const;

  // --- The single value that was found, for its Shape::take; what is of another kind fails ---
  [[nodiscard]] bool is_text() const { return std::holds_alternative<std::string_view>(found_); }
  [[nodiscard]] bool is_whole() const { return std::holds_alternative<std::uint64_t>(found_); }
  /// As it may be shown anywhere: what a terminal would obey in it is replaced (core/printable.hpp).
  [[nodiscard]] std::string as_text();
  /// As the file has it, for what is parsed once more.
  [[nodiscard]] std::string as_raw_text();
  [[nodiscard]] bool as_boolean() const { return as_kind<bool>(); }
  [[nodiscard]] double as_number() const;
  /// Written without point or exponent.
  [[nodiscard]] std::uint64_t as_whole(std::uint64_t least, std::uint64_t most) const;
  /// The index of the text among these.
  [[nodiscard]] std::size_t as_one_of(std::span<const std::string_view> texts) const;
  /// Fails: it is not what the shape expects.
  [[noreturn]] void refuse() const;
  /// Fails unless it is within the limits of the shape: a number, or the bytes of a text.
  void check_limits(double amount) const;

  // --- Of the object or list that is being read, for its Shape::end ---
  /// Whether the object had this one of its fields.
  [[nodiscard]] bool has(std::string_view field) const;
  /// How many items the list had.
  [[nodiscard]] std::size_t items() const { return steps_.back().items; }
  /// A number that has no place in the record, but must agree with what has.
  void note(std::uint64_t number) { steps_.back().noted = number; }
  [[nodiscard]] std::uint64_t noted() const { return steps_.back().noted; }

  // --- Checks ---
  void refuse_more_than(std::size_t most, std::size_t entries) const;
  void refuse_twice(std::vector<std::string_view> names) const;
  /// Fails: the word is none of those that are known. Says which may have been meant.
  [[noreturn]] void refuse_unknown(std::string_view found, std::string_view word,
                                   std::span<const std::string_view> known) const;

  // --- Memory: a file whose values take much more of it than its text is refused, as nobody writes that ---
  /// So much will be held, and `besides` for a moment only.
  void account_for(std::size_t bytes, std::size_t besides = 0);
  /// The text as it is kept.
  [[nodiscard]] std::string kept(std::string text);
  /// One more in a list.
  template <class T>
  T& one_more(std::vector<T>& list, std::size_t most) {
    refuse_more_than(most, list.size());
    if (list.size() == list.capacity()) {
      const std::size_t before = list.capacity() * sizeof(T);
      const std::size_t capacity = list.size() + list.size() / 4 + 1;
      account_for(capacity * sizeof(T) - before, before);
      list.reserve(capacity);
    }
    return list.emplace_back();
  }
  /// The list has come to its end.
  template <class T>
  void give_back_spare(std::vector<T>& list) {
    const std::size_t before = list.capacity();
    list.shrink_to_fit();
    taken_ -= (before - list.capacity()) * sizeof(T);
    if (!list.empty()) account_for(kAllocation);
  }

 protected:
  /// The way into an object or a list that is being read.
  struct Step {
    Target target;
    std::string name{};      // of the field that is being read
    std::size_t items = 0;   // of the list that were begun
    std::uint64_t seen = 0;  // a bit for each of the shape's fields
    std::uint64_t noted = 0;
    bool is_list = false;
    bool inside = false;  // a field or an item is being read
  };

  Reader(std::string name, Source& source) : name_(std::move(name)), source_(source) {}
  ~Reader() = default;
  [[nodiscard]] std::string place() const;
  template <class Kind>
  [[nodiscard]] const Kind& as_kind() const {
    const Kind* found = std::get_if<Kind>(&found_);
    if (found == nullptr) refuse();
    return *found;
  }

  static constexpr std::size_t kAllocation = 16;  // bytes that each one takes for itself

  std::string name_;
  Source& source_;
  std::vector<Step> steps_;
  Single found_;
  const Shape* wanted_ = nullptr;  // of what was found
  std::size_t taken_ = 0;          // bytes of memory, by lists and texts
};

enum class Rule {
  required,
  optional,  ///< may lack, as in older files, but is always written
  if_known,  ///< may lack, and is not written while it is absent, empty or zero
};

/// A field of a record. Its value is a part of the record, or the record itself where the file nests deeper.
struct Field {
  std::string_view name{};
  Rule rule = Rule::required;
  const Shape* shape = nullptr;
  void* (*into)(void* record) = nullptr;
  /// Null: not written. `always`: even what is empty or zero.
  const void* (*from)(const void* record, bool always) = nullptr;
  std::string_view help{};  ///< for the schema: its unit, its meaning, when it is absent
  bool leaves_out = false;  ///< what is empty or zero is not written
};

/// For the schema: what it means for other fields of a record that one has this word, or is this or more.
struct Tie {
  using Names = std::array<std::string_view, 4>;
  std::string_view field{};
  std::string_view word{};
  int least = 0;
  Names filled{};  ///< then these say something, and
  Names empty{};   ///< these do not
  Names else_filled{};
  Names else_empty{};
};
/// For the schema: exactly one of them is there, or at least one.
struct Choice {
  std::array<std::string_view, 2> of{};
  bool only_one = false;
};
struct Known;

/// Is called for each item or entry; items have no name.
using Visit = std::function<void(std::string_view name, const Shape& shape, const void* value)>;

/// Of Shape::least and most.
inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// What is done with a value. What is null is refused.
struct Shape {
  std::string_view expected{};  ///< as messages call it: "a text"
  std::string_view help{};      ///< for the schema, where a field has none of its own

  // --- A single value ---
  void (*take)(Reader& in, void* into) = nullptr;
  Single (*give)(const void* from) = nullptr;

  // --- A list or an object ---
  Target (*item)(Reader& in, void* list, std::size_t index) = nullptr;
  bool is_object = false;
  std::span<const Field> fields{};  ///< at most 64
  bool strict = false;              ///< other fields are errors; else they are read over, or handed to:
  Target (*entry)(Reader& in, void* object, std::string_view name) = nullptr;
  void (*end)(Reader& in, void* object) = nullptr;  ///< of an object or a list: checks it, and completes it
  void (*each)(const void* from, const Visit& visit) = nullptr;  ///< of items or entries, to write them
  bool on_one_line = false;                                      ///< even where it holds more than single values
  bool on_many_lines = false;                                    ///< of all that is written: even single values

  // --- What is legal ---
  std::array<std::string_view, 2> types{};             ///< of JSON, for a single value
  double least = -kNoLimit;                            ///< for a number; for a text its bytes, for a list its items
  double most = kNoLimit;                              ///< likewise
  bool above = false;                                  ///< more than `least`
  std::vector<std::string_view> (*words)() = nullptr;  ///< the only texts

  // --- For the schema alone ---
  std::string_view name{};                  ///< of what stands there more than once
  std::string_view pattern{};               ///< for a text, or for the names of entries
  const Shape* values = nullptr;            ///< of items or entries
  std::vector<Known> (*known)() = nullptr;  ///< entries by their names
  std::span<const Tie> ties{};
  std::span<const Choice> choices{};
};

/// An entry by its name.
struct Known {
  std::string_view name{};
  Shape shape{};
  Rule rule = Rule::optional;
};

/// The JSON Schema of files that hold one of these.
std::string schema_of(std::initializer_list<const Shape*> files, std::string_view help);
inline std::string schema_of(const Shape& file) { return schema_of({&file}, file.help); }

/// Reads a file; "-" is standard input. A mark of UTF-8 at its front is accepted.
void read_file(const std::string& path, Target whole);
/// Reads so many bytes of an open file from its front as if this text came behind them; `name` is what messages call
/// it.
void read_beginning(int file, const std::string& name, std::uint64_t bytes, std::string_view then, Target whole);
/// Reads a text; `name` is what messages call it.
void read_text(std::string_view text, std::string_view name, Target whole);
template <class Record>
Record record_from_file(const std::string& path, const Shape& shape, Record record = {}) {
  read_file(path, {&shape, &record});
  return record;
}
template <class Record>
Record record_from_text(std::string_view text, std::string_view name, const Shape& shape, Record record = {}) {
  read_text(text, name, {&shape, &record});
  return record;
}
/// The text of a list or an object, where somebody has it already.
using Ready = std::function<std::optional<std::string>(const Shape& shape, const void* value)>;
/// Writes a record and the end of its last line. On one line is what holds only single values.
void write(const Shape& shape, const void* record, const Sink& sink, const Ready& ready = {});
/// The text of a part that stands so deep in a record, without the blanks before it.
std::string text_within(const Shape& shape, const void* part, std::size_t level);
/// The same as one text.
std::string text_of(const Shape& shape, const void* record);

/// As much of a text as fits into a message of one line: in quotes, without control characters, not too long.
std::string in_quotes(std::string_view text);

template <class T>
T& as(void* object) {
  return *static_cast<T*>(object);
}
template <class T>
const T& as(const void* object) {
  return *static_cast<const T*>(object);
}

// --- Shapes of single values ----------------------------------------------------------------------------------------

// For Shape::take and give. Texts and numbers must be within the limits of their shape.
void take_text(Reader& in, void* into);
void take_raw_text(Reader& in, void* into);
void take_boolean(Reader& in, void* into);
void take_number(Reader& in, void* into);
template <class T>
Single give_as(const void* from) {
  return as<T>(from);
}

/// The same within limits.
constexpr Shape within(Shape shape, std::string_view expected, double least, double most = kNoLimit) {
  shape.expected = expected;
  shape.least = least;
  shape.most = most;
  return shape;
}
/// The same as messages call it.
constexpr Shape expecting(Shape shape, std::string_view expected) {
  shape.expected = expected;
  return shape;
}
/// The same with its own help.
constexpr Shape helped(Shape shape, std::string_view help) {
  shape.help = help;
  return shape;
}
/// The same that looks so, by a regular expression. Only the schema says so: reading takes what older files have.
constexpr Shape like(Shape shape, std::string_view pattern) {
  shape.pattern = pattern;
  return shape;
}
/// Of what programs know by its name: metrics, labels, flags.
inline constexpr std::string_view kNamePattern = "^[a-z][a-z0-9_-]*$";

inline constexpr Shape kText{
    .expected = "a text", .take = take_text, .give = give_as<std::string>, .types = {"string"}};
/// As the file has it.
inline constexpr Shape kRawText{
    .expected = "a text", .take = take_raw_text, .give = give_as<std::string>, .types = {"string"}};
inline constexpr Shape kWord = within(kText, "a text that says something", 1);
/// ISO 8601, UTC.
inline constexpr std::string_view kTimePattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$";
inline constexpr Shape kTime = like(kWord, kTimePattern);
inline constexpr Shape kTimeOrNone = like(kText, kTimePattern);
inline constexpr Shape kBoolean{
    .expected = "true or false", .take = take_boolean, .give = give_as<bool>, .types = {"boolean"}};
/// Any but NaN and infinities.
inline constexpr Shape kNumber{
    .expected = "a number", .take = take_number, .give = give_as<double>, .types = {"number"}};
inline constexpr Shape kAmount = within(kNumber, "a number of 0 or more", 0);

template <class T, std::uint64_t fewest = 0, std::uint64_t most = std::numeric_limits<T>::max()>
inline constexpr Shape kWhole{
    .expected = "a whole number of 0 or more",
    .take = [](Reader& in, void* into) { as<T>(into) = static_cast<T>(in.as_whole(fewest, most)); },
    .give = [](const void* from) -> Single { return static_cast<std::uint64_t>(as<T>(from)); },
    .types = {"integer"},
    .least = static_cast<double>(fewest),
    .most = most < std::numeric_limits<T>::max() ? static_cast<double>(most) : kNoLimit};

/// For Shape::words.
template <const auto& texts>
std::vector<std::string_view> words_of() {
  return {texts.begin(), texts.end()};
}

template <class E>
inline constexpr auto kTextsOf = texts_of(E{});
/// One of the values of an enumeration, by its text.
template <class E>
inline constexpr Shape kOneOf{
    .expected = "a text",
    .take = [](Reader& in, void* into) { as<E>(into) = static_cast<E>(in.as_one_of(kTextsOf<E>)); },
    .give = [](const void* from) -> Single { return to_text(as<E>(from)); },
    .words = words_of<kTextsOf<E>>};

/// The name of the schema: no part of the record, but the first thing that a file says.
template <const std::string_view& schema>
inline constexpr Shape kSchema{.expected = "a text",
                               .take =
                                   [](Reader& in, void*) {
                                     const std::string found = in.as_text();
                                     if (found == schema) return;
                                     in.fail("found " + in_quotes(found) + ", expected " + in_quotes(schema) +
                                             ": a file of another kind or of another version of xferbench");
                                   },
                               .give = [](const void*) -> Single { return schema; },
                               .words = [] { return std::vector<std::string_view>{schema}; }};

// --- Shapes of several values ---------------------------------------------------------------------------------------

inline constexpr std::size_t kMostEntries = 10'000;  ///< of the smaller lists, such as metrics and warnings

template <class T>
void accept_all(Reader&, std::vector<T>&) {}

/// A list of values of one shape. `check` is called at its end.
template <class T, const Shape& shape, std::size_t most = kMostEntries,
          void (*check)(Reader&, std::vector<T>&) = accept_all<T>>
inline constexpr Shape kListOf{.expected = "a list",
                               .item = [](Reader& in, void* list, std::size_t) -> Target {
                                 return {&shape, &in.one_more(as<std::vector<T>>(list), most)};
                               },
                               .end =
                                   [](Reader& in, void* list) {
                                     in.give_back_spare(as<std::vector<T>>(list));
                                     check(in, as<std::vector<T>>(list));
                                   },
                               .each =
                                   [](const void* list, const Visit& visit) {
                                     for (const T& item : as<std::vector<T>>(list)) visit({}, shape, &item);
                                   },
                               .most = most != kMostEntries&& most < std::numeric_limits<std::size_t>::max()
                                           ? static_cast<double>(most)
                                           : kNoLimit,
                               .values = &shape};

inline constexpr const Shape& kTexts = kListOf<std::string, kText>;
inline constexpr const Shape& kRawTexts = kListOf<std::string, kRawText>;

template <class T, std::string T::*name>
void refuse_same_names(Reader& in, const std::vector<T>& all) {
  std::vector<std::string_view> names;
  for (const T& one : all) names.push_back(one.*name);
  in.refuse_twice(std::move(names));
}

template <class T>
bool is_always_written(const T&) {
  return true;
}

/// An object whose names are not known beforehand, as a list of entries that know their names. The shape is that of an
/// entry but for its name.
template <class T, std::string T::*name, const Shape& shape, bool (*is_written)(const T&) = is_always_written<T>>
inline constexpr Shape kEntriesOf{.expected = "an object",
                                  .is_object = true,
                                  .entry = [](Reader& in, void* entries, std::string_view its_name) -> Target {
                                    T& entry = in.one_more(as<std::vector<T>>(entries), kMostEntries);
                                    entry.*name = in.kept(std::string(its_name));
                                    return {&shape, &entry};
                                  },
                                  .end =
                                      [](Reader& in, void* entries) {
                                        in.give_back_spare(as<std::vector<T>>(entries));
                                        refuse_same_names<T, name>(in, as<std::vector<T>>(entries));
                                      },
                                  .each =
                                      [](const void* entries, const Visit& visit) {
                                        for (const T& entry : as<std::vector<T>>(entries)) {
                                          if (is_written(entry)) visit(entry.*name, shape, &entry);
                                        }
                                      },
                                  .values = &shape};

/// A record by its fields.
constexpr Shape record(std::span<const Field> fields, std::string_view help = {},
                       void (*end)(Reader&, void*) = nullptr) {
  return {.expected = "an object", .help = help, .is_object = true, .fields = fields, .end = end};
}
/// The same with a name in schemas, which have it once.
constexpr Shape named(std::string_view name, Shape shape) {
  shape.name = name;
  return shape;
}

/// The same fields and one more.
template <std::size_t count>
constexpr std::array<Field, count + 1> with(const std::array<Field, count>& fields, const Field& more) {
  std::array<Field, count + 1> all{};
  std::copy(fields.begin(), fields.end(), all.begin());
  all.back() = more;
  return all;
}

/// The same, whose fields depend on each other.
constexpr Shape tied(Shape shape, std::span<const Tie> ties) {
  shape.ties = ties;
  return shape;
}

/// Of a list that has one item at least.
constexpr Shape some(Shape list) {
  list.least = 1;
  return list;
}

/// Other fields are errors.
constexpr Shape strict(Shape shape) {
  shape.strict = true;
  return shape;
}

constexpr Shape on_one_line(Shape shape) {
  shape.on_one_line = true;
  return shape;
}

/// The same with a line for each field, item and entry of all that it holds.
constexpr Shape on_many_lines(Shape shape) {
  shape.on_many_lines = true;
  return shape;
}

// --- Fields ---------------------------------------------------------------------------------------------------------

/// The shape that most values of a type have.
template <class T>
constexpr const Shape& usual_shape() {
  if constexpr (requires(T value) { value.has_value(); }) {
    return usual_shape<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return kBoolean;
  } else if constexpr (std::is_same_v<T, double>) {
    return kAmount;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return kWord;
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return kTexts;
  } else if constexpr (std::is_enum_v<T>) {
    return kOneOf<T>;
  } else {
    static_assert(std::is_integral_v<T>, "say which shape this field has");
    return kWhole<T>;
  }
}

/// Where a value is read to.
template <class T>
void* into(T& value) {
  return &value;
}
template <class T>
concept MayBeAbsent = requires(const T& value) {
  value.has_value();
  *value;
};
template <MayBeAbsent T>
void* into(T& value) {
  value = typename T::value_type{};
  return &*value;
}

/// What is written of a value; null: nothing.
template <class T>
const void* from(const T& value, bool always) {
  bool is_nothing = false;
  if constexpr (requires { value.empty(); }) is_nothing = value.empty();
  if constexpr (std::is_arithmetic_v<T>) is_nothing = value == T{};
  return always || !is_nothing ? &value : nullptr;
}
template <MayBeAbsent T>
const void* from(const T& value, bool) {
  return value ? &*value : nullptr;
}

/// What from() may leave out.
template <class T>
concept MayBeNothing = !MayBeAbsent<T> && (std::is_arithmetic_v<T> || requires(const T& value) { value.empty(); });

template <class Record, class Value>
Record record_of(Value Record::*member);
template <class Record, class Value>
Value value_of(Value Record::*member);

/// A field that is a member of the record.
template <auto member, const Shape& shape = usual_shape<decltype(value_of(member))>()>
constexpr Field field(std::string_view name, Rule rule = Rule::required, std::string_view help = {}) {
  using Record = decltype(record_of(member));
  return {name,
          rule,
          &shape,
          [](void* record) { return into(as<Record>(record).*member); },
          [](const void* record, bool always) { return from(as<Record>(record).*member, always); },
          help,
          rule == Rule::if_known && MayBeNothing<decltype(value_of(member))>};
}

template <auto member, const Shape& shape = usual_shape<decltype(value_of(member))>()>
constexpr Field field(std::string_view name, std::string_view help) {
  return field<member, shape>(name, Rule::required, help);
}

/// A field whose shape is of the record itself.
constexpr Field part(std::string_view name, const Shape& shape, Rule rule = Rule::required,
                     std::string_view help = {}) {
  return {name, rule, &shape, [](void* record) { return record; }, [](const void* record, bool) { return record; },
          help};
}

}  // namespace xferbench::json
