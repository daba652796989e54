// Facts about the place of a file: its file system, the device below and its queue, from the system's calls, /proc and
// /sys.
#pragma once

#include <optional>
#include <string>

#include "device/file.hpp"
#include "device/system_calls.hpp"

namespace xferbench {

/// Returns the facts; unknown ones stay empty. The file may be a folder or a block device, and may be opened by O_PATH.
FilePlace place_of_open_file(SystemCalls& calls, int file);

/// Returns the traffic of the device with this name, from /sys/class/block/NAME/stat.
std::optional<DeviceTraffic> traffic_of_device(const std::string& name);

}  // namespace xferbench
