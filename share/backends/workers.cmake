# `install` of a backend, if it has one, in the folder of the backend in an installation and in the build tree, where
# messages name it.
function(whittle_backend_installer name)
  set(source ${PROJECT_SOURCE_DIR}/share/backends/${name}/install)
  if(NOT EXISTS ${source})
    return()
  endif()
  set(built ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${WHITTLE_BACKEND_DIR_FROM_BIN}/${name})
  file(MAKE_DIRECTORY ${built})
  file(CREATE_LINK ${source} ${built}/install SYMBOLIC)
  install(PROGRAMS ${source} DESTINATION ${CMAKE_INSTALL_LIBDIR}/whittle/backends/${name} COMPONENT runtime)
endfunction()

# Backends that are a folder (lib/backends/described.h): what they run on is installed on demand.
function(whittle_described_backend name)
  set(built ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${WHITTLE_BACKEND_DIR_FROM_BIN}/${name})
  set(source ${PROJECT_SOURCE_DIR}/share/backends/${name})
  foreach(file IN LISTS ARGN)
    configure_file(${source}/${file} ${built}/${file} COPYONLY)
  endforeach()
  set(folder ${CMAKE_INSTALL_LIBDIR}/whittle/backends/${name})
  set(install "scripts/setup --with ${name}")
  configure_file(${source}/backend.json.in ${built}/backend.json @ONLY)
  set(install "{here}/install")  # where there is no checkout
  configure_file(${source}/backend.json.in ${PROJECT_BINARY_DIR}/backends/${name}/backend.json @ONLY)
  list(TRANSFORM ARGN PREPEND ${source}/)
  install(FILES ${PROJECT_BINARY_DIR}/backends/${name}/backend.json ${ARGN} DESTINATION ${folder} COMPONENT runtime)
  whittle_backend_installer(${name})
endfunction()

whittle_described_backend(onnxruntime worker.mjs)
whittle_described_backend(opencv worker.cpp)
whittle_described_backend(torch worker.py graphs.py interpreter.py read_model.py traced.py trace_log.py aoti.py aoti_runner.cpp)
whittle_described_backend(inductor)
whittle_described_backend(aoti)

# The backend halide has workers for other releases of Halide alone: its `install` builds them, for the build or the
# installation in which it lies.
whittle_backend_installer(halide)
# What it compiles.
install(DIRECTORY lib/backends/halide ${PROJECT_BINARY_DIR}/generated/backends/halide
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/whittle/backends COMPONENT dev FILES_MATCHING PATTERN "*.cpp")
install(FILES ${whittle_build_id_source} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/whittle COMPONENT dev)
