#include "results/json_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <istream>
#include <memory>
#include <nlohmann/json.hpp>
#include <streambuf>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/spelling.hpp"

namespace xferbench::json {

namespace {

constexpr std::size_t kPiece = 1 << 18;           // bytes that are read at once
constexpr std::size_t kMostPieces = 5;            // that one text or number may reach over: 1 MiB and what is begun
constexpr std::uint64_t kMostBytes = 1ULL << 32;  // a file that never ends must end somewhere
constexpr unsigned kDeepest = 64;                 // levels of what is read over

/// As much of a text as suits a message, not cut within a character.
std::string_view beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return "'" + printable(beginning(text, kMost)) + (text.size() > kMost ? "...'" : "'");
}

// --- The bytes of a file --------------------------------------------------------------------------------------------

/// A file, a piece at a time. Knows the line that is being read, and refuses what has no end.
class Source : public std::streambuf {
 public:
  Source(std::FILE* file, std::string name) : file_(file), name_(std::move(name)), piece_(kPiece) {}

  /// The parser has understood all that it took.
  void understood() { pieces_ = 0; }
  [[nodiscard]] std::size_t line() const {
    const std::string_view taken(eback(), static_cast<std::size_t>(gptr() - eback()));
    // Numbers end with the character behind them, which may be a line's end.
    return 1 + lines_ + static_cast<std::size_t>(std::ranges::count(taken.substr(0, taken.size() - 1), '\n'));
  }

 protected:
  int_type underflow() override {
    lines_ += static_cast<std::size_t>(std::count(eback(), egptr(), '\n'));
    setg(nullptr, nullptr, nullptr);
    if (++pieces_ > kMostPieces) {
      throw InputError(fmt::format("{}:{}: a text, a number or blanks of more than 1 MiB", name_, line()));
    }
    errno = 0;
    const std::size_t size = std::fread(piece_.data(), 1, piece_.size(), file_);
    if (std::ferror(file_) != 0) throw InputError(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
    bytes_ += size;
    if (bytes_ > kMostBytes) throw InputError(fmt::format("{}: more than 4 GiB; nobody writes that", name_));
    setg(piece_.data(), piece_.data(), piece_.data() + size);
    return size == 0 ? traits_type::eof() : traits_type::to_int_type(piece_[0]);
  }

 private:
  std::FILE* file_;
  std::string name_;
  std::vector<char> piece_;
  std::size_t pieces_ = 0;
  std::size_t lines_ = 0;  // before this piece
  std::uint64_t bytes_ = 0;
};

// --- Messages -------------------------------------------------------------------------------------------------------

std::string Reader::place() const {
  std::string place;
  for (const Step& step : steps_) {
    if (!step.inside) continue;
    if (step.is_list) {
      place += fmt::format("[{}]", step.items - 1);
    } else {
      const std::string name = in_quotes(step.name);
      place += (place.empty() ? "" : ".") + name.substr(1, name.size() - 2);
    }
  }
  return place;
}

void Reader::fail(const std::string& what) const {
  const std::string at = place();
  throw InputError(fmt::format("{}:{}: {}{}{}", name_, source_.line(), at, at.empty() ? "" : ": ", what));
}

bool Reader::has(std::string_view field) const {
  const Step& step = steps_.back();
  const std::span<const Field> fields = step.target.shape->fields;
  const auto found = std::ranges::find(fields, field, &Field::name);
  return found != fields.end() && (step.seen >> (found - fields.begin()) & 1U) != 0;
}

void Reader::refuse_more_than(std::size_t most, std::size_t entries) const {
  if (entries >= most) fail(fmt::format("more than {} entries", most));
}

void Reader::refuse_twice(std::vector<std::string_view> names) const {
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) fail(fmt::format("{} is there twice", in_quotes(*twice)));
}

void Reader::refuse_unknown(std::string_view found, std::string_view word, std::span<const std::string> known) const {
  fail(fmt::format("{} {}, expected one of {}{}", found, in_quotes(word), fmt::join(known, ", "),
                   suggestion(beginning(word, 60), known)));
}

// --- Reading --------------------------------------------------------------------------------------------------------

namespace {

/// What the parser calls as it goes through a file.
class Events : public Reader {
 public:
  Events(std::string name, Source& source, Target whole)
      : Reader(std::move(name), source), bytes_(source), whole_(whole) {}

