// Replaces files atomically.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "core/descriptor.hpp"
#include "results/sink.hpp"

namespace xferbench {

/// What happens to an existing file with the name of the new one.
enum class Previous {
  dropped,
  kept,  ///< kept as FILE~ at the first replacement
};

/// Resolves the symbolic links at the end of a path. The last link may lead to a missing file.
std::filesystem::path follow_links(std::filesystem::path path);

/// Suffix of a journal's name, and the beginning of its text.
inline constexpr std::string_view kJournalEnding = ".journal";
inline constexpr std::string_view kJournalBegins = "{\n \"schema\": \"xferbench/1\",\n \"complete\": false,\n";

/// Renames a regular file to FILE~; does nothing if there is none. Throws OutputError, as ReplacedFile does.
void set_aside(const std::string& path);

/// A file that is only replaced as a whole: readers find its last state or the one before it, never a part, even after
/// kill -9 or on a full disk. Each state is written to a temporary file, unnamed or with an unpredictable name, which
/// replaces the file once it is on the disk.
///
/// The file is locked (flock on the file itself) while this object exists. The constructor of a second object for the
/// file throws, in this process and in others. File systems without locks do not protect the file in this way.
///
/// Symbolic links are followed, even to a missing file; permissions and owner are kept.
class ReplacedFile {
 public:
  /// Locks the file, but does not change it. Throws OutputError if another process is writing the file, or if it has
  /// hard links, belongs to another user, or is write-protected.
  ReplacedFile(const std::string& path, Previous previous);

  [[nodiscard]] bool exists() const { return static_cast<bool>(held_); }

  /// Renames the existing file to FILE~.
  void set_aside();
  /// Writes the next state. On failure throws OutputError and leaves the file unchanged.
  void replace(const TextWriter& write);

  /// Atomically creates or replaces FILE.journal, which holds the data that FILE lacks so far; it gets the permissions
  /// of FILE. Returns it open for reading and writing. Throws OutputError, also if that name belongs to something that
  /// is not a journal.
  [[nodiscard]] Descriptor put_journal(const TextWriter& write) const;
  [[nodiscard]] bool has_journal() const;
  /// Removes FILE.journal; to be called once FILE has all data that the journal has.
  void remove_journal() const;
  /// Gives the journal an additional, unused name (FILE.journal.damaged), so that it survives being overwritten.
  /// Returns that path. Throws OutputError.
  [[nodiscard]] std::string keep_damaged_journal() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Temporary {
    Descriptor file;
    std::string name;  // empty: unnamed
  };

  [[noreturn]] void fail(int error) const;
  [[noreturn]] void refuse(const std::string& why) const;
  void hold();
  bool take_hold_of(Descriptor file);
  void refuse_data_loss(const struct stat& status) const;
  [[nodiscard]] Temporary make_temporary() const;
  [[nodiscard]] Temporary make_named() const;
  void write_state(const Temporary& temporary, const TextWriter& write) const;
  void give_name(Temporary& temporary) const;
  void put_in_place(Temporary& temporary);
  void keep_previous();
  [[nodiscard]] bool is_journal(const std::string& name) const;
  /// Renames the journal of the previous file together with that file, to FILE~.journal.
  void keep_previous_journal() const;
  void keep_as(const std::string& name, const std::string& kept) const;
  void remove(const Temporary& temporary) const;

  std::string path_;   // path of the file, for messages
  Descriptor folder_;  // folder of the file, with links resolved
  std::string name_;   // name of the file in `folder_`
  Previous previous_;
  bool unnamed_ = false;  // the file system supports unnamed files (O_TMPFILE)
  Descriptor held_;       // the current file, locked; none: there is no file yet
};

}  // namespace xferbench
