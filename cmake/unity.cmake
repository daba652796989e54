# compile_folders_together(target)
# Where unity builds are on (CMAKE_UNITY_BUILD), the sources of one folder are compiled as one: what they include is read
# once. A folder is a room, so two of its files have no reason to give one name to different things.
function(compile_folders_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(ABSOLUTE_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    # Half of the time of these is nlohmann's header.
    string(REGEX REPLACE "^src/report/(check|run|trace)$" "src/report" folder "${folder}")
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
