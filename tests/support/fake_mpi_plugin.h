/* Settings of the fake MPI plug-in, which tests use for errors of MPI. It has one rank; operations end at once. */
#ifndef XFERBENCH_FAKE_MPI_PLUGIN_H
#define XFERBENCH_FAKE_MPI_PLUGIN_H

#define XFERBENCH_FAKE_MPI "xferbench_fake_mpi"

struct xferbench_fake_mpi {
  int version;    /* of the only table that it has */
  int initialise; /* return value of initialise() */
  int begin;      /* return value of the begin of each operation */
  int test;       /* return value of test() */
  int endless;    /* not 0: operations never end */
  int finalised;  /* number of calls of finalise() */
  int operations; /* number of begun operations that have not ended or been released */
};

#endif
