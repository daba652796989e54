# Run by CPack before it packs what it has installed: pages link to nothing that is not there.
find_program(python NAMES python3)
if(NOT python)
  message(FATAL_ERROR "packing pages needs python3")
endif()
execute_process(COMMAND ${python} -B ${CPACK_XFERBENCH_SOURCE}/packaging/unlink_missing.py
  ${CPACK_TEMPORARY_INSTALL_DIRECTORY} COMMAND_ERROR_IS_FATAL ANY)
