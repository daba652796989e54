#include "inject/stacks.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace xferbench::inject {

namespace {

constexpr int kMostFrames = 48;
using Frames = std::vector<void*>;

/// CUPTI calls back without any context; never destroyed, as threads may outlive everything else.
struct Stacks {
  std::mutex mutex;
  std::unordered_map<std::uint32_t, Frames> remembered;  // by correlation
  std::map<Frames, std::uint32_t> written;
  std::unordered_map<void*, recording::NameId> names;
};

Stacks& stacks() {
  static auto* const all = new Stacks;  // NOLINT(cppcoreguidelines-owning-memory): see above
  return *all;
}

/// "function+0x12 (libfoo.so)"; the address where nothing is known of it.
std::string text_of(void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "?";
  const std::string_view path = info.dli_fname;
  const std::string file(path.substr(path.find_last_of('/') + 1));
  if (info.dli_sname == nullptr) return "? (" + file + ")";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status),
                                                         &std::free);
  return std::string(status == 0 && demangled ? demangled.get() : info.dli_sname) + " (" + file + ")";
}

/// Frames of CUDA and of recording itself, with which every stack begins, say nothing of the program.
bool is_of_tool(std::string_view frame) {
  constexpr std::array<std::string_view, 3> kLibraries{"(libcuda.so", "(libcupti.so", "(libxferbench-inject"};
  return std::ranges::any_of(kLibraries, [frame](std::string_view l) { return frame.find(l) != frame.npos; });
}

std::uint32_t write(const Frames& frames, Stacks& all, RecordingWriter& writer) {
  std::vector<recording::NameId> names;
  for (void* const frame : frames) {
    const std::string text = text_of(frame);
    if (names.empty() && is_of_tool(text)) continue;
    names.push_back(all.names.try_emplace(frame, writer.name(text)).first->second);
  }
  return writer.stack(names);
}

}  // namespace

void remember_stack(std::uint32_t correlation) noexcept {
  try {
    std::array<void*, kMostFrames> frames{};
    const int count = backtrace(frames.data(), kMostFrames);
    Stacks& all = stacks();
    const std::lock_guard lock(all.mutex);
    // Of calls within calls the outermost is the program's.
    all.remembered.try_emplace(correlation, frames.begin(), frames.begin() + count);
  } catch (const std::exception&) {  // the call is recorded without
  }
}

std::uint32_t take_stack(std::uint32_t correlation, RecordingWriter& writer) noexcept {
  try {
    Stacks& all = stacks();
    const std::lock_guard lock(all.mutex);
    const auto found = all.remembered.find(correlation);
    if (found == all.remembered.end()) return 0;
    const Frames frames = std::move(found->second);
    all.remembered.erase(found);
    const auto [written, is_new] = all.written.try_emplace(frames, 0);
    if (is_new) written->second = write(frames, all, writer);
    return written->second;
  } catch (const std::exception&) {
    return 0;
  }
}

}  // namespace xferbench::inject
