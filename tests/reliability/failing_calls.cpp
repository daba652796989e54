// An LD_PRELOAD library that makes system calls fail, one after the other:
//
//   XFERBENCH_FAILING         which calls, the first one to fail, how many fail, and the error, such as
//                             "all:17:1:28" or "write,fsync:1:1000000:28"; first = 0: none fails. "memory" is
//                             all allocations, "all" is everything except them
//
//   XFERBENCH_FAILING_REPORT  a file that gets the name of the first call that fails, and at the end of the
//                             process a line "end" with the number of calls
//
// "write" is any function that writes to a regular file, "print" to anything else (a terminal, a pipe). A failing
// close() still closes, as on Linux. Built by Setting.shim() in tests/reliability/support.py.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// glibc's allocator, called directly so that the functions below are bypassed.
extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* memory, std::size_t size);            // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT(bugprone-reserved-identifier)
}

namespace {

struct Plan {
  const char* calls = "";
  long first = 0;
  long count = 0;
  int error = 0;
  std::atomic<long> seen = 0;
  std::atomic<bool> armed = false;  // set when main() begins
};

Plan& plan() {
  static constinit Plan the_plan;
  return the_plan;
}

/// Writes a line to the report, without allocating and without the functions below, which would count it.
void report(const char* line) {
  const char* path = std::getenv("XFERBENCH_FAILING_REPORT");
  if (path == nullptr) return;
  const int saved = errno;
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) {
    static_cast<void>(syscall(SYS_write, file, line, std::strlen(line)));
    static_cast<void>(syscall(SYS_write, file, "\n", 1));
    syscall(SYS_close, file);
  }
  errno = saved;
}

