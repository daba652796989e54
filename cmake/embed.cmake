# embed_texts(HEADER [NAME FILE]...)
# Writes a header with the text of each file as a constant NAME, and its hash for a content security policy as
# NAMESource. The header is updated when a file changes.
function(embed_texts header)
  set(code "")
  while(ARGN)
    list(POP_FRONT ARGN name file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(SHA256 hash "${text}")
    base64_of_hash(${hash} hash)
    string(APPEND code "\ninline constexpr std::string_view ${name} = R\"embedded(${text})embedded\";\n"
      "inline constexpr std::string_view ${name}Source = \"'sha256-${hash}'\";\n")
  endwhile()
  file(CONFIGURE OUTPUT ${header} @ONLY CONTENT
    "#pragma once\n\n#include <string_view>\n\nnamespace xferbench {\n@code@\n}  // namespace xferbench\n")
endfunction()

# Converts 64 hexadecimal digits (32 bytes) to base64; the last group of three bytes lacks one byte.
function(base64_of_hash hash result)
  set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(all "")
  foreach(at RANGE 0 60 6)
    string(SUBSTRING "${hash}00" ${at} 6 group)
    foreach(shift 18 12 6 0)
      math(EXPR place "(0x${group} >> ${shift}) & 63")
      string(SUBSTRING ${letters} ${place} 1 letter)
      string(APPEND all ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING ${all} 0 43 all)
  set(${result} "${all}=" PARENT_SCOPE)
endfunction()
