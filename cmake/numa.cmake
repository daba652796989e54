# Finds libnuma: target numa::numa. Statically where there is an archive, so that the program starts on machines that do
# not have the library; it is a few kilobytes.
#   in   nothing; NUMA_LIBRARY and NUMA_INCLUDE_DIR can be set by hand

find_path(NUMA_INCLUDE_DIR numa.h)
find_library(NUMA_LIBRARY NAMES libnuma.a numa)
mark_as_advanced(NUMA_INCLUDE_DIR NUMA_LIBRARY)

if(NOT NUMA_INCLUDE_DIR OR NOT NUMA_LIBRARY)
  message(FATAL_ERROR "libnuma was not found. Run scripts/setup, or install libnuma-dev (Debian, Ubuntu) or "
                      "numactl-devel (Fedora, Red Hat).")
endif()

add_library(numa::numa UNKNOWN IMPORTED)
set_target_properties(numa::numa PROPERTIES
  IMPORTED_LOCATION ${NUMA_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${NUMA_INCLUDE_DIR})
