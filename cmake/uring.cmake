# Finds liburing: target uring::uring. Prefers the static library (some ten kilobytes), so that the program also runs on
# machines without liburing.
#   in   optional: URING_LIBRARY and URING_INCLUDE_DIR

find_path(URING_INCLUDE_DIR liburing.h)
find_library(URING_LIBRARY NAMES liburing.a uring)
mark_as_advanced(URING_INCLUDE_DIR URING_LIBRARY)

if(NOT URING_INCLUDE_DIR OR NOT URING_LIBRARY)
  message(FATAL_ERROR "liburing was not found. Run scripts/setup, or install liburing-dev (Debian, Ubuntu) or "
                      "liburing-devel (Fedora, Red Hat).")
endif()

add_library(uring::uring UNKNOWN IMPORTED)
set_target_properties(uring::uring PROPERTIES
  IMPORTED_LOCATION ${URING_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${URING_INCLUDE_DIR})
