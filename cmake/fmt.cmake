# Finds fmt: target xferbench_fmt, linked statically.

find_package(fmt REQUIRED)
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  add_library(xferbench_fmt STATIC cmake/fmt.cpp)
  get_target_property(fmt_headers fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(xferbench_fmt SYSTEM PUBLIC ${fmt_headers})
  target_compile_features(xferbench_fmt PUBLIC cxx_std_20)
else()
  # The template instantiations of cmake/fmt.cpp are for fmt 9; other versions use fmt header-only, which builds slower.
  add_library(xferbench_fmt INTERFACE)
  target_link_libraries(xferbench_fmt INTERFACE fmt::fmt-header-only)
endif()
