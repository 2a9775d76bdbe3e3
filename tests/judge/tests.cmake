# SPDX-License-Identifier: Apache-2.0
# The client printed in docs/protocol.md against the built program.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME protocol_client COMMAND ${Python3_EXECUTABLE}
         ${CMAKE_CURRENT_LIST_DIR}/protocol_client_test.py ${CMAKE_SOURCE_DIR} $<TARGET_FILE:ako>)
set_tests_properties(protocol_client PROPERTIES LABELS judge TIMEOUT 300
  ENVIRONMENT "AKO_CACHE_DIR=${CMAKE_BINARY_DIR}/test-cache;AKO_DATA_DIR=${CMAKE_BINARY_DIR}/test-data")
if(TARGET test_judge)
  add_dependencies(test_judge ako-guest-host)
endif()
