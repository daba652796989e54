#include "results/json_codec.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <istream>
#include <memory>
#include <nlohmann/json.hpp>
#include <streambuf>
#include <utility>

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/printable.hpp"
#include "core/spelling.hpp"
#include "results/file_io.hpp"

namespace xferbench::json {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kPiece = 1 << 18;  // bytes read at once
constexpr std::size_t kMostPieces = 5;   // pieces that a text or number of 1 MiB spans if it begins within a piece
constexpr std::uint64_t kMostBytes = 1ULL << 32;  // largest accepted file in bytes, against endless files
constexpr unsigned kDeepest = 64;                 // most nesting levels of skipped values

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return "'" + printable(shortened(text, kMost)) + "'";
}

// --- The bytes of a file --------------------------------------------------------------------------------------------

/// Stream buffer that reads a file piece by piece, counts its lines, and rejects endless files and texts.
class Source : public std::streambuf {
 public:
  /// Reads at most `most` bytes of the file, then the text `then`.
  Source(std::FILE* file, std::string name, std::uint64_t most = kMostBytes + 1, std::string_view then = {})
      : file_(file), name_(std::move(name)), piece_(kPiece), left_(most), then_(then) {}

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Whether the parser tried to read beyond the end.
  [[nodiscard]] bool is_at_its_end() const { return ended_; }
  /// Called when the parser has completed a token. The next token may be as long as kMostPieces allows.
  void understood() { pieces_ = 0; }
  [[nodiscard]] std::size_t line() const {
    const std::string_view taken(eback(), static_cast<std::size_t>(gptr() - eback()));
    // Leave out the last character: the parser ends a number by the character after it, which may be a line feed.
    return 1 + lines_ + static_cast<std::size_t>(std::ranges::count(taken.substr(0, taken.size() - 1), '\n'));
  }

 protected:
  int_type underflow() override {
    lines_ += static_cast<std::size_t>(std::count(eback(), egptr(), '\n'));
    setg(nullptr, nullptr, nullptr);
    if (++pieces_ > kMostPieces) {
      throw InputError(fmt::format("{}:{}: a text, a number or white space longer than 1 MiB", name_, line()));
    }
    errno = 0;
    const std::size_t size = next_piece();
    if (std::ferror(file_) != 0) throw InputError(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
    if (bytes_ == 0) refuse_compressed({piece_.data(), size});
    bytes_ += size;
    if (bytes_ > kMostBytes)
      throw InputError(fmt::format("{}: larger than 4 GiB; xferbench writes no such file", name_));
    setg(piece_.data(), piece_.data(), piece_.data() + size);
    ended_ = size == 0;
    return size == 0 ? traits_type::eof() : traits_type::to_int_type(piece_[0]);
  }

 private:
  std::size_t next_piece() {
    std::size_t size = std::fread(piece_.data(), 1, std::min<std::uint64_t>(piece_.size(), left_), file_);
    left_ -= size;
    if (size == 0) {
      size = then_.copy(piece_.data(), piece_.size());
      then_ = {};
    }
    return size;
  }

  void refuse_compressed(std::string_view begins) const {
    constexpr std::pair<std::string_view, std::string_view> kKinds[] = {{"\xfd"
                                                                         "7zXZ",
                                                                         "xz -dk"},
                                                                        {"\x1f\x8b", "gunzip -k"},
                                                                        {"\x28\xb5\x2f\xfd", "zstd -d"}};
    for (const auto& [magic, command] : kKinds) {
      if (!begins.starts_with(magic)) continue;
      throw InputError(
          fmt::format("{} is compressed; {} unpacks it to a file that xferbench can read", name_, command));
    }
  }

  std::FILE* file_;
  std::string name_;
  std::vector<char> piece_;
  std::uint64_t left_;     // bytes of the file that may still be read
  std::string_view then_;  // text to read after the file, shorter than a piece
  std::size_t pieces_ = 0;
  std::size_t lines_ = 0;  // number of lines in the pieces before this one
  std::uint64_t bytes_ = 0;
  bool ended_ = false;
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

void Reader::refuse() const {
  const auto describe = [](const auto& value) -> std::string {
    using Kind = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Kind, std::nullptr_t>) return "null";
    if constexpr (std::is_same_v<Kind, std::string_view>) return in_quotes(value);
    if constexpr (std::is_same_v<Kind, bool>) return value ? "true" : "false";
    if constexpr (std::is_arithmetic_v<Kind>) return fmt::format("the number {}", value);
  };
  fail(fmt::format("found {}, expected {}", std::visit(describe, found_), wanted_->expected));
}

void Reader::check_limits(double amount) const {
  if (amount >= wanted_->least && amount <= wanted_->most) return;
  refuse();
}

double Reader::as_number() const {
  return is_whole() ? static_cast<double>(as_kind<std::uint64_t>()) : as_kind<double>();
}

std::uint64_t Reader::as_whole(std::uint64_t least, std::uint64_t most) const {
  const std::uint64_t value = as_kind<std::uint64_t>();
  if (value >= least && value <= most) return value;
  fail(fmt::format("found the number {}, expected a whole number from {} to {}", value, least, most));
}

std::size_t Reader::as_one_of(std::span<const std::string_view> texts) const {
  const auto text = as_kind<std::string_view>();
  const auto known = std::ranges::find(texts, text);
  if (known == texts.end()) refuse_unknown("found", text, texts);
  return static_cast<std::size_t>(known - texts.begin());
}

void Reader::refuse_more_than(std::size_t most, std::size_t entries) const {
  if (entries >= most) fail(fmt::format("more than {} entries", most));
}

void Reader::refuse_twice(std::vector<std::string_view> names) const {
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) fail(fmt::format("{} occurs twice", in_quotes(*twice)));
}

