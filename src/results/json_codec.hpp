// Describes how C++ records look as JSON. One description (a shape, of type Codec) serves to read, to write, and to
// generate the schemas in docs/.
//
// Reading is safe for large, damaged or hostile files: the parser puts values directly into records, skips what no
// shape describes, and needs neither stack nor memory for deep nesting. Writing works piece by piece for the same
// reason.
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

/// A single value, as parsed or to be written. Does not own its text.
using Single = std::variant<std::nullptr_t, bool, std::uint64_t, double, std::string_view>;

struct Codec;
class Source;

/// Where the reader stores the next value, and the shape that the value must have.
struct Target {
  const Codec* shape = nullptr;  ///< null: skip the value
  void* object = nullptr;
};

/// The state of reading a file. All failures throw InputError: one line with the file, the line in it, the place
/// (results[3].key), what was found, and what was expected.
class Reader {
 public:
  [[noreturn]] void fail(const std::string& what) const;

  // --- The single value that the parser found, for use by Codec::take; functions fail if its kind differs ---
  [[nodiscard]] bool is_text() const { return std::holds_alternative<std::string_view>(found_); }
  [[nodiscard]] bool is_whole() const { return std::holds_alternative<std::uint64_t>(found_); }
  /// Returns the text for display: control characters are replaced (core/printable.hpp).
  [[nodiscard]] std::string as_text();
  /// Returns the text unchanged, for texts that are parsed further.
  [[nodiscard]] std::string as_raw_text();
  [[nodiscard]] bool as_boolean() const { return as_kind<bool>(); }
  [[nodiscard]] double as_number() const;
  /// Returns the number, which must be between `least` and `most`. Fails for numbers with a point or an exponent.
  [[nodiscard]] std::uint64_t as_whole(std::uint64_t least, std::uint64_t most) const;
  /// Returns the index of the text in `texts`; fails if it is not there.
  [[nodiscard]] std::size_t as_one_of(std::span<const std::string_view> texts) const;
  /// Fails because the value is not what the shape expects.
  [[noreturn]] void refuse() const;
  /// Fails unless a number, or the size of a text in bytes, is within the limits of the shape.
  void check_limits(double amount) const;

  // --- The current object or list, for use by Codec::end ---
  /// Whether the text of the object contains this field.
  [[nodiscard]] bool has(std::string_view field) const;
  [[nodiscard]] std::size_t items() const { return steps_.back().items; }
  /// Remembers a number that the record does not store. Codec::end reads it by noted() to check the record.
  void note(std::uint64_t number) { steps_.back().noted = number; }
  [[nodiscard]] std::uint64_t noted() const { return steps_.back().noted; }

  // --- Checks ---
  void refuse_more_than(std::size_t most, std::size_t entries) const;
  void refuse_twice(std::vector<std::string_view> names) const;
  /// Fails because `word` is not one of `known`; the message suggests a similar word of `known`.
  [[noreturn]] void refuse_unknown(std::string_view found, std::string_view word,
                                   std::span<const std::string_view> known) const;

  // --- Memory: rejects files whose values need far more memory than their text, which no real file does ---
  /// Counts `bytes`, which stay allocated. `besides` bytes are allocated only for a moment. Fails if the sum is
  /// implausible.
  void account_for(std::size_t bytes, std::size_t besides = 0);
  /// Counts the memory of a text and returns the text.
  [[nodiscard]] std::string kept(std::string text);
  /// Adds an item to a list and returns it. Fails if the list already has `most` items.
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
  /// Frees unused capacity of a complete list.
  template <class T>
  void give_back_spare(std::vector<T>& list) {
    const std::size_t before = list.capacity();
    list.shrink_to_fit();
    taken_ -= (before - list.capacity()) * sizeof(T);
    if (!list.empty()) account_for(kAllocation);
  }

 protected:
  /// One level of nesting: an object or a list that is being read.
  struct Step {
    Target target;
    std::string name{};  // name of the current field
    std::size_t items = 0;
    std::uint64_t seen = 0;  // fields found so far: bit i is set for field i of the shape
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

  static constexpr std::size_t kAllocation = 16;  // bytes of overhead of an allocation

