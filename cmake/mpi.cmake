# Decides whether to build the plug-in xferbench-mpi, which runs under mpirun and srun need, and prints the decision.
# The program itself never links with MPI.
#   in   XFERBENCH_MPI       AUTO, ON or OFF
#   out  XFERBENCH_WITH_MPI  TRUE or FALSE; target MPI::MPI_CXX

set(XFERBENCH_WITH_MPI FALSE)

if(NOT XFERBENCH_MPI MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "XFERBENCH_MPI is '${XFERBENCH_MPI}'; it must be AUTO, ON or OFF")
endif()

if(NOT XFERBENCH_MPI STREQUAL "OFF")
  set(MPI_CXX_SKIP_MPICXX TRUE)  # use MPI's C functions; newer MPIs have no C++ bindings
  find_package(MPI QUIET COMPONENTS CXX)
  # MPI 3.0 introduced MPI_Ibarrier and MPI_Comm_split_type.
  if(MPI_CXX_FOUND AND MPI_CXX_VERSION VERSION_GREATER_EQUAL 3.0)
    set(XFERBENCH_WITH_MPI TRUE)
  elseif(XFERBENCH_MPI STREQUAL "ON" AND MPI_CXX_FOUND)
    message(FATAL_ERROR "XFERBENCH_MPI is ON, but the MPI found is of MPI ${MPI_CXX_VERSION}; 3.0 or newer is needed.")
  elseif(XFERBENCH_MPI STREQUAL "ON")
    message(FATAL_ERROR "XFERBENCH_MPI is ON, but no MPI was found. Put mpicxx on PATH, or install libopenmpi-dev "
                        "(Debian, Ubuntu).")
  endif()
endif()

if(XFERBENCH_WITH_MPI)
  message(STATUS "xferbench: the plug-in for mpirun and srun (MPI ${MPI_CXX_VERSION}: ${MPI_CXX_COMPILER})")
elseif(XFERBENCH_MPI STREQUAL "OFF")
  message(STATUS "xferbench: no plug-in for mpirun and srun (XFERBENCH_MPI is OFF)")
else()
  message(STATUS "xferbench: no plug-in for mpirun and srun (MPI was not found; libopenmpi-dev has it)")
endif()
