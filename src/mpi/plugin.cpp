// The plug-in library xferbench-mpi: implements the function table of mpi/table.h with the MPI that it is compiled
// with. No other file includes mpi.h. It is a separate library, so that the program itself does not depend on MPI.
#include <mpi.h>

#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <new>

#include "mpi/table.h"

namespace {

using Operation = xferbench_mpi_operation;

/// State of MPI in this process. MPI can be started and ended only once.
struct State {
  bool started = false;  // this plug-in has started MPI and not ended it yet
  /// A duplicate of MPI_COMM_WORLD, so that messages of other code in this process are never received here.
  MPI_Comm ranks = MPI_COMM_NULL;
  xferbench_mpi_numbers mine{0, 1, 0, 1, 0};
  /// Error code that initialise() returns if the MPI library does not support threads.
  int one_thread_only = MPI_SUCCESS;
  char library[64] = "MPI";
};

State& state() {
  static State one;
  return one;
}

/// Writes a short text with name and version: the first line up to a comma, with single spaces and without "v" and
/// "Version". "Open MPI v4.1.4, package: Debian ..." becomes "Open MPI 4.1.4"; "MPICH
/// Version:\t4.0.2\nMPICH Release date: ..." becomes "MPICH 4.0.2"; "Intel(R) MPI Library 2021.9" stays.
void describe_library(char* text, std::size_t size) {
  char full[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  if (MPI_Get_library_version(full, &length) != MPI_SUCCESS) return;
  full[std::strcspn(full, ",\r\n")] = '\0';
  std::size_t used = 0;
  const char* const gaps = " \t:";
  for (const char* word = full + std::strspn(full, gaps); *word != '\0'; word += std::strspn(word, gaps)) {
    const std::size_t end = std::strcspn(word, gaps);
    const bool numbered = end > 1 && word[0] == 'v' && word[1] >= '0' && word[1] <= '9';
    const char* shown = numbered ? word + 1 : word;
    const std::size_t letters = numbered ? end - 1 : end;
    const bool says_version = letters == 7 && std::strncmp(shown, "Version", 7) == 0;
    if (!says_version) {
      if (used + letters + 2 > size) return;
      if (used > 0) text[used++] = ' ';
      std::memcpy(text + used, shown, letters);
      used += letters;
      text[used] = '\0';
    }
    word += end;
  }
}

int prepare() {
  State& s = state();
  // Return errors to the caller. By default, MPI ends the process on an error.
  for (MPI_Comm standard : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    if (const int error = MPI_Comm_set_errhandler(standard, MPI_ERRORS_RETURN)) return error;
  }
  if (const int error = MPI_Comm_dup(MPI_COMM_WORLD, &s.ranks)) return error;
  if (const int error = MPI_Comm_set_errhandler(s.ranks, MPI_ERRORS_RETURN)) return error;
  if (const int error = MPI_Comm_rank(s.ranks, &s.mine.rank)) return error;
  if (const int error = MPI_Comm_size(s.ranks, &s.mine.size)) return error;
  MPI_Comm node = MPI_COMM_NULL;
  if (const int error = MPI_Comm_split_type(s.ranks, MPI_COMM_TYPE_SHARED, s.mine.rank, MPI_INFO_NULL, &node))
    return error;
  if (const int error = MPI_Comm_rank(node, &s.mine.local_rank)) return error;
  if (const int error = MPI_Comm_size(node, &s.mine.local_size)) return error;
  if (const int error = MPI_Allreduce(&s.mine.rank, &s.mine.node_root, 1, MPI_INT, MPI_MIN, node)) return error;
  return MPI_Comm_free(&node);
}

int refuse_one_thread() {
  State& s = state();
  if (const int error = MPI_Add_error_code(MPI_ERR_OTHER, &s.one_thread_only)) return error;
  char text[] = "this MPI was built without thread support (MPI_THREAD_SERIALIZED)";
  if (const int error = MPI_Add_error_string(s.one_thread_only, text)) return error;
  return s.one_thread_only;
}

int initialise(xferbench_mpi_numbers* mine) {
  State& s = state();
  int provided = MPI_THREAD_SINGLE;
  if (const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided)) return error;
  s.started = true;
  const int error = provided < MPI_THREAD_SERIALIZED ? refuse_one_thread() : prepare();
  *mine = s.mine;
  return error;
}

int finalise() {
  State& s = state();
  if (!s.started) return MPI_SUCCESS;
  s.started = false;
  if (s.ranks != MPI_COMM_NULL) MPI_Comm_free(&s.ranks);
  return MPI_Finalize();
}

/// Returns name and version of the MPI library. May be called before MPI is started.
const char* library() {
  State& s = state();
  describe_library(s.library, sizeof s.library);
  return s.library;
}

void abort_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

void error_text(int error, char* text, std::size_t size) {
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  // MPI can translate its error codes only while it is running.
  const bool known = state().started && MPI_Error_string(error, words, &length) == MPI_SUCCESS;
  if (known) {
    std::snprintf(text, size, "%s", words);
  } else {
    std::snprintf(text, size, "MPI error %d", error);
  }
}

static_assert(sizeof(MPI_Request) <= sizeof(Operation::request));

MPI_Request request_of(const Operation& one) {
  MPI_Request request = MPI_REQUEST_NULL;
  std::memcpy(&request, &one.request, sizeof request);
  return request;
}

void keep(Operation& one, MPI_Request request) { std::memcpy(&one.request, &request, sizeof request); }

bool countable(std::size_t count) { return count <= INT_MAX; }

/// Begins an MPI operation on `count` elements, at most INT_MAX. `begin` calls MPI and stores the request. If this call
/// fails, the operation is marked as ended.
template <typename Begin>
int begun(Operation& one, std::size_t count, Begin begin) {
  if (!countable(count)) return MPI_ERR_COUNT;
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = begin(&request);
  one.ended = error == MPI_SUCCESS ? 0 : 1;
  keep(one, request);
  return error;
}

void forget_counts(Operation& one) {
  delete[] one.counts;
  one.counts = nullptr;
}

int barrier(Operation* operation) {
  *operation = {};
  return begun(*operation, 0, [](MPI_Request* request) { return MPI_Ibarrier(state().ranks, request); });
}

int broadcast(void* data, std::size_t bytes, int root, Operation* operation) {
  *operation = {};
  return begun(*operation, bytes, [&](MPI_Request* request) {
    return MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, root, state().ranks, request);
  });
}

