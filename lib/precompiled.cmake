# Headers that most sources include, parsed once for all of them: a third of the time of a build. Sources include what
# they use all the same: WHITTLE_PRECOMPILE=OFF builds without this. With ccache set CCACHE_SLOPPINESS to
# pch_defines,time_macros.
option(WHITTLE_PRECOMPILE "Parse the standard library's headers once" ON)
set(whittle_precompiled_headers
  algorithm array atomic bit charconv chrono cmath cstddef cstdint cstring exception filesystem functional map memory
  mutex nlohmann/json.hpp numeric optional ranges set span sstream string string_view thread tuple unordered_map
  unordered_set utility variant vector)

# whittle_precompiled(NAME EXECUTABLE|OBJECT [HEADER…]): a target that has the headers above, and these, parsed, for
# targets of its kind: how a program is compiled differs from how a library is.
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
endfunction()

# whittle_precompile(TARGET FROM): its sources are compiled with what FROM has parsed.
function(whittle_precompile target from)
  if(TARGET ${from})
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()
