# <whittle/aten/{functions,methods}.h>: ATen's ops as functions and methods of the API, made of the registry.
add_executable(make_functions ${CMAKE_CURRENT_LIST_DIR}/make_functions.cpp)
target_link_libraries(make_functions PRIVATE whittle_printers)
set(folder ${PROJECT_BINARY_DIR}/generated/aten)
file(MAKE_DIRECTORY ${folder})
file(CREATE_LINK ${folder} ${PROJECT_BINARY_DIR}/include/whittle/aten SYMBOLIC)
# It depends on the core as well, which has the registry and changes without linking make_functions again. LeakSanitizer
# may read garbage, see the test preset asan.
add_custom_command(OUTPUT ${folder}/functions.h ${folder}/methods.h ${folder}/functions.cpp
                   COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:make_functions> ${folder}
                   DEPENDS make_functions whittle VERBATIM)
add_custom_target(whittle_api_functions DEPENDS ${folder}/functions.h ${folder}/methods.h ${folder}/functions.cpp)
add_dependencies(whittle_api_headers whittle_api_functions)
target_sources(whittle_api_objects PRIVATE ${folder}/functions.cpp)
