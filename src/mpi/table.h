/* What the program asks of MPI: a table of C functions that a shared library hands over, one library for each MPI.
 * The program itself is not linked with MPI and knows nothing of it but this.
 *
 * All functions are called by one thread at a time. Those that return int return 0, or an MPI error code that
 * error_text() puts into words; none of them ends the process but abort(). Operations begin at the call and end when
 * test() says so: whoever waits can meanwhile look at the clock, and notice that somebody does not answer any more.
 * Memory that an operation reads or writes must live until then. */
#ifndef XFERBENCH_MPI_TABLE_H
#define XFERBENCH_MPI_TABLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with every change of the table. */
#define XFERBENCH_MPI_VERSION 3
/* The one function that the library exports, of type xferbench_mpi_function. */
#define XFERBENCH_MPI_ENTRY "xferbench_mpi"

enum xferbench_mpi_reduction { XFERBENCH_MPI_MAX = 0, XFERBENCH_MPI_SUM = 1 };

/* An operation that has begun: in memory of the caller, who copies none and knows nothing of what is in it, so that
 * small messages wait for no allocation. To be ended by test() or release(). */
typedef struct xferbench_mpi_operation {
  union {
    void* pointer;
    int number;
  } request;   /* MPI's handle, which is of one kind or the other */
  int* counts; /* of a gather; MPI reads them until its end */
  int receives;
  int ended;
} xferbench_mpi_operation;

/* Which rank a process is. */
typedef struct xferbench_mpi_numbers {
  int rank;
  int size;
  int local_rank; /* among those ranks that can share memory with this one */
  int local_size;
  int node_root; /* the lowest rank of these */
} xferbench_mpi_numbers;

typedef struct xferbench_mpi_table {
  int version; /* XFERBENCH_MPI_VERSION */

  int (*initialise)(xferbench_mpi_numbers* mine);
  /* Waits for all ranks, for ever if need be. Does nothing where MPI has not been started, or has ended. */
  int (*finalise)(void);
  /* "Open MPI 4.1.4": which MPI it is, in one line. */
  const char* (*library)(void);
  void (*abort)(int code);
  /* Into `text`, of `size` bytes. */
  void (*error_text)(int error, char* text, size_t size);

  int (*barrier)(xferbench_mpi_operation* operation);
  int (*broadcast)(void* data, size_t bytes, int root, xferbench_mpi_operation* operation);
  /* `bytes` of each rank to rank 0, where `all` has room for `sizes[i]` bytes of each rank i, one behind the other;
   * elsewhere both are null. The sum of the sizes must not exceed INT_MAX. */
  int (*gather)(const void* mine, size_t bytes, void* all, const size_t* sizes, xferbench_mpi_operation* operation);
  /* In place, of all ranks, to all of them. */
  int (*all_reduce)(double* values, size_t count, int reduction, xferbench_mpi_operation* operation);
  /* `bytes` of 0 to INT_MAX; tags of 0 to 32767. */
  int (*send)(const void* data, size_t bytes, int to, int tag, xferbench_mpi_operation* operation);
  int (*receive)(void* data, size_t bytes, int from, int tag, xferbench_mpi_operation* operation);

  /* Sets `done` to 1 once the operation has ended; its error, if it had one, is what this returns. */
  int (*test)(xferbench_mpi_operation* operation, int* done);
  /* Of one that nobody waits for any more: the memory it uses must stay, but for this structure. Does nothing to one
   * that has ended. */
  void (*release)(xferbench_mpi_operation* operation);
} xferbench_mpi_table;

/* Returns the table, which lives as long as the process; null if the library has none of this version. */
typedef const xferbench_mpi_table* (*xferbench_mpi_function)(int version);

#ifdef __cplusplus
}
#endif
#endif
