// What tests of real files share: files with known bytes, and calls of the system that fail.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/real_files.hpp"
#include "support/files.hpp"

namespace xferbench::test {

using Bytes = std::vector<std::byte>;

inline Bytes made_bytes(std::size_t size) {
  Bytes made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<std::byte>((i * 2654435761U) >> 13U);
  return made;
}

/// Makes a file and returns what it holds.
inline Bytes put(const std::filesystem::path& path, std::size_t size) {
  Bytes bytes = made_bytes(size);
  write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return bytes;
}

using Fault = std::function<int(const std::string& call, std::size_t& bytes)>;
struct FaultyCalls final : SystemCalls {
  explicit FaultyCalls(Fault faults) : fault_of(std::move(faults)) {}
  int fault(const char* call, std::size_t& bytes) override { return fault_of(call, bytes); }
  Fault fault_of;
};

/// The message of the FileError that `act` throws.
template <class Act>
std::string file_error_of(Act act) {
  try {
    static_cast<void>(act());
  } catch (const FileError& error) {
    return error.what();
  }
  return "no error";
}

/// The file on both routes; only cached where there is no direct one, as in some containers.
inline std::vector<std::unique_ptr<DataFile>> on_both_routes(Files& files, const std::filesystem::path& path) {
  std::vector<std::unique_ptr<DataFile>> opened;
  opened.push_back(files.open(path, FileRoute::cached));
  if (!opened.front()->place().device.empty()) opened.push_back(files.open(path, FileRoute::direct));
  return opened;
}

}  // namespace xferbench::test
