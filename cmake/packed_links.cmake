# Run by CPack before packing: removes links in documentation pages to files that are not installed.
find_program(python NAMES python3)
if(NOT python)
  message(FATAL_ERROR "packing pages needs python3")
endif()
execute_process(COMMAND ${python} -B ${CPACK_XFERBENCH_SOURCE}/packaging/unlink_missing.py
  ${CPACK_TEMPORARY_INSTALL_DIRECTORY} COMMAND_ERROR_IS_FATAL ANY)
