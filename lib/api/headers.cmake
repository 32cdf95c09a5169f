# Programs include <whittle/whittle.h>: in the build tree its headers lie as in an installation.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/whittle/tensor)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/lib/api ${PROJECT_BINARY_DIR}/include/whittle/api SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/lib/tensor/dtypes.def ${PROJECT_BINARY_DIR}/include/whittle/tensor/dtypes.def
     SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/lib/api/whittle.h ${PROJECT_BINARY_DIR}/include/whittle/whittle.h SYMBOLIC)
target_include_directories(whittle_api_headers INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                                                      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(whittle_api_headers INTERFACE cxx_std_17)
add_library(Whittle::api ALIAS whittle_api)
set_target_properties(whittle_api PROPERTIES EXPORT_NAME api)
