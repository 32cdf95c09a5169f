# What is loaded into programs that use Halide: the stub, and the recorder, which is compiled against the Halide found
# here. Both lie in LIBDIR/whittle, beside the libraries for LibTorch.
set(halide_capture ${CMAKE_CURRENT_LIST_DIR}/capture)
get_target_property(halide_library Halide::Halide LOCATION)
execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${halide_library} OUTPUT_VARIABLE dynamic ERROR_QUIET)
if(NOT dynamic MATCHES "SONAME +([^ \n]+)")
  message(FATAL_ERROR "${halide_library}: found no SONAME, expected Halide's shared library")
endif()
set(halide_soname ${CMAKE_MATCH_1})

# A line for each function that they stand before.
find_program(WHITTLE_CXXFILT NAMES c++filt llvm-cxxfilt REQUIRED)
set(interposers ${PROJECT_BINARY_DIR}/generated/halide_interposers.inc)
add_custom_command(
  OUTPUT ${interposers}
  COMMAND ${CMAKE_COMMAND} -DLIBRARY=${halide_library} -DNM=${CMAKE_NM} -DFILTER=${WHITTLE_CXXFILT} -DOUTPUT=${interposers}
          -P ${halide_capture}/symbols.cmake
  DEPENDS ${halide_capture}/symbols.cmake ${halide_library}
  VERBATIM)
add_custom_target(whittle_halide_interposers DEPENDS ${interposers})

whittle_capture_library(whittle_halide_capture ${halide_capture}/stub.cpp)
set_target_properties(whittle_halide_capture PROPERTIES LINKER_LANGUAGE C)  # a C program must not get libstdc++ from us
target_compile_options(whittle_halide_capture PRIVATE -O2 -fno-exceptions -fno-rtti -fno-lto)
whittle_capture_library(whittle_halide_recorder
                        ${halide_capture}/lines.cpp ${halide_capture}/where.cpp ${halide_capture}/state.cpp
                        ${halide_capture}/directive.cpp ${halide_capture}/pipeline.cpp ${halide_capture}/nodes.cpp
                        ${halide_capture}/npy.cpp ${halide_capture}/external.cpp ${halide_capture}/captured.cpp ${halide_capture}/recorder.cpp)
# Halide.h and <elf.h>, which where.cpp needs, exclude each other.
set_source_files_properties(${halide_capture}/lines.cpp ${halide_capture}/where.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
whittle_unity(whittle_halide_recorder)
target_link_libraries(whittle_halide_recorder PRIVATE Halide::Halide ${CMAKE_DL_LIBS})
target_compile_options(whittle_halide_recorder PRIVATE -O2)
foreach(target whittle_halide_capture whittle_halide_recorder)
  add_dependencies(${target} whittle_halide_interposers)
  target_compile_definitions(${target} PRIVATE WHITTLE_INTERPOSERS="${interposers}" WHITTLE_HALIDE_SONAME="${halide_soname}")
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/whittle COMPONENT runtime)
  add_dependencies(capture_libraries ${target})
endforeach()
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/recording.cpp PROPERTIES COMPILE_DEFINITIONS
  "WHITTLE_CAPTURE_DIR_FROM_BIN=\"${WHITTLE_CAPTURE_DIR_FROM_BIN}\";WHITTLE_HALIDE_SONAME=\"${halide_soname}\"")
