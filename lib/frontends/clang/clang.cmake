# Clang reads C++ sources, in the version of LLVM. Without it this folder is one file that says what to install.
# Its package file is not used: it stops the configuration when one of its libraries is not installed.
find_path(CLANG_INCLUDE_DIR clang/Tooling/Tooling.h HINTS ${LLVM_INCLUDE_DIRS})
find_library(CLANG_CPP_LIBRARY clang-cpp HINTS ${LLVM_LIBRARY_DIRS})
find_library(CLANG_LLVM_LIBRARY NAMES LLVM-${LLVM_VERSION_MAJOR} LLVM HINTS ${LLVM_LIBRARY_DIRS})
find_path(CLANG_RESOURCE_DIR include/stddef.h NO_DEFAULT_PATH
          PATHS ${LLVM_LIBRARY_DIRS}/clang/${LLVM_VERSION_MAJOR} ${LLVM_LIBRARY_DIRS}/clang/${LLVM_PACKAGE_VERSION}
                ${LLVM_LIBRARY_DIRS}/clang/${LLVM_VERSION_MAJOR}.0.0 /usr/lib/clang/${LLVM_VERSION_MAJOR})
set(whittle_clang_packages "libclang-${LLVM_VERSION_MAJOR}-dev and libclang-cpp${LLVM_VERSION_MAJOR}-dev")
mark_as_advanced(CLANG_INCLUDE_DIR CLANG_CPP_LIBRARY CLANG_LLVM_LIBRARY CLANG_RESOURCE_DIR)
set(whittle_clang_version "")
if(CLANG_INCLUDE_DIR AND CLANG_CPP_LIBRARY AND CLANG_LLVM_LIBRARY AND CLANG_RESOURCE_DIR)
  file(STRINGS ${CLANG_INCLUDE_DIR}/clang/Basic/Version.inc version REGEX "define CLANG_VERSION_STRING")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" whittle_clang_version "${version}")
  if(NOT whittle_clang_version MATCHES "^${LLVM_VERSION_MAJOR}\\.")
    message(STATUS "Clang ${whittle_clang_version} is not used: expected ${LLVM_VERSION_MAJOR}, as LLVM is")
    set(whittle_clang_version "")
  endif()
endif()

set(clang_readers unit.cpp semantics.cpp indexing.cpp predict.cpp interest.cpp places.cpp rewrite.cpp
    walk.cpp)
if(whittle_clang_version)
  list(TRANSFORM clang_readers PREPEND frontends/clang/)
  target_include_directories(whittle_frontends_clang SYSTEM PRIVATE ${CLANG_INCLUDE_DIR})
  # GCC 12 takes a pointer in Clang's headers for null.
  target_compile_options(whittle_frontends_clang PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-nonnull>)
  target_link_libraries(whittle_frontends_clang PRIVATE ${CLANG_CPP_LIBRARY} ${CLANG_LLVM_LIBRARY})
  set_source_files_properties(frontends/clang/without_clang.cpp PROPERTIES HEADER_FILE_ONLY ON)
  # Of the whole folder: a file with definitions of its own would be compiled alone.
  target_compile_definitions(whittle_frontends_clang PRIVATE WHITTLE_CLANG_RESOURCES="${CLANG_RESOURCE_DIR}"
                             WHITTLE_CLANG="clang-${LLVM_VERSION_MAJOR}" WHITTLE_CLANG_HEADERS="libclang-common-${LLVM_VERSION_MAJOR}-dev")
else()
  list(TRANSFORM clang_readers PREPEND frontends/clang/)
  set_source_files_properties(${clang_readers} PROPERTIES HEADER_FILE_ONLY ON)
  target_compile_definitions(whittle_frontends_clang PRIVATE WHITTLE_CLANG_PACKAGES="${whittle_clang_packages}")
  message(STATUS "Left out: trace cc and explain static, which need ${whittle_clang_packages}")
endif()
set(WHITTLE_HAS_CLANG ${whittle_clang_version} CACHE INTERNAL "Clang's version, or empty: C++ sources are not read")
set_source_files_properties(frontends/clang/launcher.cpp PROPERTIES COMPILE_DEFINITIONS
  "WHITTLE_INCLUDE_DIR_FROM_BIN=\"${WHITTLE_INCLUDE_DIR_FROM_BIN}\"")
