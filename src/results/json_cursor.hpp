// Reads JSON (RFC 8259) from front to back, a value at a time, and holds none of it: whoever reads says what is
// expected next. Made for files that may be large, damaged or hostile: neither stack nor memory grows with what they
// nest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench {

/// The place in a file, and what can be read there. Every function that reads throws InputError where the file holds
/// something else: one line with the file, the line in it, the place (results[3].key), what was found, and what was
/// expected.
class JsonCursor {
 public:
  enum class Kind { object, array, text, number, boolean, null, none };

  /// Reads from `text`, which must outlive the cursor; `name` is what messages call it.
  JsonCursor(std::string_view text, std::string_view name);
  /// Reads from an open file, a piece at a time, and does not close it.
  JsonCursor(std::FILE* file, std::string_view name);

  /// What kind of value comes next. `none`: nothing that begins a value.
  [[nodiscard]] Kind kind();

  [[nodiscard]] std::string text(std::string_view expected = "a text");
  /// Finite; NaN and infinities are no JSON.
  [[nodiscard]] double number(std::string_view expected = "a number");
  /// A number of 0 or more.
  [[nodiscard]] double amount();
  /// A whole number of 0 or more.
  [[nodiscard]] std::uint64_t count(std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
  /// A whole number of 0 or more, written without point or exponent, if that is what comes next, else a number.
  /// Returns whether it was whole; the other value is left alone.
  bool count_or_number(std::uint64_t& whole, double& real);
  [[nodiscard]] bool boolean();
  /// Reads over one value of any kind.
  void skip();
  /// Nothing but blanks may follow.
  void end();

  /// Calls `read(name)` at the value of each field; it must read that value. `name` is valid until it returns.
  template <class Read>
  void object(const Read& read) {
    enter('{', "an object", '}');
    for (bool more = first('}'); more; more = next('}')) {
      name_step();
      read(std::string_view(steps_.back().name));
    }
    steps_.pop_back();
  }

  /// Calls `read(index)` at each item; it must read it.
  template <class Read>
  void array(const Read& read) {
    enter('[', "a list", ']');
    for (bool more = first(']'); more; more = next(']')) {
      read(steps_.back().index);
      ++steps_.back().index;
    }
    steps_.pop_back();
  }

  /// Throws: what was found at this place is wrong for the reason that is given.
  [[noreturn]] void fail(const std::string& what) const;
  /// Throws: what comes next is not what is expected.
  [[noreturn]] void wrong(std::string_view expected);

 private:
  /// The way into an object or a list that is being read.
  struct Step {
    std::string name;       // of the field; unused in lists
    std::size_t index = 0;  // of the item
    bool is_list = false;
    bool begun = false;  // there is a field to name
  };

  int peek();
  void advance() { ++at_; }
  void refill();
  void skip_blanks();
  void enter(char opening, std::string_view expected, char closing);
  bool first(char closing);
  bool next(char closing);
  void name_step();
  void expect_word(std::string_view word, std::string_view expected);
  void read_string();
  void read_escape();
  unsigned read_hex();
  void read_number(std::string_view expected);
  void read_digits(std::string_view expected);
  void add(char c);
  [[nodiscard]] double number_read();
  [[nodiscard]] std::string where() const;
  [[nodiscard]] std::string found();

  std::FILE* file_ = nullptr;
  std::vector<char> buffer_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::string name_;
  std::uint64_t bytes_ = 0;  // taken from the file so far
  std::uint64_t line_ = 1;
  std::vector<Step> steps_;
  std::string scratch_;  // the text or number that was read last
};

/// As much of a text as fits into a message of one line: in quotes, without control characters, not too long.
std::string quoted(std::string_view text);

}  // namespace xferbench
