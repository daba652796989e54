// Reads what nvcc wrote: which functions a PTX file defines and which instructions they are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xferbench::ptx {

struct Function {
  std::string name;  ///< mangled
  bool is_kernel = false;
  std::vector<std::string> opcodes;  ///< in order, without predicates and operands: "cp.async.cg.shared.global"

  /// Whether an instruction begins with these parts: "cp.async" finds "cp.async.wait_all" but not "cp.asynchronous".
  /// Alternatives are separated by '|'.
  [[nodiscard]] bool has(std::string_view instruction) const;
};

/// Declarations are left out. Throws std::runtime_error for text that ends too early.
std::vector<Function> parse(std::string_view text);

}  // namespace xferbench::ptx
