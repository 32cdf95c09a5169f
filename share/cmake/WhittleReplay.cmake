# Records as tests: `include(WhittleReplay)`, or `find_package(Whittle)`, which includes it.
#
#   whittle_add_replay(NAME RECORD|DIR… [BACKEND B] [OPTIONS NAME=VALUE…] [SHARDS N] [XFAIL FILE] [FILTER RE]
#                      [TIMEOUT SECONDS] [JUNIT_DIR DIR] [ARGS ARGUMENT…] [LABELS LABEL…])
#
# adds a CTest test NAME that replays the records. It fails if `replay` does: if a record fails, passes although FILE lists
# it as a known failure, or cannot be read. Paths are relative to the current source folder. A folder that a test or target
# creates later need not exist when CMake runs.
#   BACKEND    backend to use instead of the one that each record was made with; OPTIONS are its options
#   SHARDS     split the records into N tests NAME/1-of-N …, which `ctest -j` runs in parallel
#   XFAIL      file of known failures, one pattern per line
#   TIMEOUT    time limit for each record, in seconds
#   JUNIT_DIR  each test writes DIR/NAME.xml
#   ARGS       further arguments of `replay`, e.g. --rtol 1e-3
# Runs WHITTLE_REPLAY if it is set, else the target `replay` of this build or the program of the installed package.
include_guard(GLOBAL)

function(_whittle_replay_program result)
  if(WHITTLE_REPLAY)
    set(${result} ${WHITTLE_REPLAY} PARENT_SCOPE)
  elseif(TARGET replay)
    set(${result} $<TARGET_FILE:replay> PARENT_SCOPE)
  else()
    message(FATAL_ERROR "whittle_add_replay: found no program replay, expected it to be installed with this package\n"
                        "  hint: -DWHITTLE_REPLAY=/path/to/replay")
  endif()
endfunction()

function(whittle_add_replay name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BACKEND;SHARDS;XFAIL;FILTER;TIMEOUT;JUNIT_DIR" "OPTIONS;ARGS;LABELS")
  if(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "whittle_add_replay(${name}): found no value after ${arg_KEYWORDS_MISSING_VALUES}")
  elseif(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "whittle_add_replay(${name}): found no records, expected RECORD|DIR… after the name")
  endif()
  if(NOT DEFINED arg_SHARDS)
    set(arg_SHARDS 1)
  elseif(NOT arg_SHARDS MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "whittle_add_replay(${name}): found SHARDS ${arg_SHARDS}, expected a number, 1 or more")
  endif()
  _whittle_replay_program(program)
  set(command ${program})
  foreach(records IN LISTS arg_UNPARSED_ARGUMENTS)
    cmake_path(ABSOLUTE_PATH records BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND command ${records})
  endforeach()
  foreach(option BACKEND FILTER TIMEOUT)
    if(DEFINED arg_${option})
      string(TOLOWER "--${option}" flag)
      list(APPEND command ${flag} ${arg_${option}})
    endif()
  endforeach()
  if(DEFINED arg_XFAIL)
    cmake_path(ABSOLUTE_PATH arg_XFAIL BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND command --xfail ${arg_XFAIL})
  endif()
  foreach(option IN LISTS arg_OPTIONS)
    list(APPEND command --backend-option ${option})
  endforeach()
  list(APPEND command ${arg_ARGS})

  math(EXPR last "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(test ${name})
    set(part)
    if(arg_SHARDS GREATER 1)
      math(EXPR number "${shard} + 1")
      set(test ${name}/${number}-of-${arg_SHARDS})
      set(part --shard ${number}/${arg_SHARDS})
    endif()
    if(DEFINED arg_JUNIT_DIR)
      cmake_path(ABSOLUTE_PATH arg_JUNIT_DIR BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)
      file(MAKE_DIRECTORY ${arg_JUNIT_DIR})
      string(REPLACE "/" "-" report ${test})
      list(APPEND part --report junit=${arg_JUNIT_DIR}/${report}.xml)
    endif()
    add_test(NAME ${test} COMMAND ${command} ${part})
    if(arg_LABELS)
      set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS}")
    endif()
  endforeach()
endfunction()
