# Code that is compiled into the library and is part of generated programs, too: what stands between the lines
# "// ---- text of repro.cpp ----" and "// ---- end ----" of HEADER (relative to this folder) becomes what FUNCTION
# returns, which DECLARED_IN declares: std::string_view FUNCTION(). A header without such lines is taken whole. The source
# goes into the folder `generated`, where share/backends/halide/install finds that of the backend.
function(whittle_text_of target header namespace function declared_in)
  set(path ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} text)
  string(REGEX REPLACE "^.*// ---- text of repro.cpp ----\n(.*)// ---- end ----\n.*$" "\\1" text "${text}")
  cmake_path(GET declared_in PARENT_PATH folder)
  set(source ${PROJECT_BINARY_DIR}/generated/${folder}/${function}.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/text_of.cpp.in ${source} @ONLY)
  target_sources(${target} PRIVATE ${source})
endfunction()
