#include "inject/cupti_api.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string_view>
#include <type_traits>
#include <vector>

#include "recording/cupti_paths.hpp"

namespace xferbench::inject {

std::string CuptiApi::text(CUptiResult result) const {
  const char* text = nullptr;
  return result_string(result, &text) == CUPTI_SUCCESS && text != nullptr ? text : "an unknown error";
}

namespace {

std::optional<CuptiApi> functions_of(void* handle) {
  CuptiApi api;
  const auto find = [handle](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  find(api.enable_runtime_call, "cuptiActivityEnableRuntimeApi");
  find(api.enable_driver_call, "cuptiActivityEnableDriverApi");
  find(api.set_thread_ids, "cuptiSetThreadIdType");
  find(api.configure_managed, "cuptiActivityConfigureUnifiedMemoryCounter");
  find(api.device_of, "cuptiGetDeviceId");
  decltype(&cuptiGetVersion) get_version = nullptr;
  const bool all =
      find(get_version, "cuptiGetVersion") && find(api.register_callbacks, "cuptiActivityRegisterCallbacks") &&
      find(api.register_clock, "cuptiActivityRegisterTimestampCallback") && find(api.enable, "cuptiActivityEnable") &&
      find(api.disable, "cuptiActivityDisable") && find(api.flush_all, "cuptiActivityFlushAll") &&
      find(api.next_record, "cuptiActivityGetNextRecord") &&
      find(api.count_dropped, "cuptiActivityGetNumDroppedRecords") && find(api.callback_name, "cuptiGetCallbackName") &&
      find(api.result_string, "cuptiGetResultString") && find(api.subscribe, "cuptiSubscribe") &&
      find(api.unsubscribe, "cuptiUnsubscribe") && find(api.enable_callback, "cuptiEnableCallback") &&
      get_version(&api.version) == CUPTI_SUCCESS;
  if (!all) return std::nullopt;
  return api;
}

struct Place {
  std::string path;
  int flags;
};

/// Returns the folders of all CUDA runtime libraries that this process has loaded, with a trailing slash.
std::vector<std::string> folders_of_runtimes() {
  std::vector<std::string> folders;
  const auto look = [](dl_phdr_info* library, std::size_t, void* found) {
    const std::string_view path = library->dlpi_name == nullptr ? "" : library->dlpi_name;
    const std::size_t name = path.rfind('/') + 1;
    if (path.substr(name).starts_with("libcudart.so")) {
      static_cast<std::vector<std::string>*>(found)->emplace_back(path.substr(0, name));
    }
    return 0;
  };
  dl_iterate_phdr(look, &folders);
  return folders;
}

std::vector<Place> places(const std::optional<std::string>& path) {
  if (path) return {{*path, RTLD_NOW | RTLD_LOCAL}};
  std::vector<Place> all;
  // First reuse a CUPTI library that is already loaded, because two would conflict over the driver.
  for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) all.push_back({name, RTLD_NOW | RTLD_NOLOAD});
  // Next look near the program's own CUDA runtime, in the folder layouts of Python packages and of the CUDA Toolkit.
  for (const std::string& folder : folders_of_runtimes()) {
    for (const char* beside : {"", "../../cuda_cupti/lib/", "../extras/CUPTI/lib64/"}) {
      for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
        all.push_back({folder + beside + name, RTLD_NOW | RTLD_LOCAL});
      }
    }
  }
  for (const std::string& place : cupti_paths()) all.push_back({place, RTLD_NOW | RTLD_LOCAL});
  return all;
}

}  // namespace

std::optional<CuptiApi> load_cupti(const std::optional<std::string>& path, std::string& refusal) {
  refusal =
      path ? "CUPTI cannot be loaded from " + *path
           : "CUPTI (libcupti.so) was not found: it comes with the CUDA Toolkit; add its folder to LD_LIBRARY_PATH";
  for (const Place& place : places(path)) {
    void* const handle = dlopen(place.path.c_str(), place.flags);
    if (handle == nullptr) continue;
    std::optional<CuptiApi> api = functions_of(handle);
    if (api && cuda_major_of(api->version) == cuda_major_of(CUPTI_API_VERSION)) return api;
    if (api) {
      refusal = "the CUPTI found is from CUDA " + std::to_string(cuda_major_of(api->version)) +
                ", but xferbench needs that of CUDA " + std::to_string(cuda_major_of(CUPTI_API_VERSION));
    } else {
      refusal = "the CUPTI found (" + place.path + ") lacks functions";
    }
    dlclose(handle);
  }
  return std::nullopt;
}

}  // namespace xferbench::inject
