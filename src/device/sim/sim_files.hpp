// The simulated disk and page cache. A disk carries one request after another; each also takes a latency, during which
// the disk serves others. So direct reads of one size in a queue of some depth reach the smaller of the disk's rate and
// depth x request / (latency + request / rate).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/file.hpp"
#include "device/sim/memory.hpp"
#include "device/sim/profile.hpp"

namespace xferbench::sim {

class SimHost;

class SimFiles final : public Files {
 public:
  SimFiles(SimHost& host, const Profile& profile, DataMovement& data);
  ~SimFiles() override;

  [[nodiscard]] std::unique_ptr<DataFile> open(const std::string& path, FileRoute route) override;
  [[nodiscard]] std::unique_ptr<DataFile> make_temporary(const std::string& folder, std::uint64_t size) override;
  [[nodiscard]] std::unique_ptr<DataFile> reopen(const DataFile& file, FileRoute route) override;
  /// Every path is a folder of the simulated disk, which has no files but those that are made.
  [[nodiscard]] bool is_folder(const std::string&) override { return true; }
  [[nodiscard]] FilePlace place_of(const std::string& path) override;
  [[nodiscard]] std::optional<std::uint64_t> bytes_from_device() override;
  [[nodiscard]] std::optional<DeviceTraffic> traffic_of(const FilePlace&) override;

  class Disk;

 private:
  std::unique_ptr<Disk> disk_;
};

}  // namespace xferbench::sim
