# What `cmake --install` and CPack put where: programs and manual pages (component runtime), libraries, headers and the
# CMake package (component dev). Included by the top CMakeLists.txt after all targets exist.
include(CMakePackageConfigHelpers)
set(whittle_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Whittle)

# Programs and manual pages, under the prefix that the user chose. CPack strips only what is installed as a target.
find_program(WHITTLE_GZIP gzip REQUIRED)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/man)
# whittle_gzip(FROM TO): TO in the build folder's share, compressed; without a time, so that equal ones are.
function(whittle_gzip from to)
  set(to ${PROJECT_BINARY_DIR}/share/${to})
  add_custom_command(OUTPUT ${to} DEPENDS ${from} VERBATIM COMMAND ${WHITTLE_GZIP} -9nc ${from} > ${to})
  set_property(GLOBAL APPEND PROPERTY WHITTLE_COMPRESSED ${to})
endfunction()
# whittle_install_program(TARGET PAGE NAME): with man/PAGE.1, both as NAME.
function(whittle_install_program target page name)
  install(PROGRAMS $<TARGET_FILE:${target}> DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME ${name} COMPONENT runtime)
  install(CODE "if(CMAKE_INSTALL_DO_STRIP)
    execute_process(COMMAND \"${CMAKE_STRIP}\" --remove-section=.comment --remove-section=.note
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/${name}\"
      COMMAND_ERROR_IS_FATAL ANY)
  endif()" COMPONENT runtime)
  whittle_gzip(${PROJECT_SOURCE_DIR}/man/${page}.1 man/${page}.1.gz)
  install(FILES ${PROJECT_BINARY_DIR}/share/man/${page}.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
          RENAME ${name}.1.gz COMPONENT runtime)
endfunction()
foreach(tool trace explain minify repro replay)
  whittle_install_program(${tool} ${tool} ${WHITTLE_PROGRAM_PREFIX}${tool})
endforeach()
whittle_install_program(umbrella whittle whittle)
foreach(folder schema doc ci gdb)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/share/${folder})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/share/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/whittle
            COMPONENT runtime)
  endif()
