# SPDX-License-Identifier: Apache-2.0
# Every shipped problem's reference against an independent NumPy implementation. Without NumPy the test is skipped, and
# ctest says so. (build/venv, which `make` may create, is preferred to the system's Python: it has ml_dtypes too.)
add_executable(reference_dump ${CMAKE_SOURCE_DIR}/tests/numpy/dump_main.cpp)
target_link_libraries(reference_dump PRIVATE ako_problem)
target_precompile_headers(reference_dump REUSE_FROM ako_base)
set_target_properties(reference_dump PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

add_test(NAME numpy.references
         COMMAND sh ${CMAKE_SOURCE_DIR}/tests/numpy/with_python.sh ${CMAKE_SOURCE_DIR}
                 ${CMAKE_SOURCE_DIR}/tests/numpy/check_references.py $<TARGET_FILE:reference_dump>)
add_test(NAME numpy.scalar_tables
         COMMAND sh ${CMAKE_SOURCE_DIR}/tests/numpy/with_python.sh ${CMAKE_SOURCE_DIR}
                 ${CMAKE_SOURCE_DIR}/tests/problem/ml_dtypes_tables.py --check)
set_tests_properties(numpy.references numpy.scalar_tables PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS numpy
                     ENVIRONMENT AKO_CACHE_DIR=${CMAKE_BINARY_DIR}/test-cache)