/// Fills one.counts with the number of bytes of each rank, followed by the byte offset of each rank's data.
int lay_out(const std::size_t* sizes, Operation& one) {
  const auto count = static_cast<std::size_t>(state().mine.size);
  one.counts = new (std::nothrow) int[2 * count];
  if (one.counts == nullptr) return MPI_ERR_NO_MEM;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!countable(sizes[i]) || !countable(offset + sizes[i])) return MPI_ERR_COUNT;
    one.counts[i] = static_cast<int>(sizes[i]);
    one.counts[count + i] = static_cast<int>(offset);
    offset += sizes[i];
  }
  return MPI_SUCCESS;
}

int gather(const void* mine, std::size_t bytes, void* all, const std::size_t* sizes, Operation* operation) {
  *operation = {};
  const bool root = state().mine.rank == 0;
  int error = root ? lay_out(sizes, *operation) : MPI_SUCCESS;
  if (error == MPI_SUCCESS) {
    const int* const counts = operation->counts;
    error = begun(*operation, bytes, [&](MPI_Request* request) {
      return MPI_Igatherv(mine, static_cast<int>(bytes), MPI_BYTE, all, counts,
                          root ? counts + state().mine.size : nullptr, MPI_BYTE, 0, state().ranks, request);
    });
  }
  if (error != MPI_SUCCESS) forget_counts(*operation);
  return error;
}

int all_reduce(double* values, std::size_t count, int reduction, Operation* operation) {
  *operation = {};
  const MPI_Op how = reduction == XFERBENCH_MPI_MAX ? MPI_MAX : MPI_SUM;
  return begun(*operation, count, [&](MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_DOUBLE, how, state().ranks, request);
  });
}

int send(const void* data, std::size_t bytes, int to, int tag, Operation* operation) {
  *operation = {};
  return begun(*operation, bytes, [&](MPI_Request* request) {
    return MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, state().ranks, request);
  });
}

int receive(void* data, std::size_t bytes, int from, int tag, Operation* operation) {
  *operation = {};
  operation->receives = 1;
  return begun(*operation, bytes, [&](MPI_Request* request) {
    return MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, state().ranks, request);
  });
}

int test(Operation* operation, int* done) {
  *done = 1;
  if (operation->ended != 0) return MPI_SUCCESS;
  MPI_Request request = request_of(*operation);
  const int error = MPI_Test(&request, done, MPI_STATUS_IGNORE);
  // A failed operation has ended, too, and its request must not be tested again.
  if (error != MPI_SUCCESS) *done = 1;
  if (*done == 0) return error;
  operation->ended = 1;
  forget_counts(*operation);
  return error;
}

/// Cancels a receive for which no message has arrived. Leaves other operations as they are: collective ones can be
/// neither cancelled nor freed (MPI 4.0, 6.12), and MPI still reads the memory of a freed send. The counts of a gather
/// are then never freed.
void release(Operation* operation) {
  if (operation->ended != 0 || operation->receives == 0 || !state().started) return;
  MPI_Request request = request_of(*operation);
  MPI_Cancel(&request);
  int done = 0;
  test(operation, &done);
}

constexpr xferbench_mpi_table kTable{
    .version = XFERBENCH_MPI_VERSION,
    .initialise = initialise,
    .finalise = finalise,
    .library = library,
    .abort = abort_all,
    .error_text = error_text,
    .barrier = barrier,
    .broadcast = broadcast,
    .gather = gather,
    .all_reduce = all_reduce,
    .send = send,
    .receive = receive,
    .test = test,
    .release = release,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const xferbench_mpi_table* xferbench_mpi(int version) {
  return version == XFERBENCH_MPI_VERSION ? &kTable : nullptr;
}