void Reader::refuse_unknown(std::string_view found, std::string_view word,
                            std::span<const std::string_view> known) const {
  const std::vector<std::string> words(known.begin(), known.end());
  fail(fmt::format("{} {}, expected one of {}{}", found, in_quotes(word), fmt::join(words, ", "),
                   suggestion(word, words)));
}

void Reader::account_for(std::size_t bytes, std::size_t besides) {
  constexpr std::size_t kFree = 12 << 20;
  taken_ += bytes;
  if (taken_ + besides <= kFree + 2 * source_.bytes()) return;
  fail(
      fmt::format("the values up to here take {} MiB of memory, more than twice the size of their text; xferbench "
                  "writes no such file",
                  (taken_ + besides) >> 20U));
}

std::string Reader::kept(std::string text) {
  static const std::size_t within = std::string().capacity();  // a short text is stored within the object itself
  if (text.capacity() > within) account_for(text.capacity() + 1 + kAllocation);
  return text;
}

std::string Reader::as_text() { return kept(printable(as_kind<std::string_view>())); }

std::string Reader::as_raw_text() { return kept(std::string(as_kind<std::string_view>())); }

// --- Reading --------------------------------------------------------------------------------------------------------

namespace {

/// A Reader with the callbacks of nlohmann's SAX parser.
class Events : public Reader {
 public:
  Events(std::string name, Source& source, Target whole) : Reader(std::move(name), source), whole_(whole) {}

  bool null() { return single(nullptr); }
  bool boolean(bool value) { return single(value); }
  bool number_integer(std::int64_t value) { return single(static_cast<double>(value)); }
  bool number_unsigned(std::uint64_t value) { return single(value); }
  bool number_float(double value, const std::string&) { return single(value); }
  bool string(const std::string& text) { return single(std::string_view(text)); }
  bool binary(const Json::binary_t&) { return false; }  // JSON has no binary values

  bool start_object(std::size_t) { return begin(false); }
  bool start_array(std::size_t) { return begin(true); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }

  bool key(const std::string& name) {
    source_.understood();
    if (skipping_ > 0) return true;
    Step& step = steps_.back();
    step.name = find_control(name).bytes == 0 ? name : printable(name);
    step.inside = true;
    field_ = field_of(step);
    return true;
  }

