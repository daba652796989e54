#include "device/file_place.hpp"

#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "core/units.hpp"

namespace xferbench {

namespace {

namespace fs = std::filesystem;

// Magic numbers of statfs(2). The table of mounts names more file systems, but is not always readable.
constexpr std::array<std::pair<std::uint32_t, const char*>, 11> kMagicNumbers{{
    {0x01021994, "tmpfs"},
    {0x858458f6, "ramfs"},
    {0x0000ef53, "ext4"},
    {0x58465342, "xfs"},
    {0x9123683e, "btrfs"},
    {0x2fc12fc1, "zfs"},
    {0x794c7630, "overlay"},
    {0x00006969, "nfs"},
    {0xff534d42, "cifs"},
    {0x65735546, "fuse"},
    {0x01021997, "9p"},
}};

/// Whether data comes from another system with a cache of its own: a server, or the host of a virtual machine.
bool is_remote(std::string_view file_system) {
  constexpr std::array kRemote{"nfs",  "cifs",      "smb",          "9p",     "virtiofs",
                               "ceph", "fuse.ceph", "fuse.sshfs",   "lustre", "gpfs",
                               "afs",  "glusterfs", "fuse.gluster", "beegfs", "orangefs"};
  return std::ranges::any_of(kRemote, [&](const char* name) { return file_system.starts_with(name); });
}

std::string first_line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Reads a file that holds a number of KiB. Returns bytes; 0 if there is no such number.
std::uint64_t kib_in(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t kib = 0;
  return file >> kib ? kib * KiB : 0;
}

std::string number_of(dev_t device) { return fmt::format("{}:{}", major(device), minor(device)); }

struct Mount {
  std::string type;
  std::string source;
};

/// Returns the identifier of the mount that the open file is on; empty if unknown.
std::string mount_id_of(int file) {
  std::ifstream facts(fmt::format("/proc/self/fdinfo/{}", file));
  for (std::string word; facts >> word;) {
    if (word == "mnt_id:" && facts >> word) return word;
  }
  return {};
}

/// Lines are "36 35 98:0 /root /mnt rw,noatime master:1 - ext4 /dev/sda1 rw" (proc_pid_mountinfo(5)). Files of btrfs
/// have device numbers that are not in the table, so the identifier of the mount counts.
std::optional<Mount> mount_of(int file, dev_t device) {
  const std::string id = mount_id_of(file);
  std::optional<Mount> found;
  std::ifstream table("/proc/self/mountinfo");
  for (std::string line; std::getline(table, line);) {
    const std::size_t dash = line.find(" - ");
    std::istringstream before(line);
    std::string its_id;
    std::string parent;
    std::string its_device;
    before >> its_id >> parent >> its_device;
    const bool is_it = id.empty() ? its_device == number_of(device) : its_id == id;
    if (!is_it || dash == std::string::npos) continue;
    std::istringstream after(line.substr(dash + 3));
    Mount mount;
    after >> mount.type >> mount.source;
    found = mount;
  }
  return found;
}

/// Returns the number of the block device with the file's data; nothing if there is none.
std::optional<dev_t> block_device_of(SystemCalls& calls, const struct stat& facts, const std::optional<Mount>& mount) {
  if (S_ISBLK(facts.st_mode)) return facts.st_rdev;
  struct stat source {};
  const bool named = mount && mount->source.starts_with("/dev/");
  if (named && calls.stat(mount->source.c_str(), source) == 0 && S_ISBLK(source.st_mode)) return source.st_rdev;
  if (major(facts.st_dev) != 0) return facts.st_dev;
  return std::nullopt;
}

/// Returns the word in brackets, as in "none [mq-deadline] kyber".
std::string chosen_of(const std::string& words) {
  const std::size_t begin = words.find('[');
  const std::size_t end = words.find(']', begin);
  return begin == std::string::npos || end == std::string::npos ? words : words.substr(begin + 1, end - begin - 1);
}

void add_device(FilePlace& place, dev_t device) {
  std::error_code error;
  fs::path folder = fs::canonical("/sys/dev/block/" + number_of(device), error);
  if (error) return;
  if (fs::exists(folder / "partition", error)) folder = folder.parent_path();  // a partition has no queue; its disk has
  place.device = folder.filename().string();
  place.scheduler = chosen_of(first_line_of(folder / "queue/scheduler"));
  place.readahead = kib_in(folder / "queue/read_ahead_kb");
  place.largest_request = kib_in(folder / "queue/max_sectors_kb");
}

void add_file_system(FilePlace& place, SystemCalls& calls, int file, const std::optional<Mount>& mount) {
  struct statfs facts {};
  if (calls.fstatfs(file, facts) == 0) {
    const auto magic = static_cast<std::uint32_t>(facts.f_type);
    const auto named = std::ranges::find(kMagicNumbers, magic, [](const auto& known) { return known.first; });
    if (named != kMagicNumbers.end()) place.file_system = named->second;
  }
  if (mount) place.file_system = mount->type;
  place.in_memory = place.file_system == "tmpfs" || place.file_system == "ramfs" || place.file_system == "devtmpfs";
  place.network = is_remote(place.file_system);
  struct statvfs space {};
  if (calls.fstatvfs(file, space) == 0) place.free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
}

bool is_virtual_machine() {
  std::ifstream processors("/proc/cpuinfo");
  for (std::string line; std::getline(processors, line);) {
    if (line.starts_with("flags") && line.find(" hypervisor") != std::string::npos) return true;
    if (line.starts_with("flags")) break;
  }
  if (!first_line_of("/sys/hypervisor/type").empty()) return true;
  // Arm processors lack that flag, but the firmware names the maker of the virtual machine.
  const std::string dmi = "/sys/class/dmi/id/";
  const std::string made = first_line_of(dmi + "sys_vendor") + " " + first_line_of(dmi + "product_name");
  constexpr std::array kMakers{"QEMU", "KVM", "VMware", "VirtualBox", "Virtual Machine", "Google Compute Engine"};
  return std::ranges::any_of(kMakers, [&](const char* maker) { return made.find(maker) != std::string::npos; });
}

}  // namespace

std::optional<DeviceTraffic> traffic_of_device(const std::string& name) {
  constexpr std::uint64_t kSector = 512;  // unit in this file, whatever the device's own sector size is
  std::ifstream file("/sys/class/block/" + name + "/stat");
  DeviceTraffic all;
  std::uint64_t merged = 0;
  std::uint64_t time = 0;
  file >> all.reads >> merged >> all.bytes_read >> time >> all.writes >> merged >> all.bytes_written;
  if (name.empty() || !file) return std::nullopt;
  all.bytes_read *= kSector;
  all.bytes_written *= kSector;
  return all;
}

FilePlace place_of_open_file(SystemCalls& calls, int file) {
  FilePlace place;
  place.virtual_machine = is_virtual_machine();
  struct stat facts {};
  if (calls.fstat(file, facts) != 0) return place;
  const std::optional<Mount> mount = mount_of(file, facts.st_dev);
  if (S_ISBLK(facts.st_mode)) {
    place.file_system = "block device";  // the node of the device lies in a devtmpfs, but its data does not
  } else {
    add_file_system(place, calls, file, mount);
  }
  if (const auto device = block_device_of(calls, facts, mount)) add_device(place, *device);
  if (place.readahead == 0) {
    // File systems without a block device of their own, such as NFS, read ahead too.
    place.readahead = kib_in(fmt::format("/sys/class/bdi/{}/read_ahead_kb", number_of(facts.st_dev)));
  }
  DirectAlignment alignment;
  if (calls.direct_alignment(file, alignment) == 0) {
    place.direct_memory_alignment = alignment.memory;
    place.direct_offset_alignment = alignment.offset;
  }
  return place;
}

}  // namespace xferbench