  std::string name_;
  Source& source_;
  std::vector<Step> steps_;
  Single found_;
  const Codec* wanted_ = nullptr;  // shape that found_ must have
  std::size_t taken_ = 0;          // bytes of memory that lists and texts take
};

enum class Rule {
  required,
  optional,    ///< may be missing, as in older files, but is always written
  omit_empty,  ///< may be missing; written only if present, not empty and not zero
};

/// A JSON field of a record. The functions `into` and `from` return the address of a member of the record. For a nested
/// object or a computed value that is no member, they return the address of the record.
struct Field {
  std::string_view name{};
  Rule rule = Rule::required;
  const Codec* shape = nullptr;
  void* (*into)(void* record) = nullptr;
  /// Returns the value's address; null if the field is not written. `always`: write even empty and zero values.
  const void* (*from)(const void* record, bool always) = nullptr;
  std::string_view help{};  ///< text for the schema: unit and meaning of the field, and when it is absent
  bool leaves_out = false;  ///< empty and zero values are not written
};

/// For the schema: a condition (the field has this word, or at least this value) and its consequences for other fields.
struct Tie {
  using Names = std::array<std::string_view, 4>;
  std::string_view field{};
  std::string_view word{};
  int least = 0;
  Names filled{};  ///< fields that must not be empty if the condition holds
  Names empty{};   ///< fields that must be empty if the condition holds
  Names else_filled{};
  Names else_empty{};
};
/// For the schema: at least one of two fields must be present; with `only_one`, exactly one.
struct Choice {
  std::array<std::string_view, 2> of{};
  bool only_one = false;
};
struct Known;

/// A function that is called for each item of a list (without a name) or entry of an object.
using Visit = std::function<void(std::string_view name, const Codec& shape, const void* value)>;

/// Value of Codec::least and Codec::most without a limit.
inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// The shape of a C++ value in JSON: how to read, write and check it. A JSON value of a kind that no
/// function of the Codec reads is rejected.
struct Codec {
  std::string_view expected{};  ///< name in messages: "a text"
  std::string_view help{};      ///< text for the schema, used if the field has none of its own

  // --- A single value ---
  void (*take)(Reader& in, void* into) = nullptr;
  Single (*give)(const void* from) = nullptr;

  // --- A list or an object ---
  Target (*item)(Reader& in, void* list, std::size_t index) = nullptr;
  bool is_object = false;
  std::span<const Field> fields{};  ///< at most 64 fields
  bool strict = false;  ///< fields that are not in `fields` are errors, unless `entry` reads them; false: skip them
  Target (*entry)(Reader& in, void* object, std::string_view name) = nullptr;
  void (*end)(Reader& in, void* object) = nullptr;  ///< called after an object or list, to check and complete it
  void (*each)(const void* from, const Visit& visit) = nullptr;  ///< visits items or entries, to write them
  bool on_one_line = false;    ///< write on one line, even with nested lists or objects
  bool on_many_lines = false;  ///< write each part on a line, at all levels, even single values

  // --- What is legal ---
  std::array<std::string_view, 2> types{};
  double least = -kNoLimit;  ///< smallest number, fewest bytes of a text, or fewest items of a list
  double most = kNoLimit;    ///< largest number, most bytes of a text, or most items of a list
  bool above = false;        ///< excludes `least` itself
  std::vector<std::string_view> (*words)() = nullptr;  ///< returns the only legal texts

