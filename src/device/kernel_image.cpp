#include "device/kernel_image.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sstream>
#include <vector>

#include "core/error.hpp"

namespace xferbench {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

/// Returns the length of the comment or string literal at the beginning of the text; 1 if there is neither.
std::size_t length_of_token(std::string_view text) {
  const auto until = [&text](std::string_view end, std::size_t from, std::size_t more) {
    const std::size_t found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + more;
  };
  if (text.starts_with("//")) return until("\n", 2, 0);
  if (text.starts_with("/*")) return until("*/", 2, 2);
  return text.starts_with('"') ? until("\"", 1, 1) : 1;
}

std::string without_comments(std::string_view ptx) {
  std::string plain;
  while (!ptx.empty()) {
    const std::string_view token = ptx.substr(0, length_of_token(ptx));
    if (!token.starts_with("//") && !token.starts_with("/*")) plain += token;
    ptx.remove_prefix(token.size());
  }
  return plain;
}

/// Returns the text between the parentheses after the kernel's name; empty if a kernel without parameters has no
/// parentheses. Returns std::nullopt if the PTX does not contain the kernel.
std::optional<std::string_view> parameter_list(std::string_view ptx, std::string_view name) {
  constexpr std::string_view kEntry = ".entry";
  for (std::size_t at = ptx.find(kEntry); at != std::string_view::npos; at = ptx.find(kEntry, at + 1)) {
    std::string_view rest = ptx.substr(at + kEntry.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
    if (!rest.starts_with(name)) continue;
    rest.remove_prefix(name.size());
    const std::size_t next = rest.find_first_not_of(kBlanks);
    if (next == std::string_view::npos) return "";
    if (rest[next] == '(') return rest.substr(next + 1, rest.find(')', next) - next - 1);
    if (next > 0 || rest[next] == '{') return "";
  }
  return std::nullopt;
}

/// Returns the size in bytes of a parameter that is declared like ".param .align 8 .b8 name[16]".
std::size_t bytes_of_parameter(const std::string& declaration) {
  std::size_t bits = 0;
  std::istringstream words(declaration);
  for (std::string word; words >> word;) {
    const bool is_type = word.size() > 2 && word[0] == '.' && std::isdigit(static_cast<unsigned char>(word[2])) != 0;
    if (is_type) std::from_chars(word.data() + 2, word.data() + word.size(), bits);
  }
  std::size_t count = 1;
  if (const std::size_t bracket = declaration.find('['); bracket != std::string::npos) {
    std::from_chars(declaration.data() + bracket + 1, declaration.data() + declaration.size(), count);
  }
  return bits / 8 * count;
}

std::vector<std::size_t> bytes_of_parameters(std::string_view list) {
  std::vector<std::size_t> bytes;
  std::istringstream declarations{std::string(list)};
  for (std::string one; std::getline(declarations, one, ',');) {
    if (one.find_first_not_of(kBlanks) != std::string::npos) bytes.push_back(bytes_of_parameter(one));
  }
  return bytes;
}

/// Whether the byte range lies within the image (overflow-safe).
bool lies_within(std::string_view image, std::size_t begin, std::size_t bytes) {
  return begin <= image.size() && bytes <= image.size() - begin;
}

/// Reads a record at any alignment. The caller must have checked that the image contains it.
template <class Record>
Record record_at(std::string_view image, std::size_t begin) {
  Record record{};
  std::memcpy(&record, image.data() + begin, sizeof(record));
  return record;
}

/// Whether a cubin, which is a 64-bit ELF file, is complete. In a truncated one, headers or sections extend past the
/// end.
bool is_whole_elf(std::string_view image) {
  if (!lies_within(image, 0, sizeof(Elf64_Ehdr))) return false;
  const auto header = record_at<Elf64_Ehdr>(image, 0);
  const bool as_known = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
                        header.e_shentsize == sizeof(Elf64_Shdr) && header.e_shnum > 0;
  if (!as_known || !lies_within(image, header.e_shoff, std::size_t{header.e_shnum} * header.e_shentsize) ||
      !lies_within(image, header.e_phoff, std::size_t{header.e_phnum} * header.e_phentsize)) {
    return false;
  }
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = record_at<Elf64_Shdr>(image, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_NOBITS && !lies_within(image, section.sh_offset, section.sh_size)) return false;
  }
  return true;
}

/// Header of a fat binary as nvcc --fatbin writes it (fatBinaryHeader in CUDA's fatbinary.h).
struct FatBinary {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t bytes;  // bytes that follow this header
};
constexpr std::string_view kFatBinaryMagic = "\x50\xed\x55\xba";

bool is_whole_fat_binary(std::string_view image) {
  if (!lies_within(image, 0, sizeof(FatBinary))) return false;
  const auto header = record_at<FatBinary>(image, 0);
  return lies_within(image, header.header_bytes, header.bytes);
}

/// Returns the required declaration of the kernel, in a text that begins with "it must be declared as".
std::string contract_of(const KernelSource& source) {
  return fmt::format("it must be declared as extern \"C\" __global__ void {}(const T* in, T* out, size_t n)",
                     source.name);
}

}  // namespace

