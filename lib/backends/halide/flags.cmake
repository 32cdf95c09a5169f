# How a user builds a file against the Halide found here.
get_target_property(halide_include Halide::Halide INTERFACE_INCLUDE_DIRECTORIES)
get_target_property(halide_library Halide::Halide LOCATION)
cmake_path(GET halide_library PARENT_PATH halide_folder)
cmake_path(GET halide_library FILENAME halide_name)
string(REGEX REPLACE "^lib(.*)[.]so.*$" "\\1" halide_name ${halide_name})
set(halide_flags "-I${halide_include} -l${halide_name}")
if(NOT halide_folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
  set(halide_flags "-I${halide_include} -L${halide_folder} -Wl,-rpath,${halide_folder} -l${halide_name}")
endif()
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/build_info.cpp PROPERTIES COMPILE_DEFINITIONS
  "WHITTLE_HALIDE_VERSION=\"Halide ${Halide_VERSION}\";WHITTLE_HALIDE_MAJOR=${Halide_VERSION_MAJOR};WHITTLE_HALIDE_FLAGS=\"${halide_flags}\"")
