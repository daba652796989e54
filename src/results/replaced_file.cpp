#include "results/replaced_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

#include "core/error.hpp"
#include "results/file_io.hpp"

namespace xferbench {

namespace {

namespace fs = std::filesystem;

Descriptor open_folder(const fs::path& folder) {
  const char* path = folder.empty() ? "." : folder.c_str();
  Descriptor opened(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened && errno == EACCES) opened = Descriptor(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
  return opened;
}

bool is_same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// Returns a random file name that no other file has.
std::string random_name() {
  std::array<std::uint64_t, 2> bits{};
  if (getrandom(bits.data(), sizeof(bits), 0) != sizeof(bits)) bits[0] = static_cast<std::uint64_t>(getpid());
  return fmt::format(".xferbench-{:016x}{:016x}", bits[0], bits[1]);
}

std::string by_descriptor(const Descriptor& file) { return fmt::format("/proc/self/fd/{}", file.number()); }

}  // namespace

fs::path follow_links(fs::path path) {
  constexpr int kMostLinks = 40;  // the kernel's own limit
  std::error_code none;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, none); ++i) {
    const fs::path target = fs::read_symlink(path, none);
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  return path;
}

void ReplacedFile::fail(int error) const {
  throw OutputError(fmt::format("cannot write {}: {}", path_, std::strerror(error)));
}

void ReplacedFile::refuse(const std::string& why) const {
  throw OutputError(fmt::format("cannot write {}: {}; name another file", path_, why));
}

ReplacedFile::ReplacedFile(const std::string& path, Previous previous) : path_(path), previous_(previous) {
  const fs::path followed = follow_links(path);
  name_ = followed.filename().string();
  std::error_code none;
  if (fs::is_symlink(followed, none)) fail(ELOOP);
  if (name_.empty() || name_ == "." || name_ == ".." || fs::is_directory(followed, none)) fail(EISDIR);
  folder_ = open_folder(followed.parent_path());
  if (!folder_ && errno == ENOENT) {
    throw OutputError(
        fmt::format("cannot write {}: there is no folder {}", path_, fs::absolute(followed).parent_path().string()));
  }
  if (!folder_) fail(errno);
  const Descriptor probe(openat(folder_.number(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  unnamed_ = probe && access(by_descriptor(probe).c_str(), F_OK) == 0;
  hold();
  if (!unnamed_) remove(make_named());
}

// --- The lock -------------------------------------------------------------------------------------------------------

/// Opens and locks the file. Between both steps, the previous owner of the lock may have replaced the file; then the
/// new file is opened and locked instead.
void ReplacedFile::hold() {
  constexpr int kFlags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  constexpr int kMostTries = 1000;
  for (int i = 0; i < kMostTries; ++i) {
    Descriptor file(openat(folder_.number(), name_.c_str(), O_RDONLY | kFlags));
    if (!file && errno == EACCES) file = Descriptor(openat(folder_.number(), name_.c_str(), O_WRONLY | kFlags));
    if (!file && errno == ENOENT) return;
    if (!file) fail(errno);
    if (take_hold_of(std::move(file))) return;
  }
  refuse("other programs keep replacing it");
}

bool ReplacedFile::take_hold_of(Descriptor file) {
  if (!file_io::lock(file.number())) refuse("another xferbench is writing it: wait for its end");
  struct stat held {};
  struct stat named {};
  if (fstat(file.number(), &held) != 0) fail(errno);
  const bool is_there = fstatat(folder_.number(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0;
  if (!is_there || !is_same_file(held, named)) return false;
  refuse_data_loss(held);
  held_ = std::move(file);
  return true;
}

void ReplacedFile::refuse_data_loss(const struct stat& status) const {
  // Refuse a write-protected file: replacing it would succeed, against the intention of its owner.
  if (faccessat(folder_.number(), name_.c_str(), W_OK, AT_EACCESS) != 0) fail(errno);
  struct stat kept {};
  const std::string backup = name_ + "~";
  const bool has_backup = fstatat(folder_.number(), backup.c_str(), &kept, AT_SYMLINK_NOFOLLOW) == 0;
  // A process that was killed while it renamed FILE to FILE~ may leave the file under both names.
  const nlink_t names = has_backup && is_same_file(status, kept) ? 2 : 1;
  if (status.st_nlink > names) refuse("it has hard links, which would keep the old content");
  if (status.st_uid != geteuid() && geteuid() != 0) refuse("it belongs to another user, and would change its owner");
  if (previous_ == Previous::dropped) return;
  if (backup.size() > NAME_MAX) refuse("its name is too long for a backup FILE~");
  if (has_backup && S_ISDIR(kept.st_mode)) refuse(fmt::format("its backup would be {}~, which is a folder", path_));
}

// --- A state --------------------------------------------------------------------------------------------------------

ReplacedFile::Temporary ReplacedFile::make_named() const {
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    Temporary made{.file = {}, .name = random_name()};
    made.file = Descriptor(
        openat(folder_.number(), made.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (made.file) return made;
    if (errno != EEXIST) break;
  }
  fail(errno);
}

ReplacedFile::Temporary ReplacedFile::make_temporary() const {
  if (!unnamed_) return make_named();
  Temporary made{.file = Descriptor(openat(folder_.number(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666)), .name = {}};
  if (!made.file) fail(errno);
  return made;
}

void ReplacedFile::remove(const Temporary& temporary) const {
  if (!temporary.name.empty()) unlinkat(folder_.number(), temporary.name.c_str(), 0);
}

void ReplacedFile::write_state(const Temporary& temporary, const TextWriter& write) const {
  write([&](std::string_view piece) {
    if (const int error = file_io::write(temporary.file.number(), piece); error != 0) fail(error);
  });
  if (held_) {  // keep owner and permissions, but not the setuid and setgid bits
    struct stat status {};
    if (fstat(held_.number(), &status) != 0) fail(errno);
    if (status.st_uid != geteuid() && fchown(temporary.file.number(), status.st_uid, status.st_gid) != 0) fail(errno);
    if (fchmod(temporary.file.number(), status.st_mode & 0777) != 0) fail(errno);
  }
  if (const int failed = file_io::synchronize(temporary.file.number()); failed != 0) fail(failed);
  // Lock the new file before it gets the name, so that the file is locked at every moment.
  if (!file_io::lock(temporary.file.number())) refuse("another xferbench is writing it");
}

void ReplacedFile::replace(const TextWriter& write) {
  Temporary temporary = make_temporary();
  try {
    write_state(temporary, write);
    put_in_place(temporary);
  } catch (...) {
    remove(temporary);
    throw;
  }
  held_ = std::move(temporary.file);
  if (previous_ == Previous::kept) remove_journal();  // put_in_place() has kept it as FILE~.journal
  previous_ = Previous::dropped;                      // later replacements keep no backup
  // An error is ignored: the file is in place, and only a system crash could undo it.
  static_cast<void>(file_io::synchronize(folder_.number()));
}

/// Gives an unnamed file a name; does nothing if it has one.
void ReplacedFile::give_name(Temporary& temporary) const {
  if (!temporary.name.empty()) return;
  const std::string name = random_name();
  if (linkat(AT_FDCWD, by_descriptor(temporary.file).c_str(), folder_.number(), name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    fail(errno);
  }
  temporary.name = name;
}

void ReplacedFile::put_in_place(Temporary& temporary) {
  give_name(temporary);
  const bool keeps = previous_ == Previous::kept;
  if (keeps && (held_ || has_journal())) keep_previous_journal();
  if (!held_) {
    // Do not overwrite a file that another program has just made.
    constexpr unsigned kUnlessThere = RENAME_NOREPLACE;
    const int folder = folder_.number();
    if (renameat2(folder, temporary.name.c_str(), folder, name_.c_str(), kUnlessThere) == 0) return;
    if (errno == EEXIST) refuse("another program has just created it");
    if (errno != EINVAL && errno != ENOSYS) fail(errno);
  }
  if (held_ && keeps) keep_previous();
  if (renameat(folder_.number(), temporary.name.c_str(), folder_.number(), name_.c_str()) != 0) fail(errno);
}

/// Gives the file `name` the additional name `kept`. `name` itself stays, so that readers find it at every moment.
void ReplacedFile::keep_as(const std::string& name, const std::string& kept) const {
  const int folder = folder_.number();
  const Temporary link{.file = {}, .name = random_name()};
  const bool linked = linkat(folder, name.c_str(), folder, link.name.c_str(), 0) == 0;
  // Some file systems have no hard links; then the file is missing for a moment.
  const std::string& from = linked ? link.name : name;
  if (renameat(folder, from.c_str(), folder, kept.c_str()) != 0) {
    const int error = errno;
    if (linked) remove(link);
    throw OutputError(fmt::format("cannot keep {} as {}: {}", name, kept, std::strerror(error)));
  }
  if (linked) remove(link);  // renaming does nothing if both names already belong to one file
}

void ReplacedFile::keep_previous() { keep_as(name_, name_ + "~"); }

void ReplacedFile::set_aside() {
  if (held_ || has_journal()) keep_previous_journal();
  if (held_) {
    keep_previous();
    unlinkat(folder_.number(), name_.c_str(), 0);
    held_ = Descriptor();
  }
  remove_journal();
}

// --- Its journal ----------------------------------------------------------------------------------------------------

bool ReplacedFile::is_journal(const std::string& name) const {
  const Descriptor file(openat(folder_.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  std::array<char, kJournalBegins.size()> begins{};
  const ssize_t size = pread(file.number(), begins.data(), begins.size(), 0);
  return size == static_cast<ssize_t>(begins.size()) &&
         std::string_view(begins.data(), begins.size()) == kJournalBegins;
}

bool ReplacedFile::has_journal() const { return is_journal(name_ + std::string(kJournalEnding)); }

void ReplacedFile::remove_journal() const {
  if (has_journal()) unlinkat(folder_.number(), (name_ + std::string(kJournalEnding)).c_str(), 0);
}

void ReplacedFile::keep_previous_journal() const {
  const std::string journal = name_ + std::string(kJournalEnding);
  const std::string kept = name_ + "~" + std::string(kJournalEnding);
  if (is_journal(journal)) return keep_as(journal, kept);
  if (is_journal(kept)) unlinkat(folder_.number(), kept.c_str(), 0);  // it belongs to an older FILE~, now overwritten
}

std::string ReplacedFile::keep_damaged_journal() const {
  constexpr int kMostKept = 100;
  const int folder = folder_.number();
  const std::string journal = name_ + std::string(kJournalEnding);
  struct stat status {};
  if (fstatat(folder, journal.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) fail(errno);
  for (int i = 1; i <= kMostKept; ++i) {
    const std::string ending = fmt::format("{}.damaged{}", kJournalEnding, i == 1 ? "" : std::to_string(i));
    const std::string kept = name_ + ending;
    struct stat there {};
    const bool is_taken = fstatat(folder, kept.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
    // If an earlier resume kept this journal and then failed, the journal already has this name.
    if (is_taken && is_same_file(status, there)) return path_ + ending;
    if (is_taken) continue;
    const bool linked = linkat(folder, journal.c_str(), folder, kept.c_str(), 0) == 0;
    // Some file systems have no hard links; then the journal is missing for a moment.
    if (linked || renameat2(folder, journal.c_str(), folder, kept.c_str(), RENAME_NOREPLACE) == 0)
      return path_ + ending;
    if (errno != EEXIST)
      throw OutputError(fmt::format("cannot keep {} as {}: {}", journal, kept, std::strerror(errno)));
  }
  throw OutputError(fmt::format("there are {} damaged journals next to {}: move them away", kMostKept, path_));
}

Descriptor ReplacedFile::put_journal(const TextWriter& write) const {
  const std::string name = name_ + std::string(kJournalEnding);
  try {
    struct stat there {};
    const bool taken = fstatat(folder_.number(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
    if (taken && !has_journal()) refuse("another file has the name of its journal");
    Temporary temporary = make_temporary();
    try {
      write_state(temporary, write);
      give_name(temporary);
      if (renameat(folder_.number(), temporary.name.c_str(), folder_.number(), name.c_str()) != 0) fail(errno);
    } catch (...) {
      remove(temporary);
      throw;
    }
    static_cast<void>(file_io::synchronize(folder_.number()));
    return std::move(temporary.file);
  } catch (const OutputError& error) {
    throw OutputError(fmt::format("no journal {}{}: {}", path_, kJournalEnding, error.what()));
  }
}

void set_aside(const std::string& path) { ReplacedFile(path, Previous::kept).set_aside(); }

}  // namespace xferbench
