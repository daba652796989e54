// A test program for the recording library: victim LIFE. It loads the library as the CUDA driver would, works a little
// (tests/support/fake_cupti.cpp), and ends as LIFE says. Its output and end must be the same with and without the
// library.
#include <dlfcn.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

void sleep_for(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

/// Longer than the library's interval between writes.
constexpr auto kLong = 1300ms;

/// A function of the stand-in for CUPTI; null if that is not loaded.
template <class Function>
Function* fake(const char* name) {
  const char* const path = std::getenv("XFERBENCH_RECORD_CUPTI");
  void* const handle = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle, name));
}

void work(unsigned steps) {
  if (auto* const step = fake<void(unsigned)>("fake_cuda_steps")) step(steps);
}

/// Loads the injection library, as the driver does in cuInit().
void initialise() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr) return;
  void* const library = dlopen(path, RTLD_NOW);
  if (library == nullptr) std::printf("cannot load: %s\n", dlerror());
  if (library == nullptr) return;
  reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
}

void say(const char* what) {
  std::puts(what);
  std::fflush(stdout);
}

/// The usual beginning: initialise and five steps.
void begin() {
  initialise();
  work(5);
  say("worked");
}

// --- Ways to live and end -------------------------------------------------------------------------------------------

int seven() {
  begin();
  return 7;
}

int exits() {
  begin();
  std::exit(3);
}

int leaves() {
  begin();
  _exit(4);
}

int leaves_late() {
  begin();
  sleep_for(kLong);
  work(1);  // after the last write
  _exit(4);
}

int aborts() {
  begin();
  sleep_for(kLong);
  std::abort();
}

int killed() {
  begin();
  sleep_for(kLong);
  return raise(SIGKILL);
}

int killed_at_once() {
  initialise();
  return raise(SIGKILL);
}

int crashes() {
  begin();
  sleep_for(kLong);
  volatile int* const nowhere = nullptr;
  return *nowhere;  // NOLINT: that is what it is for
}

