#include "device_code/ptx.hpp"

#include <algorithm>
#include <stdexcept>

namespace xferbench::ptx {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Comments become blanks: nvcc writes names and the source's own remarks in them. Strings lose their contents.
std::string without_comments(std::string_view text) {
  std::string result;
  const auto skip_past = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    text.remove_prefix(found == std::string_view::npos ? text.size() : found + end.size());
    result += ' ';
  };
  while (!text.empty()) {
    if (text.starts_with("//")) {
      skip_past("\n", 2);
    } else if (text.starts_with("/*")) {
      skip_past("*/", 2);
    } else if (text.front() == '"') {
      skip_past("\"", 1);
    } else {
      result += text.front();
      text.remove_prefix(1);
    }
  }
  return result;
}

bool is_label(std::string_view text) {
  return !text.empty() &&
         std::ranges::none_of(text, [](char c) { return c == '.' || kBlanks.find(c) != std::string_view::npos; });
}

/// "@%p1 add.s32 %r1, %r2, 1" is "add.s32"; directives are "".
std::string_view opcode_of(std::string_view statement) {
  statement = trimmed(statement);
  if (statement.starts_with('@')) {
    statement.remove_prefix(std::min(statement.find_first_of(kBlanks), statement.size()));
    statement = trimmed(statement);
  }
  return statement.starts_with('.') ? "" : statement.substr(0, statement.find_first_of(kBlanks));
}

constexpr std::string_view kEntry = ".entry ";

bool is_kernel(std::string_view header) { return header.find(kEntry) != std::string_view::npos; }

/// The name in ".visible .entry name(...)" and ".func (.param .b32 result) name(...)"; "" for what is no function.
std::string_view function_name(std::string_view header) {
  const std::string_view word = is_kernel(header) ? kEntry : ".func ";
  const std::size_t at = header.find(word);
  if (at == std::string_view::npos) return "";
  std::string_view rest = trimmed(header.substr(at + word.size()));
  if (rest.starts_with('(')) rest = trimmed(rest.substr(std::min(rest.find(')'), rest.size() - 1) + 1));
  return rest.substr(0, rest.find_first_of("( \t\r\n"));
}

class Parser {
 public:
  std::vector<Function> parse(std::string_view text) {
    const std::string code = without_comments(text);
    for (std::size_t i = 0; i < code.size(); ++i) {
      switch (code[i]) {
        case '{': open(); break;
        case '}': close(); break;
        case ';': end_statement(); break;
        case ':': colon(i > 0 && code[i - 1] == ':'); break;
        default: statement_ += code[i];
      }
    }
    if (depth_ > 0 || vector_depth_ > 0) throw std::runtime_error("PTX ends inside of " + where());
    return std::move(functions_);
  }

 private:
  void open() {
    if (depth_ == 0) {
      const std::string_view name = function_name(statement_);
      in_function_ = !name.empty();
      if (in_function_) functions_.push_back({std::string(name), is_kernel(statement_), {}});
    } else if (!trimmed(statement_).empty()) {  // several registers as one operand
      ++vector_depth_;
      statement_ += '{';
      return;
    }
    ++depth_;
    statement_.clear();
  }

  void close() {
    if (vector_depth_ > 0) {
      --vector_depth_;
      statement_ += '}';
      return;
    }
    if (depth_ == 0) throw std::runtime_error("PTX closes a brace that was not opened");
    // In an initialiser a value stands here; in a function an instruction must have ended.
    if (in_function_ && !trimmed(statement_).empty()) throw std::runtime_error("PTX lacks a semicolon in " + where());
    --depth_;
    statement_.clear();
  }

  void end_statement() {
    if (depth_ > 0 && in_function_) {
      const std::string_view opcode = opcode_of(statement_);
      if (!opcode.empty()) functions_.back().opcodes.emplace_back(opcode);
    }
    statement_.clear();
  }

  void colon(bool is_second) {
    if (depth_ > 0 && !is_second && is_label(trimmed(statement_))) {
      statement_.clear();
    } else {
      statement_ += ':';
    }
  }

  [[nodiscard]] std::string where() const { return in_function_ ? functions_.back().name : "an initialiser"; }

  std::vector<Function> functions_;
  std::string statement_;
  int depth_ = 0;
  int vector_depth_ = 0;
  bool in_function_ = false;
};

bool begins_with_parts(std::string_view opcode, std::string_view parts) {
  return opcode.starts_with(parts) && (opcode.size() == parts.size() || opcode[parts.size()] == '.' ||
                                       opcode.substr(parts.size()).starts_with("::"));
}

}  // namespace

bool Function::has(std::string_view instruction) const {
  for (;;) {
    const std::size_t bar = instruction.find('|');
    const std::string_view one = instruction.substr(0, bar);
    if (std::ranges::any_of(opcodes, [&](const std::string& o) { return begins_with_parts(o, one); })) return true;
    if (bar == std::string_view::npos) return false;
    instruction.remove_prefix(bar + 1);
  }
}

std::vector<Function> parse(std::string_view text) { return Parser().parse(text); }

}  // namespace xferbench::ptx
