# ops/aten/calls.h: ATen's ops as functions of values, made of the schemas in the records of lib/ops/aten.
add_executable(make_calls ${CMAKE_CURRENT_LIST_DIR}/make_calls.cpp)
target_include_directories(make_calls PRIVATE ${PROJECT_SOURCE_DIR}/lib)
set(folder ${PROJECT_BINARY_DIR}/generated/ops/aten)
file(MAKE_DIRECTORY ${folder})
file(GLOB records CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/ops/aten/*.cpp ${PROJECT_SOURCE_DIR}/lib/ops/aten/*.h)
add_custom_command(OUTPUT ${folder}/calls.h ${folder}/calls.cpp COMMAND make_calls ${folder} ${records}
                   DEPENDS make_calls ${records} VERBATIM)
add_custom_target(whittle_aten_calls DEPENDS ${folder}/calls.h ${folder}/calls.cpp)
target_include_directories(whittle_ops_aten_headers INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>)
add_dependencies(whittle_ops_aten_headers whittle_aten_calls)
target_sources(whittle_ops_aten_objects PRIVATE ${folder}/calls.cpp)
