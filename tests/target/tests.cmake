# SPDX-License-Identifier: Apache-2.0
# libamdhip64.so as far as ako calls it, in host memory.
add_library(standin_hip SHARED ${CMAKE_CURRENT_SOURCE_DIR}/target/standin_hip/standin_hip.cpp)
target_link_libraries(standin_hip PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(standin_hip PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
foreach(program test_target test_judge)
  if(TARGET ${program})
    add_dependencies(${program} standin_hip)
  endif()
endforeach()
# The device judge is tested on the same stand-in.
if(TARGET test_judge)
  target_sources(test_judge PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/target/standin_fixture.cpp)
endif()
