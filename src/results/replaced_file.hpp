// The one way to replace a file.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/descriptor.hpp"
#include "results/sink.hpp"

namespace xferbench {

/// What becomes of the file that was there before.
enum class Previous {
  dropped,
  kept,  ///< as FILE~, when it is replaced for the first time
};

/// The path without the links at its end: the last of them may lead to what is not there yet.
std::filesystem::path follow_links(std::filesystem::path path);

/// How the name of a journal ends, and how its text begins.
inline constexpr std::string_view kJournalEnding = ".journal";
inline constexpr std::string_view kJournalBegins = "{\n \"schema\": \"xferbench/1\",\n \"complete\": false,\n";

/// Gives an ordinary file the name FILE~; does nothing where there is none. Throws OutputError as ReplacedFile does.
void set_aside(const std::string& path);

/// A file that changes only as a whole: a reader, a kill -9 or a full disk finds its last state or the one before it,
/// and never a part. Each state is written to a file of its own without a name, or with one that nobody could have
/// guessed, and takes the place of the file when it is on the disk.
///
/// While this object lives the file is locked (flock on the file itself): a second one of it is refused, in this
/// process or another. Where a file system has no locks there is none.
///
/// A symbolic link is followed, even one that leads to nothing yet; permissions and owner stay.
class ReplacedFile {
 public:
  /// Changes nothing yet. Throws OutputError where the file could not be replaced, or not without losing something:
  /// another is writing it, it has hard links, it is somebody else's, it is write-protected.
  ReplacedFile(const std::string& path, Previous previous);

  /// Whether there is a file now.
  [[nodiscard]] bool exists() const { return static_cast<bool>(held_); }

  /// Gives the file that is there the name FILE~.
  void set_aside();
  /// Writes the next state. Throws OutputError; then the file is as it was.
  void replace(const TextWriter& write);

  /// FILE.journal, which has what the file does not say yet: put in place as a whole, with the file's mode, over a
  /// journal that is there. Open to be read and written. Throws OutputError, also where something else has that name.
  [[nodiscard]] Descriptor put_journal(const TextWriter& write) const;
  [[nodiscard]] bool has_journal() const;
  /// The file says all of it.
  void remove_journal() const;
  /// Gives it a second name that nothing has yet (FILE.journal.damaged), so that it is not lost when it is written
  /// over; returns that. Throws OutputError.
  [[nodiscard]] std::string keep_damaged_journal() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Temporary {
    Descriptor file;
    std::string name;  // empty: it has none
  };

  [[noreturn]] void fail(int error) const;
  [[noreturn]] void refuse(const std::string& why) const;
  void hold();
  bool take_hold_of(Descriptor file);
  void refuse_what_would_be_lost(const struct stat& status) const;
  [[nodiscard]] Temporary make_temporary() const;
  [[nodiscard]] Temporary make_named() const;
  void write_state(const Temporary& temporary, const TextWriter& write) const;
  void give_name(Temporary& temporary) const;
  void put_in_place(Temporary& temporary);
  void keep_previous();
  [[nodiscard]] bool is_journal(const std::string& name) const;
  /// A journal belongs to the file beside it, also when that is kept.
  void keep_previous_journal() const;
  void keep_as(const std::string& name, const std::string& kept) const;
  void remove(const Temporary& temporary) const;

  std::string path_;   // as messages call it
  Descriptor folder_;  // that the file is in, where links have led
  std::string name_;   // in that folder
  Previous previous_;
  bool unnamed_ = false;  // the file system has files without names
  Descriptor held_;       // the file as it is now, locked; none: there is none yet
};

}  // namespace xferbench
