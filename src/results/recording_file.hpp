// Reads the recordings of a program's processes (recording/recording.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/recording.hpp"

namespace xferbench {

/// The recording of one process. Records of each type are sorted by begin. Operations without times are left out and
/// counted in `untimed`.
struct Recording {
  std::string file;  ///< path, for messages
  recording::Process process;
  std::vector<std::string> names{""};  ///< texts, indexed by NameId; [0] is empty
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
  std::vector<recording::Usage> usages;
  std::vector<recording::Workers> workers;
  std::vector<recording::ProcessUsage> process_usages;
  std::vector<recording::FileRead> file_reads;
  std::vector<std::vector<recording::NameId>> stacks{{}};  ///< call stacks, indexed by Stack::id
  std::vector<std::string> notes;
  bool failed = false;  ///< no CUDA activity could be recorded; the last of `notes` has the reason
  std::uint64_t dropped = 0;
  std::uint64_t untimed = 0;
  std::optional<recording::End> end;  ///< the file's End record; nothing if the process did not end regularly
  bool torn = false;                  ///< the last record is incomplete and was left out

  [[nodiscard]] std::string_view name(recording::NameId id) const { return names.at(id); }
};

/// Reads a recording. Throws InputError with the file, the offset and what was expected there: for another kind of file
/// or version, a record of wrong size, a name used before its definition, an end before its begin, or an implausible
/// number or size of names and stacks. A file that ends within a record is torn, which is no error.
Recording read_recording(const std::string& path);

}  // namespace xferbench
