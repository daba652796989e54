# Installs data and documentation, and configures the packages (scripts/package).
#
# Three components become three Debian packages: program (xferbench), mpi (xferbench-mpi) and inject (xferbench-inject).
# The archive contains all of them.
#   in   XFERBENCH_MAINTAINER  maintainer of the packages: "NAME <ADDRESS>"

set(XFERBENCH_MAINTAINER "xferbench maintainers <maintainers@xferbench.example>" CACHE STRING
  "Who answers for the packages: NAME <ADDRESS>")
set(xferbench_data ${CMAKE_INSTALL_DATADIR}/xferbench)

# Data files and documentation.
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/generated/xferbench.1 packaging/man/xferbench-report.1
  packaging/man/xferbench-validate-results.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/generated/xferbench.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME xferbench)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/generated/_xferbench
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/generated/xferbench.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY scenarios/expectations scenarios/suites DESTINATION ${xferbench_data})
install(FILES README.md CONTRIBUTING.md LICENSE packaging/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN site EXCLUDE PATTERN __pycache__ EXCLUDE)
# For other programs: Grafana, ReFrame, SuperBench.
install(FILES packaging/README.md packaging/formats.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/packaging)
install(DIRECTORY packaging/grafana packaging/reframe packaging/superbench DESTINATION ${CMAKE_INSTALL_DOCDIR}/packaging
  PATTERN __pycache__ EXCLUDE)
# Example programs that the documentation shows.
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN __pycache__ EXCLUDE)

# Schemas are installed a second time, because systems may leave out documentation, and programs read them.
install(PROGRAMS scripts/report scripts/validate-results DESTINATION ${xferbench_data}/scripts)
file(GLOB schemas CONFIGURE_DEPENDS docs/*-schema.json)
install(FILES ${schemas} DESTINATION ${xferbench_data}/schemas)
# xferbench_command(script): installs bin/xferbench-SCRIPT as a relative link, which still works if the installation is
# moved.
function(xferbench_command script)
  set(link ${CMAKE_CURRENT_BINARY_DIR}/generated/links/xferbench-${script})
  file(RELATIVE_PATH target ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/xferbench/scripts/${script})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/generated/links)
  file(CREATE_LINK ${target} ${link} SYMBOLIC)
  install(FILES ${link} DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
xferbench_command(report)
xferbench_command(validate-results)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME xferbench)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${XFERBENCH_MAINTAINER})
set(CPACK_PACKAGE_FILE_NAME xferbench-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program)
foreach(component mpi inject)
  if(TARGET xferbench-${component})
    list(APPEND CPACK_COMPONENTS_ALL ${component})
  endif()
endforeach()

# Debian packages differ from the archive in location and format of texts.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/debian_texts.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/packed_links.cmake)
set(CPACK_XFERBENCH_SOURCE ${CMAKE_CURRENT_SOURCE_DIR})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
foreach(component program mpi inject)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME xferbench-${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "xferbench (= ${PROJECT_VERSION})")
endforeach()
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME xferbench)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "")
# Debian has renamed the package of libmpi.so.40, and dpkg-shlibdeps only knows the name on this system. glibc's version
# is already required by the program's package, which must be of the same build.
if(MPI_CXX_LIBRARIES MATCHES "openmpi")
  set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS OFF)
  string(APPEND CPACK_DEBIAN_MPI_PACKAGE_DEPENDS ", libc6, libopenmpi3 | libopenmpi40")
endif()
# The program uses xz for compressed files. Only xferbench-validate-results is written in Python, which a bare system
# needs a minute to fetch.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "xz-utils")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "python3-jsonschema, xferbench-inject, xferbench-mpi")
# Package lists show the first line of each description. Without this CPack would put the project's summary before it.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION
"benchmark of transfers between host and NVIDIA GPUs
Measures how fast data moves between host and GPU, and how well pipelines
overlap copies with kernels. Compares each result with its limit, which is
measured in the same run.

Without a GPU it simulates one. Contains suites of measurements and limits
for known GPUs, and writes reports as HTML pages.")
set(CPACK_DEBIAN_MPI_DESCRIPTION
"runs of xferbench under mpirun and srun
The plug-in that xferbench loads when Open MPI starts it as several
processes: measures all GPUs of a cluster at once, and between its hosts.")
set(CPACK_DEBIAN_INJECT_DESCRIPTION
"records the transfers of CUDA programs for xferbench explain
The library that xferbench explain loads into a CUDA program, to report what
the program's transfers cost and what fixing them gains.")

include(CPack)
