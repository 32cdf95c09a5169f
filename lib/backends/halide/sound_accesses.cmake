# The pass that sound_accesses.h defines, as text for repro.cpp.
set(sound_accesses ${CMAKE_CURRENT_LIST_DIR}/sound_accesses.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sound_accesses})
file(READ ${sound_accesses} WHITTLE_SOUND_ACCESSES)
string(REGEX REPLACE "^.*// ---- text of repro.cpp ----\n(.*)// ---- end ----\n.*$" "\\1" WHITTLE_SOUND_ACCESSES
       "${WHITTLE_SOUND_ACCESSES}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/sound_accesses_text.cpp.in
               ${CMAKE_CURRENT_BINARY_DIR}/sound_accesses_text.cpp @ONLY)
target_sources(whittle_backends_halide PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/sound_accesses_text.cpp)
