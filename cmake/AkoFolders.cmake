# SPDX-License-Identifier: Apache-2.0
# ako_folder(NAME [third-party targets…]): src/NAME/**.cpp as the static library ako_NAME. It may use every
# folder declared before it; tests/architecture_test.cpp holds includes to the same order.
set(AKO_FOLDERS "" CACHE INTERNAL "")
function(ako_folder name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(sources)
    add_library(ako_${name} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(ako_${name} PUBLIC ako_flags)
    if(AKO_UNITY)
      set_target_properties(ako_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    endif()
    if(name STREQUAL base)
      target_precompile_headers(ako_${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled.h)
    else()
      target_precompile_headers(ako_${name} REUSE_FROM ako_base)
    endif()
  else()
    add_library(ako_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  set(below ${AKO_FOLDERS})
  list(REVERSE below)
  foreach(folder ${below})
    target_link_libraries(ako_${name} ${scope} ako_${folder})
  endforeach()
  target_link_libraries(ako_${name} ${scope} ${ARGN})
  set(AKO_FOLDERS ${AKO_FOLDERS} ${name} CACHE INTERNAL "")
endfunction()

# Files whose local names meet those of their neighbours.
set_source_files_properties(
  src/problem/reference_contraction.cpp src/problem/counting.cpp src/target/host/run_guest_plan.cpp
  src/agent/round_json.cpp src/campaign/records.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