/// Whether XFERBENCH_FAILING includes this kind of call.
bool planned(const char* call) {
  const bool memory = std::strcmp(call, "memory") == 0;
  if (std::strcmp(plan().calls, "all") == 0) return !memory;
  const std::size_t length = std::strlen(call);
  for (const char* at = plan().calls; at != nullptr; at = std::strchr(at, ',')) {
    if (*at == ',') ++at;
    if (std::strncmp(at, call, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
  }
  return false;
}

/// Counts the call. Whether it must fail; if so, sets errno.
bool fails(const char* call) {
  Plan& the_plan = plan();
  if (!the_plan.armed.load(std::memory_order_relaxed) || !planned(call)) return false;
  const long number = the_plan.seen.fetch_add(1, std::memory_order_relaxed) + 1;
  if (the_plan.first == 0 || number < the_plan.first || number - the_plan.first >= the_plan.count) return false;
  if (number == the_plan.first) report(call);
  errno = the_plan.error;
  return true;
}

/// The kind of a write to this descriptor: "write" or "print".
const char* written_to(int descriptor) {
  struct stat status {};
  const bool file = syscall(SYS_fstat, descriptor, &status) == 0 && S_ISREG(status.st_mode);
  return file ? "write" : "print";
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Parses XFERBENCH_FAILING; calls count from now on.
void arm() {
  Plan& the_plan = plan();
  const char* text = std::getenv("XFERBENCH_FAILING");
  if (text == nullptr) return;
  static constinit char calls[256]{};
  const char* end = std::strchr(text, ':');
  if (end == nullptr || static_cast<std::size_t>(end - text) >= sizeof(calls)) return report("XFERBENCH_FAILING?");
  std::memcpy(calls, text, static_cast<std::size_t>(end - text));
  the_plan.calls = calls;
  char* after = nullptr;
  the_plan.first = std::strtol(end + 1, &after, 10);
  if (*after == ':') the_plan.count = std::strtol(after + 1, &after, 10);
  if (*after == ':') the_plan.error = static_cast<int>(std::strtol(after + 1, &after, 10));
  the_plan.armed = true;
}

__attribute__((destructor)) void tell_how_many() {
  plan().armed = false;
  char line[64];
  static_cast<void>(std::snprintf(line, sizeof(line), "end %ld", plan().seen.load()));
  if (plan().calls[0] != '\0') report(line);
}

using Main = int(int, char**, char**);

/// The program's own main().
Main*& program_main() {
  static constinit Main* the_main = nullptr;
  return the_main;
}

int armed_main(int count, char** arguments, char** environment) {
  arm();
  return program_main()(count, arguments, environment);
}

}  // namespace

extern "C" {

// Delays the start to main(): nobody could catch exceptions of libraries that initialise before it.
int __libc_start_main(Main* main, int count, char** arguments, void (*begin)(), void (*end)(), void (*end_of_loader)(),
                      void* stack) {  // NOLINT(bugprone-reserved-identifier)
  program_main() = main;
  using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  return next<Start>("__libc_start_main")(armed_main, count, arguments, begin, end, end_of_loader, stack);
}

// --- Memory ---------------------------------------------------------------------------------------------------------

void* malloc(std::size_t size) { return fails("memory") ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return fails("memory") ? nullptr : __libc_calloc(count, size); }
void* realloc(void* memory, std::size_t size) { return fails("memory") ? nullptr : __libc_realloc(memory, size); }
void* memalign(std::size_t alignment, std::size_t size) {
  return fails("memory") ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

// --- Files by path --------------------------------------------------------------------------------------------------

static mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}
int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails("open") ? -1 : next<int(const char*, int, ...)>("open")(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails("open") ? -1 : next<int(const char*, int, ...)>("open64")(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails("open") ? -1 : next<int(int, const char*, int, ...)>("openat")(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails("open") ? -1 : next<int(int, const char*, int, ...)>("openat64")(folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  return fails("open") ? nullptr : next<FILE*(const char*, const char*)>("fopen")(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  return fails("open") ? nullptr : next<FILE*(const char*, const char*)>("fopen64")(path, mode);
}
FILE* fdopen(int descriptor, const char* mode) noexcept {
  return fails("fdopen") ? nullptr : next<FILE*(int, const char*)>("fdopen")(descriptor, mode);
}
DIR* opendir(const char* path) { return fails("opendir") ? nullptr : next<DIR*(const char*)>("opendir")(path); }
int rename(const char* from, const char* to) noexcept {
  return fails("rename") ? -1 : next<int(const char*, const char*)>("rename")(from, to);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  if (fails("rename")) return -1;
  return next<int(int, const char*, int, const char*)>("renameat")(from_folder, from, to_folder, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (fails("rename")) return -1;
  return next<int(int, const char*, int, const char*, unsigned)>("renameat2")(from_folder, from, to_folder, to, flags);
}
int link(const char* from, const char* to) noexcept {
  return fails("link") ? -1 : next<int(const char*, const char*)>("link")(from, to);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  if (fails("link")) return -1;
  return next<int(int, const char*, int, const char*, int)>("linkat")(from_folder, from, to_folder, to, flags);
}
int symlink(const char* from, const char* to) noexcept {
  return fails("symlink") ? -1 : next<int(const char*, const char*)>("symlink")(from, to);
}
int unlink(const char* path) noexcept { return fails("unlink") ? -1 : next<int(const char*)>("unlink")(path); }
int unlinkat(int folder, const char* path, int flags) noexcept {
  return fails("unlink") ? -1 : next<int(int, const char*, int)>("unlinkat")(folder, path, flags);
}
int remove(const char* path) noexcept { return fails("unlink") ? -1 : next<int(const char*)>("remove")(path); }
int mkdir(const char* path, mode_t mode) noexcept {
  return fails("mkdir") ? -1 : next<int(const char*, mode_t)>("mkdir")(path, mode);
}
int chmod(const char* path, mode_t mode) noexcept {
  return fails("chmod") ? -1 : next<int(const char*, mode_t)>("chmod")(path, mode);
}
int fchmodat(int folder, const char* path, mode_t mode, int flags) noexcept {
  return fails("chmod") ? -1 : next<int(int, const char*, mode_t, int)>("fchmodat")(folder, path, mode, flags);
}
int truncate(const char* path, off_t size) noexcept {
  return fails("truncate") ? -1 : next<int(const char*, off_t)>("truncate")(path, size);
}
int access(const char* path, int mode) noexcept {
  return fails("access") ? -1 : next<int(const char*, int)>("access")(path, mode);
}
int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  return fails("access") ? -1 : next<int(int, const char*, int, int)>("faccessat")(folder, path, mode, flags);
}
int stat(const char* path, struct stat* status) noexcept {
  return fails("stat") ? -1 : next<int(const char*, struct stat*)>("stat")(path, status);
}
int lstat(const char* path, struct stat* status) noexcept {
  return fails("stat") ? -1 : next<int(const char*, struct stat*)>("lstat")(path, status);
}
int fstatat(int folder, const char* path, struct stat* status, int flags) noexcept {
  return fails("stat") ? -1 : next<int(int, const char*, struct stat*, int)>("fstatat")(folder, path, status, flags);
}
ssize_t readlink(const char* path, char* target, std::size_t size) noexcept {
  return fails("readlink") ? -1 : next<ssize_t(const char*, char*, std::size_t)>("readlink")(path, target, size);
}
char* realpath(const char* path, char* found) noexcept {
  return fails("realpath") ? nullptr : next<char*(const char*, char*)>("realpath")(path, found);
}
char* getcwd(char* path, std::size_t size) noexcept {
  return fails("getcwd") ? nullptr : next<char*(char*, std::size_t)>("getcwd")(path, size);
}

// --- Open descriptors -----------------------------------------------------------------------------------------------

ssize_t read(int descriptor, void* memory, std::size_t size) {
  return fails("read") ? -1 : next<ssize_t(int, void*, std::size_t)>("read")(descriptor, memory, size);
}
ssize_t pread(int descriptor, void* memory, std::size_t size, off_t at) {
  return fails("read") ? -1 : next<ssize_t(int, void*, std::size_t, off_t)>("pread")(descriptor, memory, size, at);
}
ssize_t pread64(int descriptor, void* memory, std::size_t size, off64_t at) {
  return fails("read") ? -1 : next<ssize_t(int, void*, std::size_t, off64_t)>("pread64")(descriptor, memory, size, at);
}
std::size_t fread(void* memory, std::size_t size, std::size_t count, FILE* file) {
  if (fails("read")) return 0;
  return next<std::size_t(void*, std::size_t, std::size_t, FILE*)>("fread")(memory, size, count, file);
}
ssize_t write(int descriptor, const void* memory, std::size_t size) {
  if (fails(written_to(descriptor))) return -1;
  return next<ssize_t(int, const void*, std::size_t)>("write")(descriptor, memory, size);
}
ssize_t pwrite(int descriptor, const void* memory, std::size_t size, off_t at) {
  if (fails(written_to(descriptor))) return -1;
  return next<ssize_t(int, const void*, std::size_t, off_t)>("pwrite")(descriptor, memory, size, at);
}
ssize_t pwrite64(int descriptor, const void* memory, std::size_t size, off64_t at) {
  if (fails(written_to(descriptor))) return -1;
  return next<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64")(descriptor, memory, size, at);
}
ssize_t writev(int descriptor, const struct iovec* pieces, int count) {
  if (fails(written_to(descriptor))) return -1;
  return next<ssize_t(int, const struct iovec*, int)>("writev")(descriptor, pieces, count);
}
std::size_t fwrite(const void* memory, std::size_t size, std::size_t count, FILE* file) {
  if (fails(written_to(fileno(file)))) return 0;
  return next<std::size_t(const void*, std::size_t, std::size_t, FILE*)>("fwrite")(memory, size, count, file);
}
int fflush(FILE* file) {
  if (file != nullptr && fails(written_to(fileno(file)))) return EOF;
  return next<int(FILE*)>("fflush")(file);
}
int fclose(FILE* file) {
  const int result = next<int(FILE*)>("fclose")(file);
  return fails("close") ? EOF : result;
}
int close(int descriptor) {
  const int result = next<int(int)>("close")(descriptor);
  return fails("close") ? -1 : result;
}
int fsync(int descriptor) { return fails("fsync") ? -1 : next<int(int)>("fsync")(descriptor); }
int fdatasync(int descriptor) { return fails("fsync") ? -1 : next<int(int)>("fdatasync")(descriptor); }
int flock(int descriptor, int operation) noexcept {
  return fails("flock") ? -1 : next<int(int, int)>("flock")(descriptor, operation);
}
int ftruncate(int descriptor, off_t size) noexcept {
  return fails("truncate") ? -1 : next<int(int, off_t)>("ftruncate")(descriptor, size);
}
int fchmod(int descriptor, mode_t mode) noexcept {
  return fails("chmod") ? -1 : next<int(int, mode_t)>("fchmod")(descriptor, mode);
}
int fchown(int descriptor, uid_t owner, gid_t group) noexcept {
  return fails("chown") ? -1 : next<int(int, uid_t, gid_t)>("fchown")(descriptor, owner, group);
}
int fstat(int descriptor, struct stat* status) noexcept {
  return fails("stat") ? -1 : next<int(int, struct stat*)>("fstat")(descriptor, status);
}
void* mmap(void* at, std::size_t size, int protection, int flags, int descriptor, off_t offset) noexcept {
  if (fails("mmap")) return MAP_FAILED;
  return next<void*(void*, std::size_t, int, int, int, off_t)>("mmap")(at, size, protection, flags, descriptor, offset);
}

// --- Processes and threads ------------------------------------------------------------------------------------------

pid_t fork() noexcept { return fails("fork") ? -1 : next<pid_t()>("fork")(); }
int pipe(int* ends) noexcept { return fails("pipe") ? -1 : next<int(int*)>("pipe")(ends); }
int pipe2(int* ends, int flags) noexcept { return fails("pipe") ? -1 : next<int(int*, int)>("pipe2")(ends, flags); }
int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* argument) noexcept {
  if (fails("thread")) return EAGAIN;
  return next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create")(thread, how, run,
                                                                                                 argument);
}

}  // extern "C"
