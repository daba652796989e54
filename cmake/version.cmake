# Writes version and commit of the build into a header. Runs at every build, because the commit changes without a new
# configuration. The header is only rewritten if its text changes, to avoid recompilation.
execute_process(COMMAND git describe --always --dirty --abbrev=10
  WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE XFERBENCH_GIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
configure_file(${SOURCE_DIR}/src/core/version.hpp.in ${OUTPUT} @ONLY)
