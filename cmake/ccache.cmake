# Compiles through ccache where it is installed when a build folder is made, unless a launcher is chosen already. Not
# where it is installed later: all of the folder would be compiled anew.

if(NOT DEFINED XFERBENCH_CCACHE)
  find_program(XFERBENCH_CCACHE ccache)
endif()
mark_as_advanced(XFERBENCH_CCACHE)
if(XFERBENCH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${XFERBENCH_CCACHE})
  if(DEFINED ENV{CCACHE_SLOPPINESS})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${XFERBENCH_CCACHE})
  else()
    # Without these it takes no file that uses a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${XFERBENCH_CCACHE})
  endif()
endif()
