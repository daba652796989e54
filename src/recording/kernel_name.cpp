#include "recording/kernel_name.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace xferbench {

std::string kernel_name(const char* mangled) {
  if (mangled == nullptr) return "kernel";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                         &std::free);
  std::string name = status == 0 && demangled ? demangled.get() : mangled;
  // Remove "(anonymous namespace)::", because the name is cut at the first parenthesis or template bracket below.
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at = name.find(kAnonymous); at != std::string::npos; at = name.find(kAnonymous)) {
    name.erase(at, kAnonymous.size());
  }
  name.resize(std::min(name.find_first_of("(<"), name.size()));
  const std::size_t before = name.find_last_of(": ");
  return before == std::string::npos ? name : name.substr(before + 1);
}

}  // namespace xferbench