void require_whole(const KernelSource& source) {
  const std::string_view image = source.content;
  const auto refuse = [&](const std::string& why) {
    throw DeviceError("loading " + source.file, why + "; compile it again, or name the .cu file");
  };
  if (image.empty()) refuse("it is empty");
  const bool is_elf = image.starts_with(ELFMAG);
  if (!is_elf && !is_fat_binary(image) && !is_text(image)) refuse("it is not PTX, a cubin or a fat binary");
  const bool whole = is_elf ? is_whole_elf(image) : !is_fat_binary(image) || is_whole_fat_binary(image);
  if (!whole) refuse(fmt::format("the cubin is truncated: its parts need more than {} bytes", image.size()));
}

bool is_fat_binary(std::string_view code) { return code.starts_with(kFatBinaryMagic); }

void require_contract(std::span<const std::size_t> parameter_bytes, const KernelSource& source) {
  constexpr std::array<std::size_t, 3> kBytes{sizeof(void*), sizeof(void*), sizeof(std::size_t)};
  if (parameter_bytes.size() != kBytes.size()) {
    throw DeviceError(
        fmt::format("{}: {} takes {} parameter{}", source.file, source.name, parameter_bytes.size(),
                    parameter_bytes.size() == 1 ? "" : "s"),
        contract_of(source) + ", because launches pass these three arguments; use constants for other values");
  }
  const auto [wrong, right] = std::ranges::mismatch(parameter_bytes, kBytes);
  if (wrong == parameter_bytes.end()) return;
  throw DeviceError(fmt::format("{}: parameter {} of {} has {} bytes, not {}", source.file,
                                wrong - parameter_bytes.begin() + 1, source.name, *wrong, *right),
                    contract_of(source));
}

void require_contract_in(std::string_view ptx, const KernelSource& source) {
  const std::string plain = without_comments(ptx);
  const auto list = parameter_list(plain, source.name);
  if (!list) {
    throw DeviceError(fmt::format("{} has no kernel {}", source.file, source.name),
                      contract_of(source) + "; name one by --kernel-name");
  }
  require_contract(bytes_of_parameters(*list), source);
}

void require_grid(const OwnLaunch& launch, const std::string& kernel) {
  constexpr std::size_t kMost = 0x7FFFFFFF;  // limit of gridDim.x
  if (launch.blocks <= kMost) return;
  throw DeviceError(fmt::format("launching {} over {} elements", kernel, launch.elements),
                    fmt::format("{} blocks of {} threads exceed the {} of a grid; choose a larger --block-size, or "
                                "more elements per thread in {}_launch",
                                launch.blocks, launch.block_size, kMost, kernel));
}

bool is_text(std::string_view code) {
  return std::ranges::none_of(code.substr(0, code.find_last_not_of('\0') + 1), [](char c) { return c == '\0'; });
}

bool has_name(std::string_view code, std::string_view name) {
  const auto in_a_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
  };
  const std::string length = std::to_string(name.size());
  for (std::size_t at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
    const std::string_view before = code.substr(0, at);
    const std::string_view after = code.substr(at + name.size());
    const bool begins = before.empty() || !in_a_word(before.back());
    if (before.ends_with(length) || (begins && (after.empty() || !in_a_word(after.front())))) return true;
  }
  return false;
}

std::string first_errors(std::string_view log) {
  constexpr std::size_t kMost = 3;
  constexpr std::string_view kOrigin = "ptxas application ptx input, ";
  std::istringstream lines{std::string(log.substr(0, log.find('\0')))};
  std::string told;
  std::size_t count = 0;
  for (std::string line; count < kMost && std::getline(lines, line);) {
    if (line.starts_with(kOrigin)) line.erase(0, kOrigin.size());
    line.erase(line.find_last_not_of(kBlanks) + 1);
    if (line.empty()) continue;
    told += (count++ == 0 ? "" : "; ") + line;
  }
  return told;
}

}  // namespace xferbench
