// How records look as JSON: a shape says it once, and serves both to read and to write.
//
// Reading is for files that may be large, damaged or hostile: values go straight into the records as the parser finds
// them, what no shape asks for is read over, and neither stack nor memory grows with what a file nests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace xferbench::json {

using Json = nlohmann::ordered_json;

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
                                   std::span<const std::string> known) const;

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

  Reader(std::string name, const Source& source) : name_(std::move(name)), source_(source) {}
  ~Reader() = default;
  [[nodiscard]] std::string place() const;

  std::string name_;
  const Source& source_;
  std::vector<Step> steps_;
};

enum class Rule {
  required,
  optional,  ///< may lack, as in older files, but is always written
  if_known,  ///< may lack, and is not written while it is absent, empty or zero
};

/// A field of a record. Its value is a part of the record, or the record itself where the file nests deeper.
struct Field {
  std::string_view name;
  Rule rule;
  const Shape* shape;
  void* (*into)(void* record);
  /// Null: not written. `always`: even what is empty or zero.
  const void* (*from)(const void* record, bool always);
};

/// What is done with a value of each kind. What is null is refused.
struct Shape {
  std::string_view expected;  ///< as messages call it: "a text"
  void (*text)(Reader& in, void* into, std::string& text) = nullptr;
  void (*whole)(Reader& in, void* into, std::uint64_t value) = nullptr;  ///< else it is a number
  void (*number)(Reader& in, void* into, double value) = nullptr;
  void (*boolean)(Reader& in, void* into, bool value) = nullptr;
  Target (*item)(Reader& in, void* list, std::size_t index) = nullptr;
  bool is_object = false;
  std::span<const Field> fields{};  ///< at most 64
  bool strict = false;              ///< other fields are errors; else they are read over, or handed to:
  Target (*entry)(Reader& in, void* object, std::string_view name) = nullptr;
  void (*end)(Reader& in, void* object) = nullptr;  ///< of an object or a list: checks it, and completes it
  /// Null: as `fields` say. A value that it discards is left out by who holds it.
  void (*write)(const void* from, Json& json) = nullptr;
};

/// Reads a file; "-" is standard input. A mark of UTF-8 at its front is accepted.
void read_file(const std::string& path, Target whole);
/// Reads a text; `name` is what messages call it.
void read_text(std::string_view text, std::string_view name, Target whole);
void write(const Shape& shape, const void* from, Json& json);
/// Fields of a record alone, for shapes that leave out whole records.
void write_fields(std::span<const Field> fields, const void* record, Json& json);

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

extern const Shape kText;
extern const Shape kWord;  ///< a text that says something
extern const Shape kBoolean;
extern const Shape kNumber;  ///< any but NaN and infinities
extern const Shape kAmount;  ///< of 0 or more

void check_whole(Reader& in, std::uint64_t value, std::uint64_t least, std::uint64_t most);
void write_whole(Json& json, std::uint64_t value);
void write_text(Json& json, std::string_view text);
void add_item(Json& list, const Shape& shape, const void* item);
void add_entry(Json& object, const std::string& name, const Shape& shape, const void* entry);
void begin_list(Json& json);
void begin_object(Json& json);

/// A whole number, written without point or exponent.
template <class T, std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<T>::max()>
inline constexpr Shape kWhole{
    .expected = "a whole number of 0 or more",
    .whole =
        [](Reader& in, void* into, std::uint64_t value) {
          check_whole(in, value, least, most);
          as<T>(into) = static_cast<T>(value);
        },
    .write = [](const void* from, Json& json) { write_whole(json, static_cast<std::uint64_t>(as<T>(from))); }};

/// One of the values of an enumeration, by its text.
template <class Enumeration, const auto& values>
inline constexpr Shape kOneOf{
    .expected = "a text",
    .text =
        [](Reader& in, void* into, std::string& text) {
          std::vector<std::string> known;
          for (const Enumeration value : values) {
            if (to_text(value) == text) {
              as<Enumeration>(into) = value;
              return;
            }
            known.emplace_back(to_text(value));
          }
          in.refuse_unknown("found", text, known);
        },
    .write = [](const void* from, Json& json) { write_text(json, to_text(as<Enumeration>(from))); }};

/// The name of the schema: no part of the record, but the first thing that a file says.
template <const std::string_view& schema>
inline constexpr Shape kSchema{.expected = "a text",
                               .text =
                                   [](Reader& in, void*, std::string& text) {
                                     if (text == schema) return;
                                     in.fail("found " + in_quotes(text) + ", expected " + in_quotes(schema) +
                                             ": a file of another kind or of another version of xferbench");
                                   },
                               .write = [](const void*, Json& json) { write_text(json, schema); }};

// --- Shapes of several values ---------------------------------------------------------------------------------------

inline constexpr std::size_t kMostEntries = 10'000;  ///< of the smaller lists, such as metrics and warnings

