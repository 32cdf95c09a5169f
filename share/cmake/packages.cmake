# Debian packages, one of each component: `scripts/package --deb`, or `cpack` in the build folder, makes whittle_*.deb,
# libwhittle-dev_*.deb and, with LibTorch, whittle-libtorch_*.deb. Included by install.cmake.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME whittle)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(whittle_same_version "whittle (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(WHITTLE_PACKAGE_CONTACT "The Whittle developers <whittle@invalid>" CACHE STRING "Maintainer of the packages")
set(CPACK_PACKAGE_CONTACT "${WHITTLE_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # the first line of each component's description
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# Our own shared libraries, which a component may need of another one.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/whittle)
# Debian's package of Halide: its name differs by version.
execute_process(COMMAND dpkg-query --search ${Halide_CONFIG} OUTPUT_VARIABLE whittle_halide_package ERROR_QUIET)
string(REGEX REPLACE ":.*" "" whittle_halide_package "${whittle_halide_package}")
if(NOT whittle_halide_package)
  set(whittle_halide_package "libhalide${Halide_VERSION_MAJOR}-dev")
endif()

# whittle_package(COMPONENT NAME SECTION SYNOPSIS DESCRIPTION), with what Debian's policy asks of each package. Lines of
# the description have at most 79 columns.
whittle_gzip(${PROJECT_SOURCE_DIR}/CHANGELOG.md changelog.gz)
whittle_gzip(${PROJECT_SOURCE_DIR}/share/debian/changelog changelog.Debian.gz)
function(whittle_package component name section synopsis description)
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${synopsis}\n${description}" PARENT_SCOPE)
  if(NOT name STREQUAL CPACK_PACKAGE_NAME)
    set(CPACK_DEBIAN_${key}_PACKAGE_SOURCE ${CPACK_PACKAGE_NAME} PARENT_SCOPE)
  endif()
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  install(FILES ${PROJECT_SOURCE_DIR}/share/debian/copyright ${PROJECT_BINARY_DIR}/share/changelog.gz
                ${PROJECT_BINARY_DIR}/share/changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name} COMPONENT ${component})
  install(FILES ${PROJECT_SOURCE_DIR}/share/debian/lintian-overrides
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides RENAME ${name} COMPONENT ${component})
endfunction()

set(CPACK_COMPONENTS_ALL "")
whittle_package(runtime whittle devel "debugger for optimizing tensor compilers"
  "The programs trace, explain, minify, repro and replay capture what a model
computes, report graph breaks and wrong values, find the fewest operations that
still fail, and write a small program that reproduces the failure. The program
whittle runs each of them as a command.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "g++, ${whittle_halide_package}")  # to build and verify repro.cpp
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "graphviz, whittle-libtorch")
if(NOT WHITTLE_PROGRAM_PREFIX)
  # Debian's packages of these names own /usr/bin/minify and /usr/bin/explain.
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONFLICTS "minify, explain")
endif()

whittle_package(dev libwhittle-dev libdevel "debugger for optimizing tensor compilers - development files"
  "Headers, static libraries and the CMake package of Whittle, for programs that
use the Tensor API, and for plug-ins.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "${whittle_same_version}, nlohmann-json3-dev, libeigen3-dev, libspdlog-dev, libre2-dev, libprotobuf-dev, libonnx-dev, libzip-dev, ${whittle_halide_package}, llvm-${LLVM_VERSION_MAJOR}-dev")

if(TARGET whittle_capture_torch)
  whittle_package(libtorch whittle-libtorch devel "debugger for optimizing tensor compilers - LibTorch"
    "The library that captures LibTorch programs for Whittle's programs trace and
explain, and the backends that run graphs on LibTorch.")
  set(CPACK_DEBIAN_LIBTORCH_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_LIBTORCH_PACKAGE_DEPENDS "${whittle_same_version}")
  set(CPACK_DEBIAN_LIBTORCH_PACKAGE_ENHANCES whittle)
endif()
include(CPack)
