# What the compilers make of kernels, for tests that need no GPU and for people who want to read it.
#
# xferbench_device_code(sources... [RELOCATABLE sources...])
#   sources      .cu files, relative to the project; their base names must differ
#   RELOCATABLE  those of them that the program, too, is built from with -rdc=true
# defines the target device_code, which makes in build/PRESET/device_code/ for each NAME.cu
#   NAME.ptx     by nvcc, with the flags of the build
#   NAME.cubin   by the assembler from it
#   NAME.txt     the assembler's report: registers, spills and shared memory of each kernel
# and sets XFERBENCH_DEVICE_CODE_FOLDER.

# All methods exist from here on, and what the numbers of registers are is the same wherever it is built.
set(XFERBENCH_DEVICE_CODE_ARCHITECTURE 90)

function(xferbench_device_code)
  cmake_parse_arguments(PARSE_ARGV 0 code "" "" "RELOCATABLE")
  # Beside the nvcc in use: an assembler of another version would report on other code.
  find_program(XFERBENCH_PTXAS ptxas HINTS ${CUDAToolkit_BIN_DIR} REQUIRED)
  mark_as_advanced(XFERBENCH_PTXAS)
  set(folder ${PROJECT_BINARY_DIR}/device_code)
  file(MAKE_DIRECTORY ${folder})
  set(reports "")
  foreach(source IN LISTS code_UNPARSED_ARGUMENTS code_RELOCATABLE)
    cmake_path(GET source STEM name)
    if(source IN_LIST code_RELOCATABLE)
      set(relocatable ON)
      set(assembler_flags --compile-only)
    else()
      set(relocatable OFF)
      set(assembler_flags "")
    endif()
    # A library for each file, so that its one object has a name that a command can ask for. CMake then sees to flags,
    # dependencies on headers, and files being compiled side by side, as for any other source.
    add_library(device_code_${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/${source})
    target_link_libraries(device_code_${name} PRIVATE xferbench_settings)
    set_target_properties(device_code_${name} PROPERTIES
      CUDA_PTX_COMPILATION ON
      CUDA_SEPARABLE_COMPILATION ${relocatable}
      CUDA_ARCHITECTURES ${XFERBENCH_DEVICE_CODE_ARCHITECTURE}-virtual)
    set(path ${folder}/${name})
    add_custom_command(OUTPUT ${path}.txt
      BYPRODUCTS ${path}.ptx ${path}.cubin
      COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_OBJECTS:device_code_${name}> ${path}.ptx
      COMMAND ${XFERBENCH_PTXAS} --verbose --gpu-name sm_${XFERBENCH_DEVICE_CODE_ARCHITECTURE} ${assembler_flags}
              --output-file ${path}.cubin ${path}.ptx 2> ${path}.txt
      DEPENDS device_code_${name} $<TARGET_OBJECTS:device_code_${name}>
      COMMENT "Assembling device_code/${name}.ptx" VERBATIM)
    list(APPEND reports ${path}.txt)
  endforeach()
  add_custom_target(device_code ALL DEPENDS ${reports})
  set(XFERBENCH_DEVICE_CODE_FOLDER ${folder} PARENT_SCOPE)
endfunction()
