# LibTorch is compiled with assertions off, which its headers must know; they make warnings in their users'
# instantiations.
target_include_directories(whittle_backends_libtorch_objects SYSTEM PRIVATE ${WHITTLE_TORCH_INCLUDE})
target_compile_definitions(whittle_backends_libtorch_objects PRIVATE NDEBUG)
target_compile_options(whittle_backends_libtorch_objects PRIVATE -Wno-pedantic)
# A LibTorch that exports an LLVM of its own (Debian's 2.14) must find that one before the LLVM that a program links: two
# sets of options register in one LLVM, which aborts.
execute_process(COMMAND ${CMAKE_NM} -D --defined-only ${WHITTLE_TORCH_CPU} COMMAND grep -q _ZN4llvm2cl
                RESULT_VARIABLE whittle_torch_lacks_llvm ERROR_QUIET)
if(whittle_torch_lacks_llvm EQUAL 0)
  set_source_files_properties(base/module.cpp PROPERTIES COMPILE_DEFINITIONS "WHITTLE_DEEP_MODULE=\"libtorch\"")
endif()
# How a user builds a file against the LibTorch found here.
file(STRINGS ${WHITTLE_TORCH_INCLUDE}/ATen/ATen.h whittle_torch_needs_cxx20 REGEX "#error C[+][+]20 or later")
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/repro_code.cpp PROPERTIES COMPILE_DEFINITIONS
  "WHITTLE_TORCH_NEEDS_CXX20=$<BOOL:${whittle_torch_needs_cxx20}>")
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/short_program.cpp PROPERTIES COMPILE_DEFINITIONS
  "WHITTLE_TORCH_HEADERS=\"${WHITTLE_TORCH_INCLUDE}\";WHITTLE_TORCH_API_HEADERS=\"${WHITTLE_TORCH_API_INCLUDE}\"")