  // --- For the schema alone ---
  std::string_view name{};                  ///< name of the shape in the schema's "$defs"; empty: not there
  std::string_view pattern{};               ///< regular expression for a text, or for the names of entries
  const Codec* values = nullptr;            ///< shape of items or entries
  std::vector<Known> (*known)() = nullptr;  ///< returns the entries with known names
  std::span<const Tie> ties{};
  std::span<const Choice> choices{};
};

/// For the schema: an entry of an object whose name is known.
struct Known {
  std::string_view name{};
  Codec shape{};
  Rule rule = Rule::optional;
};

/// Returns the JSON Schema of files that hold one of these shapes.
std::string schema_of(std::initializer_list<const Codec*> files, std::string_view help);
inline std::string schema_of(const Codec& file) { return schema_of({&file}, file.help); }

/// Reads a JSON file into `whole`; "-" is standard input. Accepts a byte order mark.
void read_file(const std::string& path, Target whole);
/// Parses the first `bytes` bytes of an open file as if the text `then` followed them, for example to close an
/// unfinished journal; `name` is used in messages.
void read_beginning(int file, const std::string& name, std::uint64_t bytes, std::string_view then, Target whole);
/// Reads a text; `name` is used in messages.
void read_text(std::string_view text, std::string_view name, Target whole);
template <class Record>
Record record_from_file(const std::string& path, const Codec& shape, Record record = {}) {
  read_file(path, {&shape, &record});
  return record;
}
template <class Record>
Record record_from_text(std::string_view text, std::string_view name, const Codec& shape, Record record = {}) {
  read_text(text, name, {&shape, &record});
  return record;
}
/// A function that returns the existing JSON text of a list or an object; nothing if there is no such text yet.
using Ready = std::function<std::optional<std::string>(const Codec& shape, const void* value)>;
/// Writes a record and a final line feed. Lists and objects that hold only single values are on one line.
void write(const Codec& shape, const void* record, const Sink& sink, const Ready& ready = {});
/// Returns the JSON text of a part at nesting depth `level` of a record, without the blanks before it.
std::string text_within(const Codec& shape, const void* part, std::size_t level);
/// Returns what write() writes.
std::string text_of(const Codec& shape, const void* record);

/// Returns a text for use in a one-line message: in quotes, without control characters, shortened.
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

// Functions for Codec::take and give. Texts and numbers must be within the limits of their shape.
void take_text(Reader& in, void* into);
void take_raw_text(Reader& in, void* into);
void take_boolean(Reader& in, void* into);
void take_number(Reader& in, void* into);
template <class T>
Single give_as(const void* from) {
  return as<T>(from);
}

/// Returns the shape with other limits and another name in messages.
constexpr Codec within(Codec shape, std::string_view expected, double least, double most = kNoLimit) {
  shape.expected = expected;
  shape.least = least;
  shape.most = most;
  return shape;
}
/// Returns the shape with another name in messages.
constexpr Codec expecting(Codec shape, std::string_view expected) {
  shape.expected = expected;
  return shape;
}
constexpr Codec helped(Codec shape, std::string_view help) {
  shape.help = help;
  return shape;
}
/// Returns the shape with a regular expression. Only the schema demands it; reading accepts the texts of older files.
constexpr Codec like(Codec shape, std::string_view pattern) {
  shape.pattern = pattern;
  return shape;
}
/// Pattern for the names of metrics, labels and flags, which other programs rely on.
inline constexpr std::string_view kNamePattern = "^[a-z][a-z0-9_-]*$";

inline constexpr Codec kText{
    .expected = "a text", .take = take_text, .give = give_as<std::string>, .types = {"string"}};
/// A text that is read without changes.
inline constexpr Codec kRawText{
    .expected = "a text", .take = take_raw_text, .give = give_as<std::string>, .types = {"string"}};
inline constexpr Codec kWord = within(kText, "a text that is not empty", 1);
/// Pattern of times: ISO 8601, UTC.
inline constexpr std::string_view kTimePattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$";
inline constexpr Codec kTime = like(kWord, kTimePattern);
inline constexpr Codec kTimeOrNone = like(kText, kTimePattern);
inline constexpr Codec kBoolean{
    .expected = "true or false", .take = take_boolean, .give = give_as<bool>, .types = {"boolean"}};
/// Any number but NaN and infinities.
inline constexpr Codec kNumber{
    .expected = "a number", .take = take_number, .give = give_as<double>, .types = {"number"}};
inline constexpr Codec kAmount = within(kNumber, "a number of 0 or more", 0);

template <class T, std::uint64_t fewest = 0, std::uint64_t most = std::numeric_limits<T>::max()>
inline constexpr Codec kWhole{
    .expected = "a whole number of 0 or more",
    .take = [](Reader& in, void* into) { as<T>(into) = static_cast<T>(in.as_whole(fewest, most)); },
    .give = [](const void* from) -> Single { return static_cast<std::uint64_t>(as<T>(from)); },
    .types = {"integer"},
    .least = static_cast<double>(fewest),
    .most = most < std::numeric_limits<T>::max() ? static_cast<double>(most) : kNoLimit};

/// Returns the array `texts` as a vector, in the form that Codec::words needs.
template <const auto& texts>
std::vector<std::string_view> words_of() {
  return {texts.begin(), texts.end()};
}

template <class E>
inline constexpr auto kTextsOf = texts_of(E{});
/// The shape of an enumeration: a value is written as its text.
template <class E>
inline constexpr Codec kOneOf{
    .expected = "a text",
    .take = [](Reader& in, void* into) { as<E>(into) = static_cast<E>(in.as_one_of(kTextsOf<E>)); },
    .give = [](const void* from) -> Single { return to_text(as<E>(from)); },
    .words = words_of<kTextsOf<E>>};

/// The shape of the first field of a file: the name of its schema, which is not stored in the record.
template <const std::string_view& schema>
inline constexpr Codec kSchema{.expected = "a text",
                               .take =
                                   [](Reader& in, void*) {
                                     const std::string found = in.as_text();
                                     if (found == schema) return;
                                     in.fail("found " + in_quotes(found) + ", expected " + in_quotes(schema) +
                                             ": a file of another kind, or from another version of xferbench");
                                   },
                               .give = [](const void*) -> Single { return schema; },
                               .words = [] { return std::vector<std::string_view>{schema}; }};

// --- Shapes of several values ---------------------------------------------------------------------------------------

/// Most entries of the smaller lists, such as metrics and warnings.
inline constexpr std::size_t kMostEntries = 10'000;

template <class T>
void accept_all(Reader&, std::vector<T>&) {}

/// The shape of a list of values that all have the same shape. `check` is called at the end of the list.
template <class T, const Codec& shape, std::size_t most = kMostEntries,
          void (*check)(Reader&, std::vector<T>&) = accept_all<T>>
inline constexpr Codec kListOf{.expected = "a list",
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

inline constexpr const Codec& kTexts = kListOf<std::string, kText>;
inline constexpr const Codec& kRawTexts = kListOf<std::string, kRawText>;

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

/// The shape of an object with arbitrary names, which is read into a list of entries that hold their names. `shape`:
/// shape of an entry without its name.
template <class T, std::string T::*name, const Codec& shape, bool (*is_written)(const T&) = is_always_written<T>>
inline constexpr Codec kEntriesOf{.expected = "an object",
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

constexpr Codec record(std::span<const Field> fields, std::string_view help = {},
                       void (*end)(Reader&, void*) = nullptr) {
  return {.expected = "an object", .help = help, .is_object = true, .fields = fields, .end = end};
}
/// Returns the shape with a name. A schema defines a named shape once, and refers to it by the name.
constexpr Codec named(std::string_view name, Codec shape) {
  shape.name = name;
  return shape;
}

template <std::size_t count>
constexpr std::array<Field, count + 1> with(const std::array<Field, count>& fields, const Field& more) {
  std::array<Field, count + 1> all{};
  std::copy(fields.begin(), fields.end(), all.begin());
  all.back() = more;
  return all;
}

/// Returns the shape with conditions between its fields.
constexpr Codec tied(Codec shape, std::span<const Tie> ties) {
  shape.ties = ties;
  return shape;
}

/// Returns the shape of a list that must have at least one item.
constexpr Codec some(Codec list) {
  list.least = 1;
  return list;
}

/// Returns the shape, changed such that fields not listed in it are errors.
constexpr Codec strict(Codec shape) {
  shape.strict = true;
  return shape;
}

constexpr Codec on_one_line(Codec shape) {
  shape.on_one_line = true;
  return shape;
}

/// Returns the shape, changed such that each field, item and entry, at all levels, is written on a line of its own.
constexpr Codec on_many_lines(Codec shape) {
  shape.on_many_lines = true;
  return shape;
}

// --- Fields ---------------------------------------------------------------------------------------------------------

template <class T>
constexpr const Codec& default_codec() {
  if constexpr (requires(T value) { value.has_value(); }) {
    return default_codec<typename T::value_type>();
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

/// Returns the address into which a value is read. For a std::optional, first creates its value.
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

/// Returns the address of the value to write; null if nothing is to be written.
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

/// Types for which from() may return null because the value is empty or zero.
template <class T>
concept MayBeNothing = !MayBeAbsent<T> && (std::is_arithmetic_v<T> || requires(const T& value) { value.empty(); });

template <class Record, class Value>
Record record_of(Value Record::*member);
template <class Record, class Value>
Value value_of(Value Record::*member);

/// Describes a JSON field that is stored in a member of the record.
template <auto member, const Codec& shape = default_codec<decltype(value_of(member))>()>
constexpr Field field(std::string_view name, Rule rule = Rule::required, std::string_view help = {}) {
  using Record = decltype(record_of(member));
  return {name,
          rule,
          &shape,
          [](void* record) { return into(as<Record>(record).*member); },
          [](const void* record, bool always) { return from(as<Record>(record).*member, always); },
          help,
          rule == Rule::omit_empty && MayBeNothing<decltype(value_of(member))>};
}

template <auto member, const Codec& shape = default_codec<decltype(value_of(member))>()>
constexpr Field field(std::string_view name, std::string_view help) {
  return field<member, shape>(name, Rule::required, help);
}

/// Describes a JSON field that is a nested object or computed value: its shape applies to the record itself.
constexpr Field part(std::string_view name, const Codec& shape, Rule rule = Rule::required,
                     std::string_view help = {}) {
  return {name, rule, &shape, [](void* record) { return record; }, [](const void* record, bool) { return record; },
          help};
}

}  // namespace xferbench::json
