# Writes the build's identity into a header. Run by a target at every build, because the commit changes between
# configurations; the header is rewritten only when its text changes, so that nothing is compiled in vain.
execute_process(COMMAND git describe --always --dirty --abbrev=10
  WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE XFERBENCH_GIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
configure_file(${SOURCE_DIR}/src/core/version.hpp.in ${OUTPUT} @ONLY)
