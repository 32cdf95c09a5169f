# Backends that are a folder (lib/backends/described.h): what they run on is installed on demand, by their `install`.
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
  install(PROGRAMS ${source}/install DESTINATION ${folder} COMPONENT runtime)
endfunction()

whittle_described_backend(onnxruntime worker.mjs)
whittle_described_backend(opencv worker.cpp)
