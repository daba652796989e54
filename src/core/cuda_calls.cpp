#include "core/cuda_calls.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace xferbench {

namespace {

using Rule = std::pair<std::string_view, CallKind>;

/// How names begin, without "cuda" or "cu". The first that fits counts, so that longer ones stand before what they
/// begin with.
constexpr auto kRules = std::to_array<Rule>({
    {"MemcpyToSymbol", CallKind::copy},
    {"Memcpy", CallKind::copy},
    {"MemsetD", CallKind::fill},
    {"Memset", CallKind::fill},
    {"GraphLaunch", CallKind::graph_launch},
    {"GraphInstantiate", CallKind::load},
    {"GraphUpload", CallKind::load},
    {"GraphExecUpdate", CallKind::load},
    {"LaunchKernel", CallKind::launch},
    {"LaunchCooperativeKernel", CallKind::launch},
    {"LaunchDevice", CallKind::launch},
    {"LaunchHostFunc", CallKind::launch},
    {"LaunchGrid", CallKind::launch},
    {"Launch", CallKind::launch},
    {"StreamAddCallback", CallKind::launch},
    {"StreamSynchronize", CallKind::wait_stream},
    {"StreamWaitEvent", CallKind::make_wait},
    {"StreamCreate", CallKind::stream},
    {"StreamDestroy", CallKind::stream},
    {"StreamBeginCapture", CallKind::stream},
    {"StreamEndCapture", CallKind::stream},
    {"EventSynchronize", CallKind::wait_event},
    {"EventRecord", CallKind::record_event},
    {"EventCreate", CallKind::stream},
    {"EventDestroy", CallKind::stream},
    {"DeviceSynchronize", CallKind::wait_device},
    {"ThreadSynchronize", CallKind::wait_device},
    {"CtxSynchronize", CallKind::wait_device},
    {"MallocHost", CallKind::pin},
    {"MallocManaged", CallKind::managed},
    {"Malloc", CallKind::allocate},
    {"MemAllocHost", CallKind::pin},
    {"MemAllocManaged", CallKind::managed},
    {"MemAlloc", CallKind::allocate},
    {"MemCreate", CallKind::allocate},
    {"MemMap", CallKind::allocate},
    {"MemSetAccess", CallKind::allocate},
    {"MemUnmap", CallKind::free},
    {"MemRelease", CallKind::free},
    {"MemFreeHost", CallKind::unpin},
    {"MemFree", CallKind::free},
    {"FreeHost", CallKind::unpin},
    {"Free", CallKind::free},
    {"HostAlloc", CallKind::pin},
    {"HostRegister", CallKind::pin},
    {"MemHostAlloc", CallKind::pin},
    {"MemHostRegister", CallKind::pin},
    {"HostUnregister", CallKind::unpin},
    {"MemHostUnregister", CallKind::unpin},
    {"MemPrefetch", CallKind::managed},
    {"MemAdvise", CallKind::managed},
    {"ModuleLoad", CallKind::load},
    {"LibraryLoad", CallKind::load},
    {"LibraryGetKernel", CallKind::load},
    {"ModuleGetFunction", CallKind::load},
    {"LinkComplete", CallKind::load},
    {"LinkCreate", CallKind::load},
    {"LinkAdd", CallKind::load},
    {"InitDevice", CallKind::initialise},
    {"Init", CallKind::initialise},
    {"CtxCreate", CallKind::initialise},
    {"DevicePrimaryCtxRetain", CallKind::initialise},
    {"DevicePrimaryCtxReset", CallKind::initialise},
    {"DeviceReset", CallKind::initialise},
    {"SetDevice", CallKind::initialise},
});

std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "cu"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return {};
}

/// "_v" and digits at the end, of which CUPTI and the driver have one each.
std::string_view without_version(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool versioned = last != std::string_view::npos && last > 0 && last + 1 < name.size() && name[last] == 'v' &&
                         name[last - 1] == '_';
  return versioned ? name.substr(0, last - 1) : name;
}

}  // namespace

std::string_view plain_call_name(std::string_view name) {
  for (std::string_view before; before != name;) {
    before = name;
    name = without_version(name);
    for (const std::string_view ending : {"_ptsz", "_ptds"}) {
      if (name.ends_with(ending)) name.remove_suffix(ending.size());
    }
  }
  return name;
}

CallKind call_kind(std::string_view name) {
  const std::string_view rest = without_prefix(name);
  const auto* const rule = std::ranges::find_if(kRules, [rest](const Rule& r) { return rest.starts_with(r.first); });
  return rule == kRules.end() ? CallKind::none : rule->second;
}

bool is_asynchronous(std::string_view name) {
  const std::string_view plain = plain_call_name(name);
  const CallKind kind = call_kind(plain);
  return plain.find("Async") != std::string_view::npos || kind == CallKind::launch || kind == CallKind::graph_launch;
}

}  // namespace xferbench
