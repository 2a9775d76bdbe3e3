# SPDX-License-Identifier: Apache-2.0
# What must not break the program: being killed, full disks, damaged stores, hostile names, inputs that are nearly right.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(robustness ${CMAKE_CURRENT_LIST_DIR})
add_executable(fuzz_inputs ${robustness}/fuzz_main.cpp)
target_link_libraries(fuzz_inputs PRIVATE ako_campaign)
target_compile_options(fuzz_inputs PRIVATE -O0)
target_include_directories(fuzz_inputs PRIVATE ${robustness})
target_compile_definitions(fuzz_inputs PRIVATE AKO_SOURCE_DIR="${CMAKE_SOURCE_DIR}" AKO_BINARY_DIR="${CMAKE_BINARY_DIR}")
set_target_properties(fuzz_inputs PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_dependencies(fuzz_inputs ako-guest-host)  # its program is a sample
# Longer, under sanitizers: make fuzz.
add_test(NAME fuzz_inputs COMMAND fuzz_inputs 24)
add_test(NAME one_definition COMMAND ${Python3_EXECUTABLE} ${robustness}/one_definition_test.py ${CMAKE_SOURCE_DIR})
set(program_tests kill_test disasters_test hostile_names_test)
foreach(name ${program_tests})
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${robustness}/${name}.py $<TARGET_FILE:ako>)
endforeach()
set_tests_properties(fuzz_inputs one_definition ${program_tests} PROPERTIES LABELS robustness TIMEOUT 300
  ENVIRONMENT "AKO_CACHE_DIR=${CMAKE_BINARY_DIR}/test-cache;AKO_DATA_DIR=${CMAKE_BINARY_DIR}/test-data")
