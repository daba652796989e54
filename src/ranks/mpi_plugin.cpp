#include "ranks/mpi_plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "mpi/table.h"
#include "ranks/plugin_paths.hpp"
#include "ranks/timed_collectives.hpp"

namespace xferbench {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPluginFile = "libxferbench-mpi.so";
constexpr const char* kPluginVariable = "XFERBENCH_MPI";
constexpr const char* kHowToGetPlugin =
    "install the package xferbench-mpi, or build xferbench with MPI installed (Debian, Ubuntu: libopenmpi-dev)";

// --- Finding the plug-in ---------------------------------------------------------------------------------------------

/// Returns the plug-in's function table from a loaded library. Throws UsageError if the library is no plug-in or has
/// another version. The library is never closed, because MPI's threads and handlers use it.
const xferbench_mpi_table& table_in(void* library, const std::string& file) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): dlsym() returns a function as void*
  const auto entry = reinterpret_cast<xferbench_mpi_function>(dlsym(library, XFERBENCH_MPI_ENTRY));
  if (entry == nullptr) {
    throw UsageError(fmt::format("{} is not xferbench's plug-in for MPI: it lacks the function {}; {}", file,
                                 XFERBENCH_MPI_ENTRY, kHowToGetPlugin));
  }
  const xferbench_mpi_table* table = entry(XFERBENCH_MPI_VERSION);
  if (table == nullptr || table->version != XFERBENCH_MPI_VERSION) {
    throw UsageError(
        fmt::format("{} is from another version of xferbench; this program needs plug-in version {}. Install program "
                    "and plug-in from the same version",
                    file, XFERBENCH_MPI_VERSION));
  }
  return *table;
}

/// Loads the library with RTLD_GLOBAL, because Open MPI's own plug-ins look for its functions among the global symbols.
void* open_library(const std::string& file) { return dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL); }

/// Loads the plug-in from an existing file and returns its function table. Throws UsageError if that fails.
const xferbench_mpi_table& table_of_file(const std::string& file) {
  if (void* library = open_library(file)) return table_in(library, file);
  const char* reason = dlerror();
  throw UsageError(
      fmt::format("the plug-in for MPI cannot be loaded: {}; it needs the MPI library that it was built with, or "
                  "another version of it",
                  reason != nullptr ? reason : file));
}

const xferbench_mpi_table& find_table() {
  if (const char* given = std::getenv(kPluginVariable); given != nullptr && *given != '\0') {
    std::error_code unknown;
    if (fs::exists(given, unknown)) return table_of_file(fs::absolute(given, unknown).string());
    throw UsageError(fmt::format("there is no file '{}', which {} names as the plug-in for MPI; {}", given,
                                 kPluginVariable, kHowToGetPlugin));
  }
  std::error_code unknown;
  const auto places = plugin_paths(kPluginFile);
  for (const fs::path& place : places) {
    if (fs::exists(place, unknown)) return table_of_file(place.string());
  }
  if (void* library = open_library(kPluginFile)) return table_in(library, kPluginFile);
  throw UsageError(
      fmt::format("the plug-in for MPI was not found: no {}, no {}, and none in the search path of the loader; {}, or "
                  "set {} to its file",
                  places[0].string(), places[1].string(), kHowToGetPlugin, kPluginVariable));
}

// --- Using the plug-in -----------------------------------------------------------------------------------------------

/// Wrapper through which all functions of the plug-in are called. Only one thread at a time may use it, as
/// MPI_THREAD_SERIALIZED requires. It has no lock, because locking would take longer than a small message.
class Table {
 public:
  explicit Table(const xferbench_mpi_table& functions) : functions_(functions) {}

  /// Calls a plug-in function. Throws CommunicationError if the function returns an error code.
  template <typename Function, typename... Arguments>
  void call(const char* what, Function function, Arguments... arguments) {
    if (const int error = ask(function, arguments...)) throw CommunicationError(in_words(what, error));
  }

  /// Calls a plug-in function that cannot fail, and returns its result.
  template <typename Function, typename... Arguments>
  auto ask(Function function, Arguments... arguments) {
    return (functions_.*function)(arguments...);
  }

  /// Count the unfinished operations. Call begun() when one has begun, and ended() when it has ended without error.
  void begun() { ++unfinished_; }
  void ended() { --unfinished_; }
  /// Whether an operation has begun but has not ended successfully: it was abandoned or has failed.
  [[nodiscard]] bool has_unfinished() const { return unfinished_ != 0; }

 private:
  [[nodiscard]] std::string in_words(const char* what, int error) const {
    std::array<char, 512> text{};
    functions_.error_text(error, text.data(), text.size());
    return fmt::format("MPI: {}: {}", what, text.data());
  }

  const xferbench_mpi_table& functions_;
  int unfinished_ = 0;
};

/// A pool of memory blocks for MpiPending objects, because allocating one would take as long as a small message.
class Rooms : NonCopyable {
 public:
  ~Rooms() {
    for (void* room : free_) ::operator delete(room);
  }
  void* take(std::size_t bytes) {
    if (free_.empty()) {
      free_.reserve(++rooms_);  // so that give_back() need not allocate
      return ::operator new(bytes);
    }
    void* const room = free_.back();
    free_.pop_back();
    return room;
  }
  void give_back(void* room) noexcept { free_.push_back(room); }