  /// Called for invalid JSON and for numbers that are too large.
  [[noreturn]] bool parse_error(std::size_t, const std::string&, const Json::exception& error) {
    if (source_.is_at_its_end()) refuse_end();
    std::string what = error.what();
    what.erase(0, what.find("] ") + 2);  // the library's error number
    if (what.starts_with("parse error at ")) what.erase(0, what.find(": ") + 2);
    constexpr std::string_view kToken = "last read: '";
    if (const std::size_t token = what.find(kToken); token != std::string::npos) {
      const std::size_t begin = token + kToken.size();
      what = what.substr(0, begin) + what.substr(begin, 40) + (what.size() > begin + 40 ? "..." : "");
    }
    // Invalid JSON may contain invalid UTF-8, too.
    std::ranges::replace_if(
        what, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    if (!begun_) what = what.substr(0, what.find("; expected ")) + fmt::format("; expected {}", whole_.shape->expected);
    fail(printable(what));
  }

 private:
  /// Fails because the parser needed more than the file has: the file is empty or cut off.
  [[noreturn]] void refuse_end() const {
    if (!begun_) fail(fmt::format("found the end of the file, expected {}", whole_.shape->expected));
    fail("the file is truncated here; copy or create it again");
  }

  bool single(const Single& found) {
    source_.understood();
    const Target to = next();
    if (to.shape == nullptr) return true;
    found_ = found;
    wanted_ = to.shape;
    if (to.shape->take == nullptr) refuse();
    to.shape->take(*this, to.object);
    return true;
  }

  /// Returns the shape of the value that the parser has just reached, and where to store the value.
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
      if ((step.seen >> i & 1U) != 0) fail("this field occurs twice");
      step.seen |= std::uint64_t{1} << i;
      return {field.shape, field.into(object)};
    }
    if (shape->entry != nullptr) return shape->entry(*this, object, step.name);
    if (!shape->strict) return {};
    refuse_unknown("unknown field", step.name, list_of(shape->fields, &Field::name));
  }

  bool begin(bool is_list) {
    begun_ = true;
    source_.understood();
    const Target to = next();
    if (to.shape == nullptr) {
      if (++skipping_ > kDeepest) fail(fmt::format("nested more than {} deep", kDeepest));
      return true;
    }
    if (is_list ? to.shape->item == nullptr : !to.shape->is_object) {
      fail(fmt::format("found {}, expected {}", is_list ? "a list" : "an object", to.shape->expected));
    }
    steps_.push_back({.target = to, .is_list = is_list});
    return true;
  }

  bool end() {
    source_.understood();
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

  Target whole_;
  Target field_;           // target of the field whose name was read last
  bool begun_ = false;     // the parser has found a first value
  unsigned skipping_ = 0;  // current nesting level within a skipped value; 0: no value is being skipped
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

void read_from(Source source, const std::string& name, Target whole) {
  Events events(name, source, whole);
  std::istream stream(&source);
  Json::sax_parse(stream, &events);
}

File open_to_read(const std::string& path) {
  file_io::refuse_named_pipe(path);
  File file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) throw InputError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return file;
}

// --- Writing --------------------------------------------------------------------------------------------------------

/// Returns JSON on one line. Names that the machine reports may contain any bytes: those that are not UTF-8 become
/// replacement characters. Control characters are escaped, also those that JSON would allow.
std::string in_one_line(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (find_control(text).bytes == 0) return text;
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

bool is_single(const Codec& shape) { return shape.give != nullptr; }

/// Visits each item of a list, or each field or entry of an object that is to be written.
void each_part(const Codec& shape, const void* from, const Visit& visit) {
  if (shape.each != nullptr) return shape.each(from, visit);
  for (const Field& field : shape.fields) {
    const void* value = field.from(from, field.rule != Rule::omit_empty);
    if (value != nullptr) visit(field.name, *field.shape, value);
  }
}

/// Formatter that writes values as JSON to a Sink, in large pieces.
class Layout {
 public:
  explicit Layout(const Sink& sink, const Ready& ready = {}) : sink_(sink), ready_(ready) {}

  void add(const Codec& shape, const void* from, std::size_t level, bool on_one_line) {
    if (is_single(shape)) {
      const Single value = shape.give(from);
      const double* number = std::get_if<double>(&value);
      if (number != nullptr && std::isfinite(*number)) return add_number(*number);
      text_ += std::visit([](const auto& single) { return in_one_line(Json(single)); }, value);
      return;
    }
    if (add_ready(shape, from)) return;
    bool holds_more = false;
    many_lines_ = many_lines_ || shape.on_many_lines;
    each_part(shape, from, [&](std::string_view, const Codec& part, const void*) {
      holds_more = holds_more || many_lines_ || !is_single(part);
    });
    on_one_line = on_one_line || shape.on_one_line || !holds_more;
    const std::string end = on_one_line ? "" : "\n" + std::string(level, ' ');
    text_ += shape.is_object ? '{' : '[';
    bool first = true;
    each_part(shape, from, [&](std::string_view name, const Codec& part, const void* value) {
      text_ += first ? "" : ",";
      if (!on_one_line) text_ += end + ' ';
      if (shape.is_object) text_ += in_one_line(Json(name)) + (on_one_line ? ":" : ": ");
      add(part, value, level + 1, on_one_line);
      first = false;
    });
    text_ += end + (shape.is_object ? '}' : ']');
    if (text_.size() >= kPiece) flush();
  }

  bool add_ready(const Codec& shape, const void* from) {
    const std::optional<std::string> text = ready_ ? ready_(shape, from) : std::nullopt;
    if (!text) return false;
    text_ += *text;
    if (text_.size() >= kPiece) flush();
    return true;
  }

  void flush() {
    sink_(text_);
    text_.clear();
  }

  void end_line() { text_ += '\n'; }

  /// Writes the shortest text that reads back as the same number. Nearly all of a file's text is samples, so this does
  /// not use the class Json, which takes three times as long for the same text.
  void add_number(double number) {
    const double size = std::abs(number);
    const bool fixed = size == 0 || (size >= 1e-4 && size < 1e15);
    std::array<char, 40> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number,
                                            fixed ? std::chars_format::fixed : std::chars_format::scientific);
    const std::string_view shortest(text.data(), static_cast<std::size_t>(end - text.data()));
    text_ += shortest;
    if (shortest.find_first_of(".e") == std::string_view::npos) text_ += ".0";  // mark the text as a real number
  }

 private:
  const Sink& sink_;
  const Ready ready_;
  std::string text_;
  bool many_lines_ = false;  // set at the first shape with on_many_lines; from there on, each part gets its own line
};

}  // namespace

