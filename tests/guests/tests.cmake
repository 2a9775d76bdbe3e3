# SPDX-License-Identifier: Apache-2.0
# Every candidate of this folder as a shared object, the way the host toolchain would make it: bin/guests/NAME.so with
# the wrapper ako_call_twice beside the candidate's own function.
set(guest_objects ${CMAKE_BINARY_DIR}/bin/guests)
set(guest_wrapper ${CMAKE_BINARY_DIR}/generated/guest_wrapper.cpp)
file(CONFIGURE OUTPUT ${guest_wrapper} CONTENT [[
#include <cstdint>
extern "C" void twice(const float*, float*, std::int64_t);
extern "C" void ako_call_twice(void** a) {
  twice(*static_cast<const float**>(a[0]), *static_cast<float**>(a[1]), *static_cast<std::int64_t*>(a[2]));
}
]])
add_library(guest_wrapper OBJECT ${guest_wrapper})
set_target_properties(guest_wrapper PROPERTIES POSITION_INDEPENDENT_CODE ON)
file(GLOB_RECURSE guest_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/guests
     ${CMAKE_CURRENT_SOURCE_DIR}/guests/*.cpp)
add_custom_target(guests)
foreach(source ${guest_sources})
  string(REGEX REPLACE "\\.cpp$" "" name ${source})
  string(REPLACE "/" "_" target guest_${name})
  get_filename_component(folder ${guest_objects}/${name} DIRECTORY)
  get_filename_component(stem ${name} NAME)
  add_library(${target} MODULE guests/${source} $<TARGET_OBJECTS:guest_wrapper>)
  target_compile_options(${target} PRIVATE -O2 -fopenmp -w)
  target_link_options(${target} PRIVATE -fopenmp)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${stem} LIBRARY_OUTPUT_DIRECTORY ${folder})
  add_dependencies(guests ${target})
endforeach()
if(TARGET test_target)
  add_dependencies(test_target guests ako-guest-host)
endif()
