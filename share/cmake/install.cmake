# What `cmake --install` and CPack put where: programs and manual pages (component runtime), libraries, headers and the
# CMake package (component dev), what needs LibTorch (component libtorch). Included by the top CMakeLists.txt after all
# targets exist.
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
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/whittle COMPONENT dev
        FILES_MATCHING PATTERN "*.h")
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

include(${CMAKE_CURRENT_LIST_DIR}/packages.cmake)

get_property(whittle_compressed GLOBAL PROPERTY WHITTLE_COMPRESSED)
add_custom_target(compressed ALL DEPENDS ${whittle_compressed})
