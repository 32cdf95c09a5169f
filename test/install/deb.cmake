# Makes the Debian package of the programs and checks what it says and holds.
#   cmake -DBUILD=… -DSCRATCH=… -P deb.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${status}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
run(cpack -G DEB --config ${BUILD}/CPackConfig.cmake -B ${SCRATCH} -D CPACK_COMPONENTS_ALL=runtime
    -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip)
file(GLOB package ${SCRATCH}/whittle_*.deb)
run(dpkg-deb --info ${package})
foreach(line "Package: whittle" "Conflicts: minify, explain" "Depends: .*libonnx" "Depends: .*libre2" "Recommends: .*libhalide14-0-dev")
  if(NOT output MATCHES "${line}")
    message(FATAL_ERROR "found no '${line}' in:\n${output}")
  endif()
endforeach()
run(dpkg-deb --contents ${package})
foreach(file usr/bin/explain usr/share/man/man1/explain.1 usr/lib/whittle/backends/relu_testing.so
             usr/lib/whittle/backends/onnxruntime/worker.mjs usr/lib/whittle/backends/opencv/install
             usr/share/whittle/schema/graph.schema.json usr/share/doc/whittle/LICENSE)
  if(NOT output MATCHES " ./${file}\n")
    message(FATAL_ERROR "found no ${file} in:\n${output}")
  endif()
endforeach()
file(REMOVE_RECURSE ${SCRATCH})
