# Headers that most sources include, parsed once for all of them: a quarter of the time of a build, and more with
# sanitizers. Sources include what they use all the same: WHITTLE_PRECOMPILE=OFF builds without this. With ccache set
# CCACHE_SLOPPINESS to pch_defines,time_macros, and CCACHE_DEPEND=1: without it, ccache takes two texts that differ in a
# comment for one, and its old parsed headers; GCC then meets a "#pragma once" file that is not the one it parsed, and
# parses it again.
option(WHITTLE_PRECOMPILE "Parse the headers that most sources include once" ON)
# Each is mapped by every compilation: what few sources include costs the others more than it saves.
set(whittle_precompiled_headers
  algorithm array atomic bit charconv cmath cstddef cstdint cstring exception functional map memory mutex numeric optional
  set span string string_view tuple unordered_map unordered_set utility variant vector)
set(whittle_precompiled_more chrono filesystem nlohmann/json.hpp ranges sstream thread)

# whittle_precompiled(NAME EXECUTABLE|OBJECT [HEADER…]): a target that has the headers above, and these, parsed, for
# targets of its kind: how a program is compiled differs from how a library is. Headers of ours begin with their folder.
function(whittle_precompiled name kind)
  if(NOT WHITTLE_PRECOMPILE)
    return()
  endif()
  set(source ${PROJECT_BINARY_DIR}/generated/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
  if(kind STREQUAL "EXECUTABLE")
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
  else()
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
  endif()
  set(headers ${whittle_precompiled_headers} ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  target_precompile_headers(${name} PRIVATE ${headers})
  if("ops/core/op.h" IN_LIST ARGN)
    target_link_libraries(${name} PRIVATE whittle_ops_core_headers)
  endif()
endfunction()

# whittle_precompile(TARGET FROM): its sources are compiled with what FROM has parsed.
function(whittle_precompile target from)
  if(TARGET ${from})
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()