/// The child, which inherits the library, must not be recorded twice, and ends normally.
int forks() {
  begin();
  const pid_t child = fork();
  if (child == 0) {
    nvtxRangePushA("child");
    initialise();
    nvtxRangePop();
    sleep_for(kLong);
    std::exit(5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
  work(1);
  return 0;
}

/// A child forked before the initialisation is a process of its own, as with Python's multiprocessing.
int forks_first() {
  const pid_t child = fork();
  begin();
  if (child == 0) std::exit(5);
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

/// The parent only has NVTX ranges; its child uses CUDA.
int forks_from_ranges() {
  nvtxRangePushA("parent");
  const pid_t child = fork();
  if (child == 0) {
    begin();
    nvtxRangePushA("child");
    nvtxRangePop();
    std::exit(5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  nvtxRangePop();
  return WEXITSTATUS(status);
}

/// Reads 4 MiB of a file at once, then in two halves, and then a little of it.
int reads_a_file() {
  begin();
  constexpr std::size_t kHalf = 2 << 20;
  std::vector<char> memory(2 * kHalf);
  const int file = open(std::getenv("VICTIM_FILE"), O_RDWR | O_CREAT, 0644);
  if (write(file, memory.data(), 2 * kHalf) < 0 || lseek(file, 0, SEEK_SET) != 0) return 1;
  const ssize_t all = read(file, memory.data(), 2 * kHalf);
  const ssize_t halves = pread(file, memory.data(), kHalf, 0) + pread(file, memory.data(), kHalf, kHalf);
  const ssize_t little = pread(file, memory.data(), 4096, 0);
  close(file);
  std::printf("%ld %ld %ld\n", static_cast<long>(all), static_cast<long>(halves), static_cast<long>(little));
  work(1);
  return 7;
}

/// Two child processes work while the parent sleeps.
int has_workers() {
  initialise();
  std::vector<pid_t> workers;
  for (int i = 0; i < 2; ++i) {
    workers.push_back(fork());
    if (workers.back() == 0) {
      alarm(60);  // ends with the test, whatever becomes of the parent
      for (volatile bool works = true; works;) {
      }
    }
  }
  sleep_for(2 * kLong);
  work(1);
  for (const pid_t worker : workers) {
    kill(worker, SIGKILL);
    waitpid(worker, nullptr, 0);
  }
  return 7;
}

int executes() {
  begin();
  sleep_for(kLong);
  execl("/proc/self/exe", "victim", "seven", nullptr);
  return 1;
}

/// Threads still work and push ranges while the process ends.
int ends_under_threads() {
  initialise();
  static std::atomic<int> rounds = 0;  // outlives main()
  for (int i = 0; i < 4; ++i) {
    std::thread([] {
      for (;; ++rounds) {
        nvtxRangePushA("step");
        work(3);
        nvtxRangePop();
      }
    }).detach();
  }
  while (rounds < 8) sleep_for(1ms);
  return 7;
}

/// Closes all descriptors as a daemon does, and opens files that may get the recording's descriptor number.
int closes_all() {
  begin();
  sleep_for(kLong);
  const char* const path = std::getenv("VICTIM_FILE");
  const int output = dup(STDOUT_FILENO);
  for (int i = 3; i < 1024; ++i) {
    if (i != output) close(i);
  }
  std::vector<int> files;
  for (int i = 0; i < 1000; ++i) files.push_back(open(path, O_WRONLY | O_CREAT | O_APPEND, 0644));
  work(5);
  sleep_for(kLong);
  const auto theirs = static_cast<std::size_t>(std::count_if(files.begin(), files.end(), [](int f) { return f >= 0; }));
  std::printf("%s files, %ld bytes\n", theirs > 900 ? "many" : "few", static_cast<long>(lseek(files[0], 0, SEEK_END)));
  return 0;
}

int changes_folder() {
  begin();
  if (chdir("/") != 0) return 1;
  work(5);
  return 0;
}

void limit_files(rlim_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
}

/// Exceeds the file size limit. Without care the library would end the program by SIGXFSZ.
int fills_the_disk() {
  initialise();
  limit_files(40'000);
  for (int i = 0; i < 20; ++i) {
    work(20);
    sleep_for(50ms);
  }
  sleep_for(kLong);
  work(20);
  return 7;
}

int no_disk() {
  limit_files(0);
  begin();
  nvtxRangePushA("step");
  nvtxRangePop();
  return 7;
}

int handles_size_signal() {
  std::signal(SIGXFSZ, [](int) { _exit(9); });
  fills_the_disk();
  struct sigaction now {};
  sigaction(SIGXFSZ, nullptr, &now);
  std::printf("handler %s\n", now.sa_handler == SIG_DFL ? "gone" : "there");
  return 0;
}

/// A signal handler calls exit(), as many do for Ctrl-C, within the library or CUPTI. dlsym() is called before the
/// signal: interrupted there, exit() could hang on a half-done allocation.
int ends_in_a_handler() {
  begin();
  auto* const step = fake<void(unsigned)>("fake_cuda_steps");
  std::signal(SIGALRM, [](int) { std::exit(6); });
  ualarm(20'000, 0);
  for (;;) {
    nvtxRangePushA("step");
    nvtxRangePop();
    if (step != nullptr) step(1);
  }
}

/// Cancelled threads end at their own cancellation point, and never within the library's write() calls.
int cancels() {
  initialise();
  const auto names_ranges = [](void*) -> void* {
    for (;;) {
      for (int i = 0; i < 20'000; ++i) {  // more ranges than the library buffers before it writes
        nvtxRangePushA("step");
        nvtxRangePop();
      }
      pthread_testcancel();
    }
  };
  for (int i = 0; i < 10; ++i) {
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, names_ranges, nullptr) != 0) return 1;
    sleep_for(1ms);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
  }
  return 7;
}

int keeps_errno() {
  errno = EDOM;
  nvtxRangePushA("step");
  begin();
  nvtxRangePop();
  std::printf("errno %d\n", errno == EDOM ? 1 : 0);
  return 0;
}

int uses_nothing() {
  say("worked");
  return 7;
}

int names_ranges() {
  nvtxRangePushA("before CUDA");
  initialise();
  nvtxRangePop();
  work(1);
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("mine");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  std::printf("%d\n", nvtxDomainRangePushEx(domain, &event) >= -2);
  nvtxRangePushW(L"gr\u00f6\u00dfer \U0001F600");
  nvtxRangePushA("inner");
  nvtxRangePop();
  nvtxRangePop();
  nvtxDomainRangePop(domain);
  const nvtxRangeId_t across = nvtxRangeStartA("across");
  std::thread([across] { nvtxRangeEnd(across); }).join();
  nvtxRangePop();  // has no matching push
  nvtxRangePushA("open");
  return 7;
}

/// Three steps within ranges called "step", three outside.
int works_in_ranges() {
  initialise();
  for (int i = 0; i < 3; ++i) {
    work(1);
    nvtxRangePushA("step");
    nvtxRangePushA("step");  // nested in itself
    nvtxRangePop();
    work(1);
    nvtxRangePop();
    sleep_for(10ms);
  }
  return 7;
}

int uses_two_gpus() {
  begin();
  if (auto* const make_context = fake<void(unsigned)>("fake_cuda_context")) {
    for (const unsigned device : {1U, 1U, 0U}) make_context(device);
  }
  return 7;
}

int works_long() {
  initialise();
  for (int i = 0; i < 50; ++i) {
    work(1);
    sleep_for(100ms);
  }
  return 7;
}

int works_much() {
  initialise();
  work(1000);
  return 7;
}

int resets() {
  begin();
  if (auto* const reset = fake<void()>("fake_cuda_reset")) reset();
  _exit(7);
}

int drops() {
  initialise();
  work(1);
  if (auto* const drop = fake<void(unsigned)>("fake_cuda_drop")) drop(12);
  work(1);
  return 7;
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string_view, int (*)()> lives{
      {"seven", &seven},
      {"exits", &exits},
      {"leaves", &leaves},
      {"leaves_late", &leaves_late},
      {"aborts", &aborts},
      {"killed", &killed},
      {"killed_at_once", &killed_at_once},
      {"crashes", &crashes},
      {"forks", &forks},
      {"forks_first", &forks_first},
      {"forks_from_ranges", &forks_from_ranges},
      {"reads_a_file", &reads_a_file},
      {"has_workers", &has_workers},
      {"executes", &executes},
      {"ends_under_threads", &ends_under_threads},
      {"closes_all", &closes_all},
      {"changes_folder", &changes_folder},
      {"fills_the_disk", &fills_the_disk},
      {"no_disk", &no_disk},
      {"handles_size_signal", &handles_size_signal},
      {"ends_in_a_handler", &ends_in_a_handler},
      {"cancels", &cancels},
      {"keeps_errno", &keeps_errno},
      {"uses_nothing", &uses_nothing},
      {"names_ranges", &names_ranges},
      {"works_in_ranges", &works_in_ranges},
      {"uses_two_gpus", &uses_two_gpus},
      {"works_long", &works_long},
      {"works_much", &works_much},
      {"resets", &resets},
      {"drops", &drops},
  };
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const auto life = lives.find(count > 1 ? arguments[1] : "");
  return life == lives.end() ? 2 : life->second();
}
