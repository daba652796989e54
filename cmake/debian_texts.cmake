# Run by CPack before packing: adds the files that Debian requires of packages, and moves files to where Debian expects
# them (Debian Policy 12). Does not change the archive.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

# compress(file): with the options that Debian requires, reproducibly.
function(compress file)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Date of the changelog: $SOURCE_DATE_EPOCH, which scripts/package sets to the commit's date, else the current time.
set(date_arguments -R)
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  list(APPEND date_arguments -u -d @$ENV{SOURCE_DATE_EPOCH})
endif()
execute_process(COMMAND date ${date_arguments} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND git describe --always --dirty --abbrev=10 WORKING_DIRECTORY ${CPACK_XFERBENCH_SOURCE}
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(commit)  # empty outside of a git checkout
  set(commit ", made of commit ${commit}")
endif()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(name ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share)
  set(texts ${share}/doc/${name})
  file(MAKE_DIRECTORY ${texts})
  file(COPY ${CPACK_XFERBENCH_SOURCE}/packaging/copyright DESTINATION ${texts})
  file(WRITE ${texts}/changelog
"xferbench (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}${commit}.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  compress(${texts}/changelog)
  # Debian installs this licence centrally; copyright refers to it.
  file(REMOVE ${texts}/LICENSE)
  file(GLOB pages ${share}/man/man1/*.1)
  foreach(page IN LISTS pages)
    compress(${page})
  endforeach()
  # Debian's zsh looks for completions of packages in another folder than upstream zsh.
  if(EXISTS ${share}/zsh/site-functions)
    file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)
  endif()
endforeach()
