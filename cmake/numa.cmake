# Finds libnuma: target numa::numa. Prefers the static library (a few kilobytes), so that the program also runs on
# machines without libnuma.
#   in   optional: NUMA_LIBRARY and NUMA_INCLUDE_DIR

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
