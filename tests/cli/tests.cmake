# SPDX-License-Identifier: Apache-2.0
# The tests of the command line start the program itself.
add_dependencies(test_cli ako)
foreach(guest host)
  if(TARGET ako-guest-${guest})
    add_dependencies(test_cli ako-guest-${guest})
  endif()
endforeach()
