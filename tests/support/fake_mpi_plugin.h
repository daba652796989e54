/* How the plug-in behaves that stands in for MPI where a test wants to see errors: one rank, all operations end at once.
 */
#ifndef XFERBENCH_FAKE_MPI_PLUGIN_H
#define XFERBENCH_FAKE_MPI_PLUGIN_H

#define XFERBENCH_FAKE_MPI "xferbench_fake_mpi"

struct xferbench_fake_mpi {
  int version;    /* of the table that there is */
  int initialise; /* what this returns */
  int begin;      /* what every operation returns at its start ... */
  int test;       /* ... and when it is asked for */
  int endless;    /* operations do not end */
  int finalised;  /* how often it was called */
  int operations; /* begun and not released */
};

#endif
