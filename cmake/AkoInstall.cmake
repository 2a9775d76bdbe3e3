# SPDX-License-Identifier: Apache-2.0
install(TARGETS ako DESTINATION bin)
install(DIRECTORY problems DESTINATION share/ako)
install(DIRECTORY guest/include DESTINATION share/ako/guest)
install(FILES LICENSE DESTINATION share/doc/ako)
