# SPDX-License-Identifier: Apache-2.0
install(TARGETS ako DESTINATION bin)
install(DIRECTORY problems DESTINATION share/ako)
install(DIRECTORY guest/include guest/device DESTINATION share/ako/guest)
install(FILES LICENSE DESTINATION share/doc/ako)
# The program describes itself: manual page and completions are its own output.
set(AKO_DESCRIBED ${CMAKE_BINARY_DIR}/described)
install(CODE "
  file(MAKE_DIRECTORY ${AKO_DESCRIBED})
  foreach(pair man:ako.1 completions|bash:ako.bash completions|zsh:_ako completions|fish:ako.fish)
    string(REPLACE \":\" \";\" pair \${pair})
    list(GET pair 0 command)
    list(GET pair 1 file)
    string(REPLACE \"|\" \";\" command \${command})
    execute_process(COMMAND $<TARGET_FILE:ako> \${command} OUTPUT_FILE ${AKO_DESCRIBED}/\${file}
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(FILES ${AKO_DESCRIBED}/ako.1 DESTINATION share/man/man1)
install(FILES ${AKO_DESCRIBED}/ako.bash DESTINATION share/bash-completion/completions RENAME ako)
install(FILES ${AKO_DESCRIBED}/_ako DESTINATION share/zsh/site-functions)
install(FILES ${AKO_DESCRIBED}/ako.fish DESTINATION share/fish/vendor_completions.d)