  bool null() {
    return scalar([](const Target&) { return false; }, [] { return std::string("null"); });
  }
  bool boolean(bool value) {
    return scalar([&](const Target& to) { return give(to.shape->boolean, to, value); },
                  [&] { return std::string(value ? "true" : "false"); });
  }
  bool number_integer(std::int64_t value) {
    return scalar([&](const Target& to) { return give(to.shape->number, to, static_cast<double>(value)); },
                  [&] { return fmt::format("the number {}", value); });
  }
  bool number_unsigned(std::uint64_t value) {
    return scalar(
        [&](const Target& to) {
          return give(to.shape->whole, to, value) || give(to.shape->number, to, static_cast<double>(value));
        },
        [&] { return fmt::format("the number {}", value); });
  }
  bool number_float(double value, const std::string& written) {
    return scalar([&](const Target& to) { return give(to.shape->number, to, value); },
                  [&] { return "the number " + written.substr(0, 40); });
  }
  bool string(std::string& text) {
    return scalar([&](const Target& to) { return give<std::string&>(to.shape->text, to, text); },
                  [&] { return in_quotes(text); });
  }
  bool binary(const Json::binary_t&) { return false; }  // there is none in JSON

  bool start_object(std::size_t) { return begin(false); }
  bool start_array(std::size_t) { return begin(true); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }

  bool key(const std::string& name) {
    bytes_.understood();
    if (skipping_ > 0) return true;
    Step& step = steps_.back();
    step.name = name;
    step.inside = true;
    field_ = field_of(step);
    return true;
  }

