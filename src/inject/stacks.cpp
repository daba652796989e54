#include "inject/stacks.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace xferbench::inject {

namespace {

/// Maximum number of stacks that are kept; the oldest are dropped. It is larger than the number of calls by which the
/// delivery of records lags behind.
constexpr std::size_t kMostRemembered = 200'000;
constexpr int kMostFrames = 48;
using Frames = std::vector<void*>;

/// Cache of captured stacks. CachedStack and Written are singletons because CUPTI callbacks carry no context, and are
/// never destroyed because threads may outlive static destruction. They have separate locks to avoid a deadlock:
/// symbolizing waits for the loader's lock, and a thread that holds that lock (in a constructor of a library being
/// loaded) may wait to capture a stack.
struct CachedStack {
  std::mutex mutex;
  std::unordered_map<std::uint32_t, Frames> stacks;  // keyed by correlation ID
  std::deque<std::uint32_t> order;                   // correlation IDs in order of capture

  static CachedStack& instance() {
    static auto* const one = new CachedStack;  // NOLINT(cppcoreguidelines-owning-memory): never destroyed
    return *one;
  }
};
struct Written {
  std::mutex mutex;
  std::map<Frames, std::uint32_t> stacks;

  static Written& instance() {
    static auto* const one = new Written;  // NOLINT(cppcoreguidelines-owning-memory): never destroyed
    return *one;
  }
};

/// Returns the stack that was captured for the call; empty if there is none.
Frames remembered(std::uint32_t correlation) {
  CachedStack& all = CachedStack::instance();
  const std::lock_guard lock(all.mutex);
  const auto found = all.stacks.find(correlation);
  return found == all.stacks.end() ? Frames() : found->second;
}

/// Returns, for example, "function+0x12 (libfoo.so)"; without a known symbol, the offset in the file.
std::string text_of(void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "?";
  const auto distance = [address](void* from) {
    return fmt::format("{:#x}", reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(from));
  };
  const std::string_view path = info.dli_fname;
  const std::string file = " (" + std::string(path.substr(path.find_last_of('/') + 1)) + ")";
  if (info.dli_sname == nullptr) return distance(info.dli_fbase) + file;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status),
                                                         &std::free);
  return std::string(status == 0 && demangled ? demangled.get() : info.dli_sname) + "+" + distance(info.dli_saddr) +
         file;
}

/// Returns whether the frame is in CUDA or in this library. Stacks begin with such frames; write() drops them.
bool is_of_tool(std::string_view frame) {
  constexpr std::array<std::string_view, 3> kLibraries{"(libcuda.so", "(libcupti.so", "(libxferbench-inject"};
  return std::ranges::any_of(kLibraries, [frame](std::string_view l) { return frame.find(l) != frame.npos; });
}

std::uint32_t write(const Frames& frames, RecordingWriter& writer) {
  std::vector<recording::NameId> names;
  for (void* const frame : frames) {
    const std::string text = text_of(frame);
    if (names.empty() && is_of_tool(text)) continue;
    names.push_back(writer.name(text));
  }
  return writer.stack(names);
}

}  // namespace

void prepare_stacks() noexcept {
  void* frame = nullptr;
  static_cast<void>(backtrace(&frame, 1));
}

void remember_stack(std::uint32_t correlation) noexcept {
  try {
    std::array<void*, kMostFrames> frames{};
    const int count = backtrace(frames.data(), kMostFrames);
    CachedStack& all = CachedStack::instance();
    const std::lock_guard lock(all.mutex);
    // Nested calls have the correlation ID of the outermost call, whose stack came first and is kept.
    if (!all.stacks.try_emplace(correlation, frames.begin(), frames.begin() + count).second) return;
    all.order.push_back(correlation);
    if (all.order.size() <= kMostRemembered) return;
    all.stacks.erase(all.order.front());
    all.order.pop_front();
  } catch (const std::exception&) {  // out of memory: the call is recorded without a stack
  }
}

std::uint32_t written_stack(std::uint32_t correlation, RecordingWriter& writer) noexcept {
  try {
    const Frames frames = remembered(correlation);
    if (frames.empty()) return 0;
    Written& all = Written::instance();
    const std::lock_guard lock(all.mutex);
    const auto [written, is_new] = all.stacks.try_emplace(frames, 0);
    if (is_new) written->second = write(frames, writer);
    return written->second;
  } catch (const std::exception&) {
    return 0;
  }
}

}  // namespace xferbench::inject