endforeach()
install(PROGRAMS share/ci/replay-and-minify DESTINATION ${CMAKE_INSTALL_DATADIR}/whittle/ci COMPONENT runtime)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/whittle COMPONENT runtime)
# The documentation as a website.
find_program(WHITTLE_MKDOCS mkdocs)
if(WHITTLE_SITE AND WHITTLE_MKDOCS)
  file(GLOB_RECURSE pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/share/doc/* ${PROJECT_SOURCE_DIR}/share/site/*)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/site/index.html VERBATIM
                     COMMAND ${PROJECT_SOURCE_DIR}/scripts/site ${PROJECT_BINARY_DIR}/site
                     DEPENDS ${pages} ${PROJECT_SOURCE_DIR}/scripts/site)
  add_custom_target(site ALL DEPENDS ${PROJECT_BINARY_DIR}/site/index.html)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/site/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/whittle/html
          COMPONENT runtime PATTERN .whittle-site EXCLUDE)
elseif(WHITTLE_SITE)
  message(STATUS "Whittle: website of the documentation left out (it needs mkdocs)")
endif()

include(${CMAKE_CURRENT_LIST_DIR}/completions.cmake)

# The library: find_package(Whittle), target Whittle::whittle. The shared libraries are part of the programs.
# lib/cli, lib/umbrella and lib/fuzz with its samples, the reader of C++ sources, which needs Clang, and the backend that
# needs LibTorch belong to our programs and are not part of it.
get_property(whittle_libraries GLOBAL PROPERTY WHITTLE_LIBRARIES)
list(FILTER whittle_libraries EXCLUDE REGEX "^whittle_(cli|umbrella|fuzz|ops_samples[a-z_]*|frontends_clang|backends_libtorch)(_headers)?$")
get_property(whittle_images GLOBAL PROPERTY WHITTLE_IMAGES)
add_library(whittle_all INTERFACE)
set_target_properties(whittle_all PROPERTIES EXPORT_NAME whittle)
set_target_properties(whittle PROPERTIES EXPORT_NAME core)
target_link_libraries(whittle_all INTERFACE ${whittle_libraries})
add_library(Whittle::whittle ALIAS whittle_all)
set(whittle_libtorch_images ${whittle_images})
list(FILTER whittle_images EXCLUDE REGEX "^whittle_libtorch$")
list(REMOVE_ITEM whittle_libtorch_images ${whittle_images})
install(TARGETS ${whittle_images} EXPORT WhittleTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/whittle COMPONENT runtime)
if(whittle_libtorch_images)  # of the package that depends on LibTorch
  install(TARGETS ${whittle_libtorch_images} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/whittle COMPONENT libtorch)
endif()
install(TARGETS whittle_all ${whittle_libraries} EXPORT WhittleTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lib/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/whittle COMPONENT dev
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN cli EXCLUDE PATTERN umbrella EXCLUDE PATTERN fuzz EXCLUDE
        PATTERN ops/samples EXCLUDE PATTERN frontends/clang EXCLUDE PATTERN backends/libtorch EXCLUDE)
# Programs include <whittle/whittle.h>; the rest of the API's headers came with the folder.
install(FILES ${PROJECT_SOURCE_DIR}/lib/api/whittle.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/whittle COMPONENT dev)
# The plug-in interface needs nothing else of Whittle: also where a C program finds it without any flags.
install(FILES ${PROJECT_SOURCE_DIR}/lib/backends/plugin/whittle_backend.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
# What `trace cc` includes into the files it compiles.
install(FILES ${PROJECT_SOURCE_DIR}/lib/probe/probe.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/whittle COMPONENT runtime)
install(EXPORT WhittleTargets NAMESPACE Whittle:: DESTINATION ${whittle_cmake_dir} COMPONENT dev)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/WhittleConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/WhittleConfig.cmake INSTALL_DESTINATION ${whittle_cmake_dir}
                              PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/WhittleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/WhittleConfig.cmake ${PROJECT_BINARY_DIR}/WhittleConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/WhittleReplay.cmake
        DESTINATION ${whittle_cmake_dir} COMPONENT dev)

# Packages: `cpack` in the build folder makes whittle_*.deb and libwhittle-dev_*.deb.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME whittle)
# Debian's package of Halide: its name differs by version.
execute_process(COMMAND dpkg-query --search ${Halide_CONFIG} OUTPUT_VARIABLE whittle_halide_package ERROR_QUIET)
string(REGEX REPLACE ":.*" "" whittle_halide_package "${whittle_halide_package}")
if(NOT whittle_halide_package)
  set(whittle_halide_package "libhalide${Halide_VERSION_MAJOR}-dev")
endif()
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(WHITTLE_PACKAGE_CONTACT "The Whittle developers <whittle@invalid>" CACHE STRING "Maintainer of the packages")
set(CPACK_PACKAGE_CONTACT "${WHITTLE_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "capture, explain, minimize, reproduce and replay failures of tensor compilers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME whittle)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "g++, ${whittle_halide_package}")  # to build and verify repro.cpp
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "graphviz, whittle-libtorch")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Programs trace, explain, minify, repro, replay, and whittle, which runs them by one name.")
if(NOT WHITTLE_PROGRAM_PREFIX)
  # Debian's packages of these names own /usr/bin/minify and /usr/bin/explain.
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONFLICTS "minify, explain")
endif()
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libwhittle-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "nlohmann-json3-dev, libeigen3-dev, libspdlog-dev, libre2-dev, libprotobuf-dev, libonnx-dev, ${whittle_halide_package}, llvm-${LLVM_VERSION_MAJOR}-dev")
if(TARGET whittle_capture_torch)
  list(APPEND CPACK_COMPONENTS_ALL libtorch)
  set(CPACK_DEBIAN_LIBTORCH_PACKAGE_NAME whittle-libtorch)
  set(CPACK_DEBIAN_LIBTORCH_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_LIBTORCH_PACKAGE_SECTION devel)
  set(CPACK_DEBIAN_LIBTORCH_PACKAGE_ENHANCES whittle)
  set(CPACK_COMPONENT_LIBTORCH_DESCRIPTION "Capture library for LibTorch programs, used by Whittle's trace and explain.")
endif()
# What Debian's policy asks of each package.
whittle_gzip(${PROJECT_SOURCE_DIR}/share/debian/changelog changelog.gz)
foreach(component runtime dev libtorch)
  set(package whittle)
  if(component STREQUAL "dev")
    set(package libwhittle-dev)
  elseif(component STREQUAL "libtorch")
    set(package whittle-libtorch)
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/share/debian/copyright ${PROJECT_BINARY_DIR}/share/changelog.gz
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package} COMPONENT ${component})
  install(FILES ${PROJECT_SOURCE_DIR}/share/debian/lintian-overrides
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides RENAME ${package} COMPONENT ${component})
endforeach()
get_property(whittle_compressed GLOBAL PROPERTY WHITTLE_COMPRESSED)
add_custom_target(compressed ALL DEPENDS ${whittle_compressed})
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers, static libraries and CMake package of Whittle.")
include(CPack)
