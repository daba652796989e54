// Reads what `ptxas --verbose` says of the functions it assembled, and names them for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xferbench::ptx {

/// What the assembler spends on one function; bytes where not counts.
struct Resources {
  std::string name;  ///< mangled
  bool is_kernel = false;
  unsigned registers = 0;     ///< of each thread; 0 if it is no kernel
  unsigned barriers = 0;      ///< of each block: hardware barriers as __syncthreads() uses
  unsigned shared = 0;        ///< of each block, static
  unsigned stack = 0;         ///< of each thread: spilled registers, and arrays that have addresses
  unsigned spill_stores = 0;  ///< of each thread
  unsigned spill_loads = 0;   ///< of each thread
};

/// Throws std::runtime_error if something is missing of a function that the report speaks of.
std::vector<Resources> parse_report(std::string_view text);

/// Without return type, namespaces and parameters: "_ZN9xferbench1fIfLj4EEEvi" is "f<float, 4u>".
std::string short_name(const std::string& symbol);

}  // namespace xferbench::ptx
