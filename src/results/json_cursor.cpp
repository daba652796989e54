#include "results/json_cursor.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "core/error.hpp"

namespace xferbench {

namespace {

constexpr int kEnd = -1;
constexpr std::size_t kPiece = 1 << 18;           // bytes read at once
constexpr std::uint64_t kMostBytes = 1ULL << 32;  // a file that never ends must end somewhere
constexpr std::size_t kLongestText = 1 << 20;     // bytes
constexpr unsigned kDeepest = 64;                 // levels of what is read over
constexpr std::size_t kDeepestPlace = 16;         // levels of what is read: more than the schema has
constexpr std::uint64_t kFirstSurrogate = 0xD800;
constexpr std::uint64_t kFirstLowSurrogate = 0xDC00;
constexpr std::uint64_t kLastSurrogate = 0xDFFF;

bool is_digit(int c) { return c >= '0' && c <= '9'; }

/// Length of the UTF-8 sequence at the front of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond the last code point.
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string utf8(std::uint64_t code) {
  const auto tail = [code](unsigned shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | (code >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

}  // namespace

std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string shown;
  std::string_view rest = text;
  while (!rest.empty() && shown.size() < kMost) {
    const std::size_t length = utf8_length(rest);
    const bool plain = length > 1 || (length == 1 && static_cast<unsigned char>(rest[0]) >= 0x20 && rest[0] != 0x7F);
    shown += plain ? std::string(rest.substr(0, length)) : "?";
    rest.remove_prefix(plain ? length : 1);
  }
  return "'" + shown + (rest.empty() ? "'" : "...'");
}

JsonCursor::JsonCursor(std::string_view text, std::string_view name)
    : at_(text.data()), end_(text.data() + text.size()), name_(name) {
  steps_.reserve(kDeepestPlace);
}

JsonCursor::JsonCursor(std::FILE* file, std::string_view name) : file_(file), buffer_(kPiece), name_(name) {
  steps_.reserve(kDeepestPlace);
}

// --- Characters -----------------------------------------------------------------------------------------------------

void JsonCursor::refill() {
  if (file_ == nullptr) return;
  errno = 0;
  const std::size_t size = std::fread(buffer_.data(), 1, buffer_.size(), file_);
  if (size == 0 && std::ferror(file_) != 0) {
    throw InputError(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
  }
  bytes_ += size;
  if (bytes_ > kMostBytes) throw InputError(fmt::format("{}: more than 4 GiB; no results file is that large", name_));
  at_ = buffer_.data();
  end_ = at_ + size;
}

/// The next byte, as a number of 0 to 255, or kEnd.
int JsonCursor::peek() {
  if (at_ == end_) refill();
  return at_ == end_ ? kEnd : static_cast<unsigned char>(*at_);
}

void JsonCursor::skip_blanks() {
  for (int c = peek(); c == ' ' || c == '\n' || c == '\t' || c == '\r'; c = peek()) {
    if (c == '\n') ++line_;
    advance();
  }
}

// --- Errors ---------------------------------------------------------------------------------------------------------

std::string JsonCursor::where() const {
  std::string place;
  for (const Step& step : steps_) {
    if (step.is_list) {
      place += fmt::format("[{}]", step.index);
    } else if (step.begun) {
      const std::string name = quoted(step.name);
      place += (place.empty() ? "" : ".") + name.substr(1, name.size() - 2);
    }
  }
  return place;
}

void JsonCursor::fail(const std::string& what) const {
  const std::string place = where();
  throw InputError(fmt::format("{}:{}: {}{}{}", name_, line_, place, place.empty() ? "" : ": ", what));
}

/// What comes next, in words. Reads it.
std::string JsonCursor::found() {
  switch (kind()) {
    case Kind::object: return "an object";
    case Kind::array: return "a list";
    case Kind::text: read_string(); return quoted(scratch_);
    case Kind::number: read_number("a number"); return "the number " + scratch_.substr(0, 40);
    case Kind::boolean: return peek() == 't' ? "true" : "false";
    case Kind::null: return "null";
    case Kind::none: break;
  }
  const int c = peek();
  if (c == kEnd) return "the end of the file";
  return c > 0x20 && c < 0x7F ? fmt::format("'{}'", static_cast<char>(c)) : fmt::format("the byte 0x{:02X}", c);
}

void JsonCursor::wrong(std::string_view expected) { fail(fmt::format("found {}, expected {}", found(), expected)); }

// --- Structure ------------------------------------------------------------------------------------------------------

JsonCursor::Kind JsonCursor::kind() {
  skip_blanks();
  const int c = peek();
  switch (c) {
    case '{': return Kind::object;
    case '[': return Kind::array;
    case '"': return Kind::text;
    case 't':
    case 'f': return Kind::boolean;
    case 'n': return Kind::null;
    default: return c == '-' || is_digit(c) ? Kind::number : Kind::none;
  }
}

void JsonCursor::enter(char opening, std::string_view expected, char closing) {
  skip_blanks();
  if (peek() != opening) wrong(expected);
  if (steps_.size() == kDeepestPlace) fail(fmt::format("nested more than {} deep", kDeepestPlace));
  advance();
  steps_.push_back({"", 0, closing == ']', false});
}

/// Whether there is a first item.
bool JsonCursor::first(char closing) {
  skip_blanks();
  if (peek() != closing) return true;
  advance();
  return false;
}

/// Whether another item follows the one that was read.
bool JsonCursor::next(char closing) {
  skip_blanks();
  const int c = peek();
  if (c != ',' && c != closing) wrong(fmt::format("',' or '{}'", closing));
  advance();
  return c == ',';
}

void JsonCursor::name_step() {
  steps_.back().begun = false;  // until it is read, there is no name to say
  skip_blanks();
  if (peek() != '"') wrong("the name of a field");
  read_string();
  steps_.back().name.assign(scratch_);
  steps_.back().begun = true;
  expect_word(":", "':'");
}

void JsonCursor::expect_word(std::string_view word, std::string_view expected) {
  skip_blanks();
  for (const char c : word) {
    if (peek() != static_cast<unsigned char>(c)) fail(fmt::format("expected {}", expected));
    advance();
  }
}

void JsonCursor::skip() {
  std::uint64_t objects = 0;  // a bit for each level that is open: an object, or else a list
  unsigned depth = 0;
  const auto read_name = [this] {
    skip_blanks();
    if (peek() != '"') wrong("the name of a field");
    read_string();
    expect_word(":", "':'");
  };
  for (;;) {
    const Kind what = kind();
    if (what == Kind::object || what == Kind::array) {
      const bool is_object = what == Kind::object;
      advance();
      if (first(is_object ? '}' : ']')) {
        if (depth == kDeepest) fail(fmt::format("nested more than {} deep", kDeepest));
        ++depth;
        objects = objects << 1 | (is_object ? 1U : 0U);
        if (is_object) read_name();
        continue;
      }
    } else if (what == Kind::text) {
      read_string();
    } else if (what == Kind::number) {
      read_number("a number");
    } else if (what == Kind::boolean) {
      static_cast<void>(boolean());
    } else if (what == Kind::null) {
      expect_word("null", "null");
    } else {
      wrong("a value");
    }
    while (depth > 0 && !next((objects & 1U) != 0 ? '}' : ']')) {
      --depth;
      objects >>= 1;
    }
    if (depth == 0) return;
    if ((objects & 1U) != 0) read_name();
  }
}

void JsonCursor::end() {
  skip_blanks();
  if (peek() != kEnd) wrong("the end of the file");
}

// --- Values ---------------------------------------------------------------------------------------------------------

void JsonCursor::add(char c) {
  if (scratch_.size() == kLongestText) fail("a text of more than 1 MiB; xferbench writes none that long");
  scratch_ += c;
}

/// Into scratch_, without its quotes.
void JsonCursor::read_string() {
  scratch_.clear();
  advance();
  bool ascii = true;
  for (;;) {
    const int c = peek();
    if (c == kEnd) fail("the file ends within a text; is it cut off?");
    if (c < 0x20) fail(fmt::format("the byte 0x{:02X} within a text, which JSON does not allow", c));
    advance();
    if (c == '"') break;
    if (c == '\\') {
      read_escape();
    } else {
      ascii = ascii && c < 0x80;
      add(static_cast<char>(c));
    }
  }
  if (!ascii && !is_utf8(scratch_)) fail("a text that is not UTF-8");
}

unsigned JsonCursor::read_hex() {
  unsigned code = 0;
  for (int i = 0; i < 4; ++i) {
    const int c = peek();
    const int digit = is_digit(c)            ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) fail("expected four hexadecimal digits after \\u");
    code = code << 4 | static_cast<unsigned>(digit);
    advance();
  }
  return code;
}

void JsonCursor::read_escape() {
  constexpr std::string_view kWritten = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  const int c = peek();
  const std::size_t known = c == kEnd ? std::string_view::npos : kWritten.find(static_cast<char>(c));
  if (known == std::string_view::npos && c != 'u') fail("'\\' within a text, followed by what JSON does not know");
  advance();
  if (c != 'u') return add(kMeant[known]);
  std::uint64_t code = read_hex();
  if (code >= kFirstSurrogate && code <= kLastSurrogate) {
    const bool high = code < kFirstLowSurrogate;
    if (!high || peek() != '\\') fail("half a surrogate pair after \\u");
    advance();
    if (peek() != 'u') fail("half a surrogate pair after \\u");
    advance();
    const std::uint64_t low = read_hex();
    if (low < kFirstLowSurrogate || low > kLastSurrogate) fail("half a surrogate pair after \\u");
    code = 0x10000 + ((code - kFirstSurrogate) << 10) + (low - kFirstLowSurrogate);
  }
  for (const char byte : utf8(code)) add(byte);
}

std::string JsonCursor::text(std::string_view expected) {
  if (kind() != Kind::text) wrong(expected);
  read_string();
  return scratch_;
}

bool JsonCursor::boolean() {
  if (kind() != Kind::boolean) wrong("true or false");
  const bool value = peek() == 't';
  expect_word(value ? "true" : "false", "true or false");
  return value;
}

void JsonCursor::read_digits(std::string_view expected) {
  if (!is_digit(peek())) fail(fmt::format("a number breaks off; expected {}", expected));
  for (int c = peek(); is_digit(c); c = peek()) {
    add(static_cast<char>(c));
    advance();
  }
}

/// Into scratch_, as written.
void JsonCursor::read_number(std::string_view expected) {
  if (kind() != Kind::number) wrong(expected);
  const auto take = [this](int c) {
    add(static_cast<char>(c));
    advance();
  };
  scratch_.clear();
  if (peek() == '-') take('-');
  if (peek() == '0') {
    take('0');
    if (is_digit(peek())) fail("a number begins with 0, which JSON does not allow");
  } else {
    read_digits(expected);
  }
  if (peek() == '.') {
    take('.');
    read_digits(expected);
  }
  if (const int c = peek(); c == 'e' || c == 'E') {
    take(c);
    if (const int sign = peek(); sign == '+' || sign == '-') take(sign);
    read_digits(expected);
  }
}

double JsonCursor::number_read() {
  double value = 0;
  const auto [rest, error] = std::from_chars(scratch_.data(), scratch_.data() + scratch_.size(), value);
  if (error != std::errc() || rest != scratch_.data() + scratch_.size()) {
    fail(fmt::format("the number {} is beyond what can be computed with", scratch_.substr(0, 40)));
  }
  return value;
}

double JsonCursor::number(std::string_view expected) {
  read_number(expected);
  return number_read();
}

double JsonCursor::amount() {
  constexpr std::string_view kExpected = "a number of 0 or more";
  const double value = number(kExpected);
  if (value < 0) fail(fmt::format("found the number {}, expected {}", scratch_.substr(0, 40), kExpected));
  return value;
}

bool JsonCursor::count_or_number(std::uint64_t& whole, double& real) {
  read_number("a number");
  const auto [rest, error] = std::from_chars(scratch_.data(), scratch_.data() + scratch_.size(), whole);
  if (error == std::errc() && rest == scratch_.data() + scratch_.size()) return true;
  real = number_read();
  return false;
}

std::uint64_t JsonCursor::count(std::uint64_t most) {
  constexpr std::string_view kExpected = "a whole number of 0 or more";
  read_number(kExpected);
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(scratch_.data(), scratch_.data() + scratch_.size(), value);
  const bool whole = error == std::errc() && rest == scratch_.data() + scratch_.size();
  if (whole && value <= most) return value;
  const std::string limit = most == std::numeric_limits<std::uint64_t>::max() ? "" : fmt::format(", {} at most", most);
  fail(fmt::format("found the number {}, expected {}{}", scratch_.substr(0, 40), kExpected, limit));
}

}  // namespace xferbench
