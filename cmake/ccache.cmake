# Uses ccache if it is installed when a build folder is created and no compiler launcher is set. Not if it is installed
# later, because that would recompile the whole folder.

if(NOT DEFINED XFERBENCH_CCACHE)
  find_program(XFERBENCH_CCACHE ccache)
endif()
mark_as_advanced(XFERBENCH_CCACHE)
if(XFERBENCH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${XFERBENCH_CCACHE})
  if(DEFINED ENV{CCACHE_SLOPPINESS})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${XFERBENCH_CCACHE})
  else()
    # Without these settings ccache does not cache files that use a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${XFERBENCH_CCACHE})
  endif()
endif()
