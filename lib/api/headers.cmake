# Programs include <whittle/whittle.h>: in the build tree its headers lie as in an installation.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/whittle)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/lib/api ${PROJECT_BINARY_DIR}/include/whittle/api SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/lib/api/whittle.h ${PROJECT_BINARY_DIR}/include/whittle/whittle.h SYMBOLIC)
target_include_directories(whittle_api PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# GCC's own, beside its runtime: symbolizes return addresses inside the program. clang finds it there too.
find_library(WHITTLE_BACKTRACE NAMES libbacktrace.a HINTS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES} REQUIRED)
target_link_libraries(whittle_api PRIVATE $<BUILD_INTERFACE:${WHITTLE_BACKTRACE}> $<INSTALL_INTERFACE:backtrace>)
add_library(Whittle::api ALIAS whittle_api)
set_target_properties(whittle_api PROPERTIES EXPORT_NAME api)