void read_file(const std::string& path, Target whole) {
  if (path == "-") return read_from({stdin, "standard input"}, "standard input", whole);
  const File file = open_to_read(path);
  read_from({file.get(), path}, path, whole);
}

void read_beginning(int file, const std::string& name, std::uint64_t bytes, std::string_view then, Target whole) {
  Descriptor own(fcntl(file, F_DUPFD_CLOEXEC, 0));
  const File opened(own ? fdopen(own.number(), "rb") : nullptr, std::fclose);
  if (!opened) throw InputError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  own.release();              // closed together with `opened`
  std::rewind(opened.get());  // the descriptors share an offset, which an earlier read has moved
  read_from({opened.get(), name, bytes, then}, name, whole);
}

void read_text(std::string_view text, std::string_view name, Target whole) {
  std::string copy(text.empty() ? " " : text);
  const File file(fmemopen(copy.data(), copy.size(), "r"), std::fclose);
  if (!file) throw InputError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  read_from({file.get(), std::string(name)}, std::string(name), whole);
}

void write(const Codec& shape, const void* record, const Sink& sink, const Ready& ready) {
  Layout layout(sink, ready);
  layout.add(shape, record, 0, false);
  layout.end_line();
  layout.flush();
}

std::string text_of(const Codec& shape, const void* record) {
  std::string text;
  write(shape, record, [&](std::string_view piece) { text += piece; });
  return text;
}

std::string text_within(const Codec& shape, const void* part, std::size_t level) {
  std::string text;
  const Sink sink = [&](std::string_view piece) { text += piece; };
  Layout layout(sink);
  layout.add(shape, part, level, false);
  layout.flush();
  return text;
}

// --- Shapes of single values ----------------------------------------------------------------------------------------

void take_text(Reader& in, void* into) {
  auto& text = as<std::string>(into);
  text = in.as_text();
  in.check_limits(static_cast<double>(text.size()));
}

void take_raw_text(Reader& in, void* into) { as<std::string>(into) = in.as_raw_text(); }

void take_boolean(Reader& in, void* into) { as<bool>(into) = in.as_boolean(); }

void take_number(Reader& in, void* into) {
  as<double>(into) = in.as_number();
  in.check_limits(as<double>(into));
}

}  // namespace xferbench::json