  /// Of what is no JSON, and of numbers that are too large.
  [[noreturn]] bool parse_error(std::size_t, const std::string&, const Json::exception& error) {
    std::string what = error.what();
    what.erase(0, what.find("] ") + 2);  // the library's own number of the error
    if (what.starts_with("parse error at ")) what.erase(0, what.find(": ") + 2);
    constexpr std::string_view kToken = "last read: '";
    if (const std::size_t token = what.find(kToken); token != std::string::npos) {
      const std::size_t begin = token + kToken.size();
      what = what.substr(0, begin) + what.substr(begin, 40) + (what.size() > begin + 40 ? "..." : "");
    }
    // What is no JSON need not be UTF-8 either.
    std::ranges::replace_if(
        what, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    fail(printable(what) + (!begun_ ? fmt::format("; expected {}", whole_.shape->expected) : ""));
  }

 private:
  template <class Value>
  bool give(void (*handler)(Reader&, void*, Value), const Target& to, std::type_identity_t<Value> value) {
    if (handler != nullptr) handler(*this, to.object, value);
    return handler != nullptr;
  }

  template <class Give, class Found>
  bool scalar(const Give& given, const Found& found) {
    bytes_.understood();
    const Target to = next();
    if (to.shape != nullptr && !given(to)) refuse(to, found());
    return true;
  }

  [[noreturn]] void refuse(const Target& to, const std::string& found) const {
    fail(fmt::format("found {}, expected {}", found, to.shape->expected));
  }

  /// Where the value that begins now goes.
  Target next() {
    if (skipping_ > 0) return {};
    if (steps_.empty()) return whole_;
    Step& step = steps_.back();
    if (!step.is_list) return field_;
    step.inside = true;
    ++step.items;
    return step.target.shape->item(*this, step.target.object, step.items - 1);
  }

  Target field_of(Step& step) {
    const auto& [shape, object] = step.target;
    for (std::size_t i = 0; i < shape->fields.size(); ++i) {
      const Field& field = shape->fields[i];
      if (field.name != step.name) continue;
      if ((step.seen >> i & 1U) != 0) fail("this field is there twice");
      step.seen |= std::uint64_t{1} << i;
      return {field.shape, field.into(object)};
    }
    if (shape->entry != nullptr) return shape->entry(*this, object, step.name);
    if (!shape->strict) return {};
    std::vector<std::string> known;
    for (const Field& field : shape->fields) known.emplace_back(field.name);
    refuse_unknown("unknown field", step.name, known);
  }

  bool begin(bool is_list) {
    begun_ = true;
    bytes_.understood();
    const Target to = next();
    if (to.shape == nullptr) {
      if (++skipping_ > kDeepest) fail(fmt::format("nested more than {} deep", kDeepest));
      return true;
    }
    if (is_list ? to.shape->item == nullptr : !to.shape->is_object) refuse(to, is_list ? "a list" : "an object");
    steps_.push_back({.target = to, .is_list = is_list});
    return true;
  }

  bool end() {
    bytes_.understood();
    if (skipping_ > 0) {
      --skipping_;
      return true;
    }
    Step& step = steps_.back();
    step.inside = false;
    const auto& [shape, object] = step.target;
    for (std::size_t i = 0; i < shape->fields.size() && !step.is_list; ++i) {
      const bool lacks = shape->fields[i].rule == Rule::required && (step.seen >> i & 1U) == 0;
      if (lacks) fail(fmt::format("has no '{}'", shape->fields[i].name));
    }
    if (shape->end != nullptr) shape->end(*this, object);
    steps_.pop_back();
    return true;
  }

  Source& bytes_;
  Target whole_;
  Target field_;           // of the field whose name was read last
  bool begun_ = false;     // a value was found
  unsigned skipping_ = 0;  // levels of what is read over
};

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

void read_from(std::FILE* file, const std::string& name, Target whole) {
  Source source(file, name);
  Events events(name, source, whole);
  std::istream stream(&source);
  Json::sax_parse(stream, &events);
}

}  // namespace

void read_file(const std::string& path, Target whole) {
  if (path == "-") return read_from(stdin, "standard input", whole);
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) throw InputError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  read_from(file.get(), path, whole);
}

void read_text(std::string_view text, std::string_view name, Target whole) {
  std::string copy(text.empty() ? " " : text);
  const File file(fmemopen(copy.data(), copy.size(), "r"));
  if (!file) throw InputError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  read_from(file.get(), std::string(name), whole);
}

// --- Writing --------------------------------------------------------------------------------------------------------

void write_fields(std::span<const Field> fields, const void* record, Json& json) {
  json = Json::object();
  for (const Field& field : fields) {
    const void* value = field.from(record, field.rule != Rule::if_known);
    if (value != nullptr) add_entry(json, std::string(field.name), *field.shape, value);
  }
}

void write(const Shape& shape, const void* from, Json& json) {
  if (shape.write != nullptr) return shape.write(from, json);
  write_fields(shape.fields, from, json);
}

void write_whole(Json& json, std::uint64_t value) { json = value; }
void write_text(Json& json, std::string_view text) { json = text; }
void begin_list(Json& json) { json = Json::array(); }
void begin_object(Json& json) { json = Json::object(); }

void add_item(Json& list, const Shape& shape, const void* item) { write(shape, item, list.emplace_back()); }

void add_entry(Json& object, const std::string& name, const Shape& shape, const void* entry) {
  Json value;
  write(shape, entry, value);
  if (!value.is_discarded()) object[name] = std::move(value);
}

// --- Shapes of single values ----------------------------------------------------------------------------------------

void check_whole(Reader& in, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  if (value >= least && value <= most) return;
  in.fail(fmt::format("found the number {}, expected a whole number from {} to {}", value, least, most));
}

constexpr Shape kText{.expected = "a text",
                      .text = [](Reader&, void* into, std::string& text) { as<std::string>(into) = text; },
                      .write = [](const void* from, Json& json) { json = as<std::string>(from); }};

constexpr Shape kWord{.expected = "a text",
                      .text =
                          [](Reader& in, void* into, std::string& text) {
                            if (text.empty()) in.fail("found an empty text, expected one that says something");
                            as<std::string>(into) = text;
                          },
                      .write = kText.write};

constexpr Shape kBoolean{.expected = "true or false",
                         .boolean = [](Reader&, void* into, bool value) { as<bool>(into) = value; },
                         .write = [](const void* from, Json& json) { json = as<bool>(from); }};

constexpr Shape kNumber{.expected = "a number",
                        .number = [](Reader&, void* into, double value) { as<double>(into) = value; },
                        .write = [](const void* from, Json& json) { json = as<double>(from); }};

constexpr Shape kAmount{.expected = "a number of 0 or more",
                        .number =
                            [](Reader& in, void* into, double value) {
                              if (value < 0)
                                in.fail(fmt::format("found the number {}, expected a number of 0 or more", value));
                              as<double>(into) = value;
                            },
                        .write = kNumber.write};

}  // namespace xferbench::json
