# SPDX-License-Identifier: Apache-2.0
option(AKO_TESTS "Build the tests" ON)
option(AKO_BENCH "Build the benchmarks" OFF)
option(AKO_PORTABLE "Link third-party libraries and the C++ runtime statically" OFF)
option(AKO_FUZZ "Build the fuzzers (clang only)" OFF)
option(AKO_UNITY "Compile several files of a folder at once: a clean build in half the time" OFF)
set(AKO_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=")

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library(ako_flags INTERFACE)
# GCC 12 raises these falsely inside <regex>, <variant> and std::string at -O2 (GCC bugs 105593, 105329).
target_compile_options(ako_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Werror
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-restrict -Wno-dangling-pointer -Wno-stringop-overflow -Wno-array-bounds -Wno-stringop-overread>)
if(AKO_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Files of a unity build are included, so that GCC takes their anonymous namespaces for those of headers.
  target_compile_options(ako_flags INTERFACE -Wno-subobject-linkage)
endif()
target_include_directories(ako_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
# The numbers ako makes must be the same on every machine: no fused multiply-add behind the author's back.
target_compile_options(ako_flags INTERFACE -ffp-contract=off)
if(AKO_SANITIZE)
  target_compile_options(ako_flags INTERFACE -fsanitize=${AKO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(ako_flags INTERFACE -fsanitize=${AKO_SANITIZE})
endif()
if(AKO_PORTABLE)
  target_link_options(ako_flags INTERFACE -static-libstdc++ -static-libgcc)
endif()
