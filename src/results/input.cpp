#include "results/input.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "core/error.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kLargest = std::size_t{16} << 20;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  const auto fail = [&path](const std::string& why) {
    throw InputError(fmt::format("cannot read {}: {}", path.string(), why));
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file) fail(std::strerror(errno));
  std::string text;
  char piece[4096];
  while (const std::size_t got = std::fread(piece, 1, sizeof(piece), file.get())) {
    text.append(piece, got);
    if (text.size() > kLargest) fail("it is larger than 16 MiB");
  }
  if (std::ferror(file.get()) != 0) fail(std::strerror(errno));  // as of a folder
  return text;
}

}  // namespace xferbench
