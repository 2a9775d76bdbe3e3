# SPDX-License-Identifier: Apache-2.0
# Third-party libraries, all Debian packages (docs/third-party.md lists their licences).
find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)

# Debian ships libfmt as a shared library only; its own sources' single translation unit is two headers,
# so a static copy costs one small file and keeps the binary portable.
find_path(AKO_FMT_INCLUDE fmt/format-inl.h REQUIRED)
add_library(ako_fmt STATIC ${CMAKE_SOURCE_DIR}/cmake/fmt.cpp)
target_include_directories(ako_fmt SYSTEM PUBLIC ${AKO_FMT_INCLUDE})

function(ako_third_party target library header)
  find_path(AKO_${target}_INCLUDE ${header} REQUIRED)
  if(AKO_PORTABLE)
    find_library(AKO_${target}_LIBRARY NAMES lib${library}.a ${library} REQUIRED)
  else()
    find_library(AKO_${target}_LIBRARY NAMES ${library} REQUIRED)
  endif()
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE ${AKO_${target}_LIBRARY})
  target_include_directories(${target} SYSTEM INTERFACE ${AKO_${target}_INCLUDE})
endfunction()
ako_third_party(sodium sodium sodium.h)
ako_third_party(yaml yaml-cpp yaml-cpp/yaml.h)
ako_third_party(sqlite sqlite3 sqlite3.h)
target_link_libraries(sqlite INTERFACE ${CMAKE_DL_LIBS} m)
ako_third_party(seccomp seccomp seccomp.h)
ako_third_party(zlib z zlib.h)
