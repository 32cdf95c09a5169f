# LibTorch is compiled with assertions off, which its headers must know; they make warnings in their users'
# instantiations.
target_include_directories(whittle_backends_libtorch_objects SYSTEM PRIVATE ${WHITTLE_TORCH_INCLUDE})
target_compile_definitions(whittle_backends_libtorch_objects PRIVATE NDEBUG)
target_compile_options(whittle_backends_libtorch_objects PRIVATE -Wno-pedantic)
# How a user builds a file against the LibTorch found here.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/short_program.cpp PROPERTIES COMPILE_DEFINITIONS
  "WHITTLE_TORCH_HEADERS=\"${WHITTLE_TORCH_INCLUDE}\";WHITTLE_TORCH_API_HEADERS=\"${WHITTLE_TORCH_API_INCLUDE}\"")