 private:
  std::vector<void*> free_;
  std::size_t rooms_ = 0;
};

class MpiPending final : public Pending {
 public:
  template <typename Function, typename... Arguments>
  MpiPending(Rooms& rooms, Table& table, const char* what, Function function, Arguments... arguments)
      : rooms_(rooms), table_(table), what_(what) {
    table_.call(what_, function, arguments..., &operation_);
    table_.begun();
  }
  ~MpiPending() override {
    if (!done_) table_.ask(&xferbench_mpi_table::release, &operation_);
  }

  static void* operator new(std::size_t bytes, Rooms& rooms) { return rooms.take(bytes); }
  static void operator delete(void* room, Rooms& rooms) noexcept { rooms.give_back(room); }
  static void operator delete(MpiPending* one, std::destroying_delete_t) noexcept {
    Rooms& rooms = one->rooms_;
    one->~MpiPending();
    rooms.give_back(one);
  }

  [[nodiscard]] bool done() override {
    if (done_) return true;
    int ended = 0;
    table_.call(what_, &xferbench_mpi_table::test, &operation_, &ended);
    if (ended == 0) return false;
    table_.ended();
    done_ = true;
    return true;
  }

 private:
  Rooms& rooms_;
  Table& table_;
  const char* what_;
  xferbench_mpi_operation operation_{};
  bool done_ = false;
};

RankNumbers started(const xferbench_mpi_table& table) {
  xferbench_mpi_numbers mine{};
  Table(table).call("starting", &xferbench_mpi_table::initialise, &mine);
  return {mine.rank, mine.size, mine.local_rank, mine.local_size, mine.node_root};
}

class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(const xferbench_mpi_table& table)
      : Communicator(started(table)), table_(table), library_(table.library()) {}

  ~MpiCommunicator() override {
    if (table_.has_unfinished() || std::uncaught_exceptions() > exceptions_) {
      leave_kept();
      return;
    }
    try {
      xferbench::barrier(*this, {.seconds = kFinalizeTimeout, .after_interrupt = kFinalizeTimeout}, "the end");
      table_.call("the end", &xferbench_mpi_table::finalise);
    } catch (const std::exception&) {
      // Another rank is gone, so MPI is not finalized.
    }
  }

  [[nodiscard]] std::string library() const override { return library_; }

  [[nodiscard]] PendingPtr barrier() override { return begin("a barrier", &xferbench_mpi_table::barrier); }
  [[nodiscard]] PendingPtr broadcast(std::span<std::byte> data, int root) override {
    return begin("a broadcast", &xferbench_mpi_table::broadcast, data.data(), data.size(), root);
  }
  [[nodiscard]] PendingPtr gather(std::span<const std::byte> mine, std::span<std::byte> all,
                                  std::span<const std::size_t> sizes) override {
    return begin("gathering", &xferbench_mpi_table::gather, mine.data(), mine.size(), all.data(), sizes.data());
  }
  [[nodiscard]] PendingPtr all_reduce(std::span<double> values, Reduction reduction) override {
    const int how = reduction == Reduction::max ? XFERBENCH_MPI_MAX : XFERBENCH_MPI_SUM;
    return begin("a reduction", &xferbench_mpi_table::all_reduce, values.data(), values.size(), how);
  }
  [[nodiscard]] PendingPtr send(int to, int tag, std::span<const std::byte> data) override {
    return begin("sending", &xferbench_mpi_table::send, data.data(), data.size(), to, tag);
  }
  [[nodiscard]] PendingPtr receive(int from, int tag, std::span<std::byte> data) override {
    return begin("receiving", &xferbench_mpi_table::receive, data.data(), data.size(), from, tag);
  }

  [[noreturn]] void abort(int code) noexcept override {
    table_.ask(&xferbench_mpi_table::abort, code);
    _exit(code);  // MPI_Abort does not guarantee to end the process
  }

 private:
  template <typename Function, typename... Arguments>
  PendingPtr begin(const char* what, Function function, Arguments... arguments) {
    return PendingPtr(new (rooms_) MpiPending(rooms_, table_, what, function, arguments...));
  }

  Table table_;
  Rooms rooms_;
  int exceptions_ = std::uncaught_exceptions();
  std::string library_;
};

}  // namespace

std::string describe_mpi() {
  try {
    const xferbench_mpi_table& table = find_table();
    Dl_info place{};
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): dladdr() takes a function as void*
    const bool known = dladdr(reinterpret_cast<const void*>(table.library), &place) != 0;
    return fmt::format("{}, by {}", table.library(),
                       known && place.dli_fname != nullptr ? place.dli_fname : kPluginFile);
  } catch (const UsageError& error) {
    return error.what();
  }
}

std::unique_ptr<Communicator> start_mpi() { return std::make_unique<MpiCommunicator>(find_table()); }

}  // namespace xferbench
