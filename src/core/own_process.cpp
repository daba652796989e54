#include "core/own_process.hpp"

#include <unistd.h>

#include <array>
#include <fstream>

#include "core/shell.hpp"

namespace xferbench {

std::string own_command() {
  std::ifstream words("/proc/self/cmdline", std::ios::binary);
  std::string line;
  for (std::string word; std::getline(words, word, '\0');) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

std::string own_executable() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace xferbench
