# Decides whether to build for real GPUs, and prints the decision.
#   in   XFERBENCH_CUDA          AUTO, ON or OFF
#   out  XFERBENCH_WITH_CUDA     TRUE or FALSE
#        XFERBENCH_CUDA_VERSION  "13.0", or empty
#        XFERBENCH_ARCHITECTURES  architectures of most kernels: "sm_90 compute_90", or empty
#        XFERBENCH_CUPTI_INCLUDE_DIR  folder of the CUPTI headers, or NOTFOUND: timelines are then estimated from
#                                events. The CUPTI library is loaded at run time

set(XFERBENCH_WITH_CUDA FALSE)
set(XFERBENCH_CUDA_VERSION "")
set(XFERBENCH_ARCHITECTURES "")

if(NOT XFERBENCH_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "XFERBENCH_CUDA is '${XFERBENCH_CUDA}'; it must be AUTO, ON or OFF")
endif()

if(NOT XFERBENCH_CUDA STREQUAL "OFF")
  # Before CUDA is enabled: older CMake versions test with architectures that newer toolkits no longer support.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES all-major)
  endif()
  # The toolkit's default folder is often missing from PATH. Sets CUDACXX and not CMAKE_CUDA_COMPILER, which
  # check_language would accept without a check.
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(XFERBENCH_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(XFERBENCH_NVCC)
    if(XFERBENCH_NVCC)
      set(ENV{CUDACXX} ${XFERBENCH_NVCC})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(xferbench_oldest_cuda 12.4)
    # The CUDA device runtime, for kernels that launch kernels. CMake 3.25 has no target for it, and some packages lack
    # it.
    find_library(XFERBENCH_CUDADEVRT cudadevrt PATHS ${CUDAToolkit_LIBRARY_DIR} NO_DEFAULT_PATH)
    mark_as_advanced(XFERBENCH_CUDADEVRT)
    if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL xferbench_oldest_cuda AND XFERBENCH_CUDADEVRT)
      set(XFERBENCH_WITH_CUDA TRUE)
      set(XFERBENCH_CUDA_VERSION "${CUDAToolkit_VERSION_MAJOR}.${CUDAToolkit_VERSION_MINOR}")
    endif()
  endif()
  if(XFERBENCH_WITH_CUDA)
    # CMake 3.25 does not know that nvcc 12 and later accept C++20.
    if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    # The folder differs between packages. Searches in this toolkit only, as headers of another would not match its
    # runtime.
    find_path(XFERBENCH_CUPTI_INCLUDE_DIR cupti.h
      PATHS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include
            ${CUDAToolkit_TARGET_DIR}/extras/CUPTI/include ${CUDAToolkit_LIBRARY_DIR}/../extras/CUPTI/include
      NO_DEFAULT_PATH)
    mark_as_advanced(XFERBENCH_CUPTI_INCLUDE_DIR)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  elseif(XFERBENCH_CUDA STREQUAL "ON" AND CMAKE_CUDA_COMPILER
         AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL xferbench_oldest_cuda)
    message(FATAL_ERROR "XFERBENCH_CUDA is ON, but the CUDA Toolkit found has no libcudadevrt.a in "
                        "${CUDAToolkit_LIBRARY_DIR}. Install the toolkit's development files of the CUDA runtime.")
  elseif(XFERBENCH_CUDA STREQUAL "ON" AND CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "XFERBENCH_CUDA is ON, but the CUDA Toolkit found is ${CUDAToolkit_VERSION}; "
                        "${xferbench_oldest_cuda} or newer is needed.")
  elseif(XFERBENCH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "XFERBENCH_CUDA is ON, but no CUDA compiler was found. Put nvcc on PATH or set CUDACXX to it.")
  endif()
endif()

if(XFERBENCH_WITH_CUDA)
  include(cmake/architectures.cmake)
  describe_architectures(XFERBENCH_ARCHITECTURES)
  message(STATUS "xferbench: real GPUs through CUDA ${XFERBENCH_CUDA_VERSION} (architectures: "
                 "${CMAKE_CUDA_ARCHITECTURES}), and the simulated device")
  if(XFERBENCH_CUPTI_INCLUDE_DIR)
    message(STATUS "xferbench: timelines by CUPTI, where it can be loaded")
  else()
    message(STATUS "xferbench: timelines estimated from events (the toolkit's CUPTI headers were not found)")
  endif()
elseif(XFERBENCH_CUDA STREQUAL "OFF")
  message(STATUS "xferbench: only the simulated device (XFERBENCH_CUDA is OFF)")
elseif(CMAKE_CUDA_COMPILER AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL xferbench_oldest_cuda)
  message(STATUS "xferbench: only the simulated device (the CUDA Toolkit has no libcudadevrt.a in "
                 "${CUDAToolkit_LIBRARY_DIR})")
elseif(CMAKE_CUDA_COMPILER)
  message(STATUS "xferbench: only the simulated device (CUDA Toolkit ${CUDAToolkit_VERSION} is older than "
                 "${xferbench_oldest_cuda})")
else()
  message(STATUS "xferbench: only the simulated device (nvcc was not found; install the CUDA Toolkit for real GPUs)")
endif()
