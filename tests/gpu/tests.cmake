# SPDX-License-Identifier: Apache-2.0
# What needs a GPU: `make test-gpu`.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME gpu.judge_on_device
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/judge_on_device.py $<TARGET_FILE:ako>)
  set_tests_properties(gpu.judge_on_device PROPERTIES LABELS gpu TIMEOUT 600)
endif()
# A campaign on the stand-in for a GPU needs none.
if(TARGET test_campaign)
  target_sources(test_campaign PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/target/standin_fixture.cpp)
  add_dependencies(test_campaign standin_hip)
endif()