template <class T>
void nothing_more(Reader&, std::vector<T>&) {}

/// A list of values of one shape. `check` is called at its end.
template <class T, const Shape& shape, std::size_t most = kMostEntries,
          void (*check)(Reader&, std::vector<T>&) = nothing_more<T>>
inline constexpr Shape kListOf{.expected = "a list",
                               .item = [](Reader& in, void* list, std::size_t index) -> Target {
                                 in.refuse_more_than(most, index);
                                 return {&shape, &as<std::vector<T>>(list).emplace_back()};
                               },
                               .end =
                                   [](Reader& in, void* list) {
                                     as<std::vector<T>>(list).shrink_to_fit();
                                     check(in, as<std::vector<T>>(list));
                                   },
                               .write =
                                   [](const void* list, Json& json) {
                                     begin_list(json);
                                     for (const T& item : as<std::vector<T>>(list)) add_item(json, shape, &item);
                                   }};

inline constexpr const Shape& kTexts = kListOf<std::string, kText>;

/// An object whose names are not known beforehand, as a list of entries that know their names. The shape is that of an
/// entry but for its name.
template <class Entry, std::string Entry::*name, const Shape& shape>
inline constexpr Shape kEntriesOf{.expected = "an object",
                                  .is_object = true,
                                  .entry = [](Reader& in, void* entries, std::string_view its_name) -> Target {
                                    in.refuse_more_than(kMostEntries, as<std::vector<Entry>>(entries).size());
                                    Entry& entry = as<std::vector<Entry>>(entries).emplace_back();
                                    entry.*name = its_name;
                                    return {&shape, &entry};
                                  },
                                  .end =
                                      [](Reader& in, void* entries) {
                                        std::vector<std::string_view> names;
                                        for (const Entry& entry : as<std::vector<Entry>>(entries))
                                          names.push_back(entry.*name);
                                        in.refuse_twice(std::move(names));
                                      },
                                  .write =
                                      [](const void* entries, Json& json) {
                                        begin_object(json);
                                        for (const Entry& entry : as<std::vector<Entry>>(entries))
                                          add_entry(json, entry.*name, shape, &entry);
                                      }};

/// A record by its fields.
constexpr Shape record(std::span<const Field> fields, void (*end)(Reader&, void*) = nullptr) {
  return {.expected = "an object", .is_object = true, .fields = fields, .end = end};
}

/// A record in a file that people write: what it does not know is a slip of the hand.
constexpr Shape strict_record(std::span<const Field> fields, void (*end)(Reader&, void*) = nullptr) {
  return {.expected = "an object", .is_object = true, .fields = fields, .strict = true, .end = end};
}

// --- Fields ---------------------------------------------------------------------------------------------------------

template <class Member>
struct MemberOf;
template <class R, class V>
struct MemberOf<V R::*> {
  using Record = R;
  using Value = V;
};

template <class T>
struct Known {
  using Type = T;
  static constexpr bool optional = false;
};
template <class T>
struct Known<std::optional<T>> {
  using Type = T;
  static constexpr bool optional = true;
};

/// The shape that most values of a type have.
template <class T>
constexpr const Shape& usual_shape() {
  if constexpr (std::is_same_v<T, bool>) {
    return kBoolean;
  } else if constexpr (std::is_same_v<T, double>) {
    return kAmount;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return kWord;
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return kTexts;
  } else {
    static_assert(std::is_integral_v<T>, "say which shape this field has");
    return kWhole<T>;
  }
}

template <class T>
bool is_nothing(const T& value) {
  if constexpr (requires { value.empty(); }) return value.empty();
  if constexpr (std::is_arithmetic_v<T>) return value == T{};
  return false;
}

/// A field that is a member of the record.
template <auto member,
          const Shape& shape = usual_shape<typename Known<typename MemberOf<decltype(member)>::Value>::Type>()>
constexpr Field field(std::string_view name, Rule rule = Rule::required) {
  using Record = typename MemberOf<decltype(member)>::Record;
  using Value = typename MemberOf<decltype(member)>::Value;
  return {name, rule, &shape,
          [](void* record) -> void* {
            Value& value = as<Record>(record).*member;
            if constexpr (Known<Value>::optional) {
              value = typename Known<Value>::Type{};
              return &*value;
            } else {
              return &value;
            }
          },
          [](const void* record, [[maybe_unused]] bool always) -> const void* {
            const Value& value = as<Record>(record).*member;
            if constexpr (Known<Value>::optional) {
              return value ? &*value : nullptr;
            } else {
              return always || !is_nothing(value) ? &value : nullptr;
            }
          }};
}

/// A field whose shape is of the record itself.
constexpr Field part(std::string_view name, const Shape& shape, Rule rule = Rule::required) {
  return {name, rule, &shape, [](void* record) { return record; }, [](const void* record, bool) { return record; }};
}

}  // namespace xferbench::json
