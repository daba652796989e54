# compile_rooms_together(target)
# In unity builds (CMAKE_UNITY_BUILD), compiles the source folders in about a dozen groups of similar compile time, so
# that includes and templates are compiled once per group, which halves build time. Files of one group must not define
# the same name differently; folders that do are in different groups.
function(compile_rooms_together target)
  set(groups
    "^scenarios/(overlap|together|smem)"
    "^scenarios"
    "^src/(check|compare|soak|validate)|^src/(core|measure|device|recording)$"
    "^src/(run|results)"
    "^src/(app|fleet|ranks)"
    "^src/(cli|explain/findings)"
    "^src/words/(compare|compare_text|soak|soak_terms|trend|validation)[.]"
    "^src/words"
    "^src/paper/(markdown|terminal_)"
    "^src/paper"
    "^src/report/explain"
    "^src/report"
    "^(src/model|src/device/sim|kernels)")
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(ABSOLUTE_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    cmake_path(GET source FILENAME name)
    set(group ${folder})
    foreach(pattern IN LISTS groups)
      if(folder MATCHES "${pattern}" OR "${folder}/${name}" MATCHES "${pattern}")
        set(group ${pattern})
        break()
      endif()
    endforeach()
    string(MAKE_C_IDENTIFIER "${group}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
