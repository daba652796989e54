// Reads what a program's processes left of what they did (recording/recording.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/recording.hpp"

namespace xferbench {

/// What one process left. Records of a type are in the order of their begins, those on devices with times alone: the
/// others are counted in `untimed`.
struct Recording {
  std::string file;  ///< as messages call it
  recording::Process process;
  std::vector<std::string> names{""};  ///< by NameId; [0]: none
  std::vector<recording::Device> devices;
  std::vector<recording::Stream> streams;
  std::vector<recording::Call> calls;
  std::vector<recording::Copy> copies;
  std::vector<recording::Kernel> kernels;
  std::vector<recording::Fill> fills;
  std::vector<recording::Synchronization> synchronizations;
  std::vector<recording::Event> events;  ///< in the order of the file
  std::vector<recording::Range> ranges;
  std::vector<recording::Migration> migrations;
  std::vector<recording::Overhead> overheads;
  std::vector<std::vector<recording::NameId>> stacks{{}};  ///< by Stack::id
  std::vector<std::string> notes;
  bool failed = false;  ///< nothing of CUDA could be recorded: the last note says why
  std::uint64_t dropped = 0;
  std::uint64_t untimed = 0;
  std::optional<recording::End> end;  ///< none: the process did not come to its end in order
  bool torn = false;                  ///< the last record is not whole, and was left out

  [[nodiscard]] std::string_view name(recording::NameId id) const { return names.at(id); }
};

/// Throws InputError with the file, the offset and what was expected there: another kind of file or version, a record
/// of another size than its type has, a name that is used before it is given, ends before begins, more names, stacks or
/// bytes of them than a program has. A file that ends within a record is torn, and no error.
Recording read_recording(const std::string& path);

}  // namespace xferbench
