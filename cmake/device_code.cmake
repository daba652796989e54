# Extracts the PTX of kernels, for tests that need no GPU and for readers. Taken from the program's object files,
# because compiling kernels twice would take a minute. Only in builds for compute capability 9.0 alone (presets ci and
# hopper): their objects contain PTX as text, all smem methods exist there, and register counts are for one GPU.
#
# xferbench_device_code(targets... [RELOCATABLE targets...])
#   targets      libraries with .cu files, whose base names must differ
#   RELOCATABLE  libraries that are built with -rdc=true
# defines the target device_code, which creates in build/PRESET/device_code/ for each NAME.cu
#   NAME.ptx     extracted from the object file
#   NAME.cubin   assembled from it by ptxas
#   NAME.txt     report of ptxas: registers, spills and shared memory of each kernel
# and sets XFERBENCH_DEVICE_CODE_FOLDER.

function(xferbench_device_code)
  cmake_parse_arguments(PARSE_ARGV 0 code "" "" "RELOCATABLE")
  # From the toolkit in use: another version of ptxas would generate other code.
  find_program(XFERBENCH_PTXAS ptxas HINTS ${CUDAToolkit_BIN_DIR} REQUIRED)
  mark_as_advanced(XFERBENCH_PTXAS)
  set(folder ${PROJECT_BINARY_DIR}/device_code)
  file(MAKE_DIRECTORY ${folder})
  set(reader ${PROJECT_SOURCE_DIR}/tests/device_code/ptx_of.py)
  set(reports "")
  foreach(target IN LISTS code_UNPARSED_ARGUMENTS code_RELOCATABLE)
    set(assembler_flags "")
    if(target IN_LIST code_RELOCATABLE)
      set(assembler_flags --compile-only)
    endif()
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cu$")
    foreach(source IN LISTS sources)
      cmake_path(GET source STEM name)
      set(path ${folder}/${name})
      set(object $<FILTER:$<TARGET_OBJECTS:${target}>,INCLUDE,/${name}\\.cu\\.>)
      add_custom_command(OUTPUT ${path}.txt
        BYPRODUCTS ${path}.ptx ${path}.cubin
        COMMAND /usr/bin/python3 ${reader} ${object} ${path}.ptx
        COMMAND ${XFERBENCH_PTXAS} --verbose --gpu-name sm_90 ${assembler_flags}
                --output-file ${path}.cubin ${path}.ptx 2> ${path}.txt
        DEPENDS ${object} ${reader}
        COMMENT "Assembling device_code/${name}.ptx" VERBATIM)
      list(APPEND reports ${path}.txt)
    endforeach()
  endforeach()
  add_custom_target(device_code ALL DEPENDS ${reports})
  set(XFERBENCH_DEVICE_CODE_FOLDER ${folder} PARENT_SCOPE)
endfunction()
