# What is installed beside the program and its libraries, and how packages are made of all of it (scripts/package).
#
# Three components make three packages of Debian's kind: program (xferbench), mpi (xferbench-mpi) and inject
# (xferbench-inject). The archive has all of them.
#   in   XFERBENCH_MAINTAINER  who answers for the packages: "NAME <ADDRESS>"

set(XFERBENCH_MAINTAINER "xferbench maintainers <maintainers@xferbench.example>" CACHE STRING
  "Who answers for the packages: NAME <ADDRESS>")
set(xferbench_data ${CMAKE_INSTALL_DATADIR}/xferbench)

# Data of the program, and its texts.
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
# Programs that pages show.
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN __pycache__ EXCLUDE)

# The schemas once more: what a program reads must not lie in the documentation, which systems may leave out.
install(PROGRAMS scripts/report scripts/validate-results DESTINATION ${xferbench_data}/scripts)
file(GLOB schemas CONFIGURE_DEPENDS docs/*-schema.json)
install(FILES ${schemas} DESTINATION ${xferbench_data}/schemas)
# xferbench_command(script): bin/xferbench-SCRIPT, a link that holds wherever the whole is moved.
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

# What differs in Debian's packages: where texts lie, and in which form.
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
# Debian has given the package with libmpi.so.40 another name since, and dpkg-shlibdeps knows that of this system alone.
# The program, which must be of the same build, asks for the right glibc.
if(MPI_CXX_LIBRARIES MATCHES "openmpi")
  set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS OFF)
  string(APPEND CPACK_DEBIAN_MPI_PACKAGE_DEPENDS ", libc6, libopenmpi3 | libopenmpi40")
endif()
# The program reads compressed files by xz, and xferbench-validate-results is in Python.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "python3, python3-jsonschema, xz-utils")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "xferbench-inject, xferbench-mpi")
# The first line of each is what lists of packages show. CPack would set the project's before it.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION
"transfers between host and NVIDIA GPUs, beside their limits
Measures every way to move bytes between host and GPU, and pipelines that
copy, work and copy back, and sets each beside its limit, measured in the
same run.

Without a GPU it simulates one. Brings suites of measurements, what is
expected of known GPUs, and makes pages of results.")
set(CPACK_DEBIAN_MPI_DESCRIPTION
"runs of xferbench under mpirun and srun
The library that xferbench loads where it runs as several processes under
Open MPI: on all GPUs of a cluster at once, and between its hosts.")
set(CPACK_DEBIAN_INJECT_DESCRIPTION
"records the transfers of CUDA programs for xferbench explain
The library that xferbench explain loads into a CUDA program, to say what
the program's transfers cost it and what it would gain without each fault.")

include(CPack)
