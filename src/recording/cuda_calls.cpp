#include "recording/cuda_calls.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace xferbench {

namespace {

using Rule = std::pair<std::string_view, CudaCallKind>;

/// Kinds of CUDA functions, by prefixes of their names without "cuda" or "cu". The first match counts, so "MallocHost"
/// must stand before "Malloc".
constexpr auto kRules = std::to_array<Rule>({
    {"Memcpy", CudaCallKind::copy},
    {"Memset", CudaCallKind::fill},
    {"GraphLaunch", CudaCallKind::graph_launch},
    {"GraphInstantiate", CudaCallKind::load},
    {"GraphUpload", CudaCallKind::load},
    {"GraphExecUpdate", CudaCallKind::load},
    {"Launch", CudaCallKind::launch},
    {"StreamAddCallback", CudaCallKind::launch},
    {"StreamSynchronize", CudaCallKind::wait_stream},
    {"StreamWaitEvent", CudaCallKind::make_wait},
    {"StreamCreate", CudaCallKind::stream},
    {"StreamDestroy", CudaCallKind::stream},
    {"StreamBeginCapture", CudaCallKind::stream},
    {"StreamEndCapture", CudaCallKind::stream},
    {"EventSynchronize", CudaCallKind::wait_event},
    {"EventRecord", CudaCallKind::record_event},
    {"EventCreate", CudaCallKind::stream},
    {"EventDestroy", CudaCallKind::stream},
    {"DeviceSynchronize", CudaCallKind::wait_device},
    {"ThreadSynchronize", CudaCallKind::wait_device},
    {"CtxSynchronize", CudaCallKind::wait_device},
    {"MallocHost", CudaCallKind::pin},
    {"MallocManaged", CudaCallKind::managed},
    {"Malloc", CudaCallKind::allocate},
    {"MemAllocHost", CudaCallKind::pin},
    {"MemAllocManaged", CudaCallKind::managed},
    {"MemAlloc", CudaCallKind::allocate},
    {"MemCreate", CudaCallKind::allocate},
    {"MemMap", CudaCallKind::allocate},
    {"MemSetAccess", CudaCallKind::allocate},
    {"MemUnmap", CudaCallKind::free},
    {"MemRelease", CudaCallKind::free},
    {"MemFreeHost", CudaCallKind::unpin},
    {"MemFree", CudaCallKind::free},
    {"FreeHost", CudaCallKind::unpin},
    {"Free", CudaCallKind::free},
    {"HostAlloc", CudaCallKind::pin},
    {"HostRegister", CudaCallKind::pin},
    {"MemHostAlloc", CudaCallKind::pin},
    {"MemHostRegister", CudaCallKind::pin},
    {"HostUnregister", CudaCallKind::unpin},
    {"MemHostUnregister", CudaCallKind::unpin},
    {"MemPrefetch", CudaCallKind::managed},
    {"MemAdvise", CudaCallKind::managed},
    {"ModuleLoad", CudaCallKind::load},
    {"LibraryLoad", CudaCallKind::load},
    {"LibraryGetKernel", CudaCallKind::load},
    {"ModuleGetFunction", CudaCallKind::load},
    {"LinkComplete", CudaCallKind::load},
    {"LinkCreate", CudaCallKind::load},
    {"LinkAdd", CudaCallKind::load},
    {"Init", CudaCallKind::initialise},
    {"CtxCreate", CudaCallKind::initialise},
    {"DevicePrimaryCtxRetain", CudaCallKind::initialise},
    {"DevicePrimaryCtxReset", CudaCallKind::initialise},
    {"DeviceReset", CudaCallKind::initialise},
    {"SetDevice", CudaCallKind::initialise},
});

std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "cu"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return {};
}

/// Removes one suffix of "_v" and digits. A name may have two suffixes: one from CUPTI and one from the driver.
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

CudaCallKind call_kind(std::string_view name) {
  const std::string_view rest = without_prefix(name);
  const auto* const rule = std::ranges::find_if(kRules, [rest](const Rule& r) { return rest.starts_with(r.first); });
  return rule == kRules.end() ? CudaCallKind::none : rule->second;
}

bool copies_rows(std::string_view name) {
  return name.find("2D") != std::string_view::npos || name.find("3D") != std::string_view::npos;
}

bool is_asynchronous(std::string_view name) {
  const std::string_view plain = plain_call_name(name);
  const CudaCallKind kind = call_kind(plain);
  return plain.find("Async") != std::string_view::npos || kind == CudaCallKind::launch ||
         kind == CudaCallKind::graph_launch;
}

}  // namespace xferbench
