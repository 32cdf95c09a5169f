# Installs the build into a scratch folder, checks what is there, and builds a program against it.
#   cmake -DBUILD=… -DSCRATCH=… -DCONSUMER=… -DEXAMPLES=… -DMODEL=… -DCXX=… -DBUILD_TYPE=… -P run.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${status}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
foreach(file bin/explain bin/whittle share/man/man1/explain.1.gz share/man/man1/whittle.1.gz include/whittle/graph/graph.h share/doc/whittle/copyright include/whittle_backend.h
        include/whittle/whittle.h include/whittle/probe.h share/whittle/ci/replay-and-minify)
  if(NOT EXISTS ${SCRATCH}/prefix/${file})
    message(FATAL_ERROR "cmake --install did not install ${file}")
  endif()
endforeach()
run(${SCRATCH}/prefix/bin/explain --version)
message(STATUS "${output}")
run(${SCRATCH}/prefix/bin/trace ${MODEL} -o ${SCRATCH}/traces)
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${SCRATCH}/build -G Ninja -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
    -DRECORDS=${SCRATCH}/traces -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=${BUILD_TYPE})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/consumer)
message(STATUS "${output}")
run(${CMAKE_CTEST_COMMAND} --test-dir ${SCRATCH}/build --output-on-failure)
if(NOT output MATCHES "records/1-of-2 .*records/2-of-2 .*broken .*100% tests passed.*replay *=" OR
   NOT EXISTS ${SCRATCH}/build/reports/records-2-of-2.xml)
  message(FATAL_ERROR "whittle_add_replay: found\n${output}")
endif()
# The examples on their own, as a user builds them.
run(${CMAKE_COMMAND} -S ${EXAMPLES} -B ${SCRATCH}/examples -G Ninja -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=${BUILD_TYPE})
run(${CMAKE_COMMAND} --build ${SCRATCH}/examples --target toy_example)
run(${SCRATCH}/prefix/bin/explain ${SCRATCH}/examples/toy_example)
if(NOT output MATCHES "produced 3 graphs, with 2 graph breaks and 6 ops" OR NOT output MATCHES "toy_example.cpp\", line 10")
  message(FATAL_ERROR "explain of the installed toy_example: found\n${output}")
endif()
file(REMOVE_RECURSE ${SCRATCH})
