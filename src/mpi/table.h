/* The program's interface to MPI: a table of C functions exported by a shared library, one for each MPI implementation.
 * The program itself is not linked with MPI.
 *
 * Only one thread at a time may call these functions. Those that return int return 0 or an MPI error code, which
 * error_text() translates; only abort() ends the process. Operations are nonblocking: they begin at the call and have
 * ended when test() says so, which lets the caller watch for timeouts. Memory that an operation reads or writes must
 * live until it has ended. */
#ifndef XFERBENCH_MPI_TABLE_H
#define XFERBENCH_MPI_TABLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Increased with every change of the table. */
#define XFERBENCH_MPI_VERSION 3
/* The one function that the library exports, of type xferbench_mpi_function. */
#define XFERBENCH_MPI_ENTRY "xferbench_mpi"

enum xferbench_mpi_reduction { XFERBENCH_MPI_MAX = 0, XFERBENCH_MPI_SUM = 1 };

/* An operation in progress. The caller provides this structure, so that small messages need no allocation, but must
 * neither copy it nor use its members. The operation ends with test() or release(). */
typedef struct xferbench_mpi_operation {
  union {
    void* pointer;
    int number;
  } request;   /* MPI's handle: a pointer or a number */
  int* counts; /* byte counts and offsets of a gather; MPI reads them until the gather has ended */
  int receives;
  int ended;
} xferbench_mpi_operation;

typedef struct xferbench_mpi_numbers {
  int rank;
  int size;
  int local_rank; /* index of this rank among the ranks that can share memory with it */
  int local_size;
  int node_root; /* the lowest rank among those that can share memory with this one */
} xferbench_mpi_numbers;

typedef struct xferbench_mpi_table {
  int version; /* XFERBENCH_MPI_VERSION */

  int (*initialise)(xferbench_mpi_numbers* mine);
  /* Waits for all ranks, without a timeout. Does nothing if MPI was not started or has ended. */
  int (*finalise)(void);
  /* Name and version of the MPI, in one line, for example "Open MPI 4.1.4". */
  const char* (*library)(void);
  void (*abort)(int code);
  /* Writes up to `size` bytes to `text`. */
  void (*error_text)(int error, char* text, size_t size);

  int (*barrier)(xferbench_mpi_operation* operation);
  int (*broadcast)(void* data, size_t bytes, int root, xferbench_mpi_operation* operation);
  /* Sends `bytes` of each rank to rank 0. There, `all` has room for `sizes[i]` bytes of each rank i, contiguously; on
   * other ranks both are null. The sum of the sizes must not exceed INT_MAX. */
  int (*gather)(const void* mine, size_t bytes, void* all, const size_t* sizes, xferbench_mpi_operation* operation);
  /* Combines the values of all ranks in place; all ranks get the result. */
  int (*all_reduce)(double* values, size_t count, int reduction, xferbench_mpi_operation* operation);
  /* `bytes`: 0 to INT_MAX; tags: 0 to 32767. */
  int (*send)(const void* data, size_t bytes, int to, int tag, xferbench_mpi_operation* operation);
  int (*receive)(void* data, size_t bytes, int from, int tag, xferbench_mpi_operation* operation);

  /* Sets `done` to 1 if the operation has ended, else to 0. Returns the operation's error. */
  int (*test)(xferbench_mpi_operation* operation, int* done);
  /* Gives up an operation: the structure may be reused, but the memory that the operation uses must stay valid. Does
   * nothing if the operation has ended. */
  void (*release)(xferbench_mpi_operation* operation);
} xferbench_mpi_table;

/* Returns the table, valid until the process ends; null if the library has another version. */
typedef const xferbench_mpi_table* (*xferbench_mpi_function)(int version);

#ifdef __cplusplus
}
#endif
#endif
