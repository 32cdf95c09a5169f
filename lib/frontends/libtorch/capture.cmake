# What is loaded into captured programs: the stub, always; the capture library where LibTorch's headers and libraries are
# found. Both lie in LIBDIR/whittle. Neither contains anything of Whittle's other libraries or of LLVM.
file(RELATIVE_PATH WHITTLE_CAPTURE_DIR_FROM_BIN ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/whittle)
set(WHITTLE_CAPTURE_DIR_FROM_BIN ${WHITTLE_CAPTURE_DIR_FROM_BIN} CACHE INTERNAL "the folder of the libraries below, as programs find it")
set(capture_folder ${CMAKE_CURRENT_LIST_DIR}/capture)

# What a capture library has to have in common with the stub and the programs, and is rebuilt for: its own sources and
# the headers that it shares. scripts/build-capture computes the same.
set(capture_headers capture/hash_row.h frontends/libtorch/events.h frontends/libtorch/python_code.h frontends/libtorch/records.h frontends/libtorch/torch_names.h
                    ops/aten/capture.h probe/probe.h)
file(GLOB shared RELATIVE ${PROJECT_SOURCE_DIR}/lib CONFIGURE_DEPENDS ${capture_folder}/*.cpp ${capture_folder}/*.h)
list(APPEND shared ${capture_headers})
list(FILTER shared EXCLUDE REGEX /stub)
list(SORT shared)
set(capture_interface)
foreach(file IN LISTS shared)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/${file})
  file(SHA256 ${PROJECT_SOURCE_DIR}/lib/${file} hash)
  string(APPEND capture_interface ${hash})
endforeach()
string(SHA256 capture_interface "${capture_interface}")
string(SUBSTRING ${capture_interface} 0 16 capture_interface)

# They run in programs that were not built with sanitizers.
function(whittle_unsanitized target)
  foreach(property COMPILE_OPTIONS LINK_OPTIONS)
    get_target_property(options ${target} ${property})
    if(options)
      list(FILTER options EXCLUDE REGEX "^-fn?o?-?sanitize|^-fno-sanitize")
      set_target_properties(${target} PROPERTIES ${property} "${options}")
    endif()
  endforeach()
endfunction()

function(whittle_capture_library name)
  add_library(${name} MODULE ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  whittle_unsanitized(${name})
  set_target_properties(${name} PROPERTIES
                        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${WHITTLE_CAPTURE_DIR_FROM_BIN})
endfunction()

whittle_capture_library(whittle_capture_stub ${capture_folder}/stub.cpp ${capture_folder}/stub_hidden.cpp
                        ${capture_folder}/stub_torch.cpp ${capture_folder}/stub_process.cpp ${capture_folder}/stub_shell.cpp
                        ${capture_folder}/stub_probes.cpp ${capture_folder}/stub_version.cpp)
set_target_properties(whittle_capture_stub PROPERTIES OUTPUT_NAME whittle_capture)
install(TARGETS whittle_capture_stub LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/whittle COMPONENT runtime)
# Linked by the C driver: a C program must not get libstdc++ from us.
set_target_properties(whittle_capture_stub PROPERTIES LINKER_LANGUAGE C)
target_compile_options(whittle_capture_stub PRIVATE -O2 -fno-exceptions -fno-rtti -fno-threadsafe-statics
                                                    -fno-stack-protector)

# Not through find_package(Torch): its flags would reach everything else.
find_path(WHITTLE_TORCH_INCLUDE ATen/record_function.h)
find_path(WHITTLE_TORCH_API_INCLUDE torch/nn/module.h PATH_SUFFIXES torch/csrc/api/include)
find_library(WHITTLE_TORCH_CPU torch_cpu)
find_library(WHITTLE_C10 c10)
find_library(WHITTLE_UNWIND unwind)
find_path(WHITTLE_UNWIND_INCLUDE libunwind.h)
set(WHITTLE_TORCH_SONAME "" CACHE INTERNAL "the libtorch_cpu that programs are captured with")
if(WHITTLE_TORCH_INCLUDE AND WHITTLE_TORCH_API_INCLUDE AND WHITTLE_TORCH_CPU AND WHITTLE_C10 AND WHITTLE_UNWIND
   AND WHITTLE_UNWIND_INCLUDE)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${WHITTLE_TORCH_CPU} OUTPUT_VARIABLE dynamic ERROR_QUIET)
  if(dynamic MATCHES "SONAME +([^ \n]+)")
    set(WHITTLE_TORCH_SONAME ${CMAKE_MATCH_1} CACHE INTERNAL "")
  endif()
endif()
if(WHITTLE_TORCH_SONAME)
  whittle_capture_library(whittle_capture_torch ${capture_folder}/torch_capture.cpp ${capture_folder}/ops.cpp ${capture_folder}/op_info.cpp ${capture_folder}/stacks.cpp
                          ${capture_folder}/callers.cpp ${capture_folder}/identity.cpp ${capture_folder}/hashes.cpp ${capture_folder}/row_file.cpp ${capture_folder}/ring_file.cpp ${capture_folder}/tensors.cpp ${capture_folder}/modules.cpp ${capture_folder}/recorder.cpp
                          ${capture_folder}/process.cpp ${capture_folder}/child.cpp ${capture_folder}/mappings.cpp ${capture_folder}/probes.cpp ${capture_folder}/exceptions.cpp
                          ${capture_folder}/torchscript.cpp ${capture_folder}/version.cpp
                          ${capture_folder}/python.cpp ${capture_folder}/python_layout.cpp ${capture_folder}/python_evaluation.cpp ${capture_folder}/python_locals.cpp ${capture_folder}/python_names.cpp
                          ${capture_folder}/python_calls.cpp ${capture_folder}/python_methods.cpp ${capture_folder}/python_paths.cpp ${capture_folder}/python_variables.cpp ${capture_folder}/python_end.cpp)
  whittle_unity(whittle_capture_torch)
  target_include_directories(whittle_capture_torch SYSTEM PRIVATE ${WHITTLE_TORCH_INCLUDE} ${WHITTLE_TORCH_API_INCLUDE}
                                                                  ${WHITTLE_UNWIND_INCLUDE})
  # A package of its own: who captures no LibTorch programs need not have LibTorch.
  install(TARGETS whittle_capture_torch LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/whittle COMPONENT libtorch)
  target_compile_definitions(whittle_capture_torch PRIVATE NDEBUG)
  # LibTorch's headers make warnings in their users' instantiations.
  target_compile_options(whittle_capture_torch PRIVATE -O2 -Wno-pedantic)
  execute_process(COMMAND ${CMAKE_READELF} -n ${WHITTLE_TORCH_CPU} OUTPUT_VARIABLE notes ERROR_QUIET)
  set(build_id -)
  if(notes MATCHES "Build ID: ([0-9a-f]+)")
    set(build_id ${CMAKE_MATCH_1})
  endif()
  set_source_files_properties(${capture_folder}/version.cpp PROPERTIES COMPILE_DEFINITIONS
    "WHITTLE_CAPTURE_INTERFACE=\"${capture_interface}\";WHITTLE_TORCH_BUILD_ID=\"${build_id}\";WHITTLE_TORCH_SONAME=\"${WHITTLE_TORCH_SONAME}\"")
  target_link_libraries(whittle_capture_torch PRIVATE ${WHITTLE_TORCH_CPU} ${WHITTLE_C10} ${WHITTLE_UNWIND})
endif()
add_custom_target(capture_libraries DEPENDS whittle_capture_stub)
if(TARGET whittle_capture_torch)
  add_dependencies(capture_libraries whittle_capture_torch)
endif()
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/launch.cpp PROPERTIES COMPILE_DEFINITIONS
  "WHITTLE_TORCH_SONAME=\"${WHITTLE_TORCH_SONAME}\"")
file(RELATIVE_PATH data_folder ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/whittle)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/capture_library.cpp PROPERTIES COMPILE_DEFINITIONS
  "WHITTLE_CAPTURE_DIR_FROM_BIN=\"${WHITTLE_CAPTURE_DIR_FROM_BIN}\";WHITTLE_DATA_DIR_FROM_BIN=\"${data_folder}\";WHITTLE_CAPTURE_INTERFACE=\"${capture_interface}\"")
# scripts/build-capture and what it compiles, laid out as here.
set(sources_folder ${CMAKE_INSTALL_DATADIR}/whittle)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/build-capture DESTINATION ${sources_folder}/scripts COMPONENT runtime)
install(DIRECTORY ${capture_folder} DESTINATION ${sources_folder}/lib/frontends/libtorch COMPONENT runtime
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp" PATTERN "stub*" EXCLUDE)
foreach(header IN LISTS capture_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/lib/${header} DESTINATION ${sources_folder}/lib/${folder} COMPONENT runtime)
endforeach()
