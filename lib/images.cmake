# The shared libraries that lib/ is linked into. Installed side by side, in a folder of their own, since they change with
# every version; each is of one build with the others, see
# base/module.h.
set(whittle_build_id_source ${PROJECT_BINARY_DIR}/generated/whittle_build_id.cpp CACHE INTERNAL "Says of which build a library is")
file(GLOB_RECURSE whittle_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/*.h)
add_custom_command(
  OUTPUT ${whittle_build_id_source}
  COMMAND ${CMAKE_COMMAND} -DLIB=${PROJECT_SOURCE_DIR}/lib -DOUTPUT=${whittle_build_id_source}
          "-DBUILD=${PROJECT_VERSION} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${WHITTLE_SANITIZE}"
          -P ${CMAKE_CURRENT_LIST_DIR}/build_id.cmake
  DEPENDS ${whittle_headers} ${CMAKE_CURRENT_LIST_DIR}/build_id.cmake
  VERBATIM)
add_custom_target(whittle_build_id DEPENDS ${whittle_build_id_source})  # made once for all images

# whittle_image(NAME OUTPUT [LIBRARY…]): the shared library NAME, called libOUTPUT.so, which links the images LIBRARY….
function(whittle_image name output)
  add_library(${name} SHARED ${whittle_build_id_source})
  add_dependencies(${name} whittle_build_id)
  target_link_libraries(${name} PUBLIC ${ARGN})
  target_link_options(${name} PRIVATE LINKER:-Bsymbolic-functions)  # calls within the library are direct
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${output} INSTALL_RPATH "$ORIGIN"
                        BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/whittle)
  set_property(GLOBAL APPEND PROPERTY WHITTLE_IMAGES ${name})
endfunction()
