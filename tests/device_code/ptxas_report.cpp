#include "device_code/ptxas_report.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace xferbench::ptx {

namespace {

/// The number before `what`: "used 1 barriers, 1024 bytes smem" has 1024 before "bytes smem".
std::optional<unsigned> number_before(const std::string& line, const std::string& what) {
  std::smatch match;
  if (!std::regex_search(line, match, std::regex("(\\d+) " + what))) return std::nullopt;
  return static_cast<unsigned>(std::stoul(match[1]));
}

unsigned needed(std::optional<unsigned> number, const std::string& line) {
  if (!number) throw std::runtime_error("ptxas reported in an unknown form: " + line);
  return *number;
}

class Reader {
 public:
  std::vector<Resources> read(std::string_view text) {
    static const std::regex kernel("Compiling entry function '([^']+)'");
    static const std::regex properties("Function properties for (\\S+)");
    std::istringstream lines{std::string(text)};
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
      if (std::regex_search(line, match, kernel)) {
        kernel_ = match[1];
        of(kernel_).is_kernel = true;
      } else if (std::regex_search(line, match, properties)) {
        function_ = match[1];
        of(function_);
      } else if (number_before(line, "bytes stack frame")) {
        read_stack(line);
      } else if (number_before(line, "registers")) {
        read_registers(line);
      }
    }
    for (const Seen& seen : seen_) {
      if (!seen.has_stack || (seen.resources.is_kernel && seen.resources.registers == 0)) {
        throw std::runtime_error("ptxas's report of " + seen.resources.name + " is not complete");
      }
    }
    std::vector<Resources> found;
    std::ranges::transform(seen_, std::back_inserter(found), &Seen::resources);
    return found;
  }

 private:
  struct Seen {
    Resources resources;
    bool has_stack = false;
  };

  void read_stack(const std::string& line) {
    if (function_.empty()) throw std::runtime_error("ptxas does not say whose this is: " + line);
    seen_of(function_).has_stack = true;
    Resources& r = of(function_);
    r.stack = needed(number_before(line, "bytes stack frame"), line);
    r.spill_stores = needed(number_before(line, "bytes spill stores"), line);
    r.spill_loads = needed(number_before(line, "bytes spill loads"), line);
  }

  void read_registers(const std::string& line) {
    if (kernel_.empty()) throw std::runtime_error("ptxas does not say whose this is: " + line);
    Resources& r = of(kernel_);
    r.registers = needed(number_before(line, "registers"), line);
    r.barriers = number_before(line, "barriers").value_or(0);
    r.shared = number_before(line, "bytes smem").value_or(0);
  }

  Seen& seen_of(const std::string& name) {
    const auto found = std::ranges::find(seen_, name, [](const Seen& s) { return s.resources.name; });
    if (found != seen_.end()) return *found;
    seen_.emplace_back();
    seen_.back().resources.name = name;
    return seen_.back();
  }
  Resources& of(const std::string& name) { return seen_of(name).resources; }

  std::vector<Seen> seen_;
  std::string kernel_;
  std::string function_;
};

}  // namespace

std::vector<Resources> parse_report(std::string_view text) { return Reader().read(text); }

std::string short_name(const std::string& symbol) {
  // Relocatable code gives internal kernels a prefix that names their file.
  static const std::regex prefix("^__nv_static_\\d+_.*?_(?=_Z)");
  const std::string mangled = std::regex_replace(symbol, prefix, "");
  // What does not begin so is a C function's name; as an encoding it could mean a type ("f" is float).
  if (!mangled.starts_with("_Z")) return mangled;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (demangled == nullptr) return mangled;
  static const std::regex scopes(R"((\(anonymous namespace\)|\b[a-zA-Z_]\w*)::)");
  const std::string text = std::regex_replace(demangled.get(), scopes, "");
  std::size_t first = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    if (depth > 0) continue;
    if (text[i] == ' ') first = i + 1;  // the end of the type that a template returns
    if (text[i] == '(') return text.substr(first, i - first);
  }
  return text.substr(first);
}

}  // namespace xferbench::ptx
