# LibTorch is compiled with assertions off, which its headers must know; they make warnings in their users'
# instantiations.
target_include_directories(whittle_backends_libtorch_objects SYSTEM PRIVATE ${WHITTLE_TORCH_INCLUDE})
target_compile_definitions(whittle_backends_libtorch_objects PRIVATE NDEBUG)
target_compile_options(whittle_backends_libtorch_objects PRIVATE -Wno-pedantic)
