# Writes interposers.inc: a line for each scheduling directive, and each way to compile or run a pipeline, that a Halide
# library exports. With -P: LIBRARY, NM, FILTER (c++filt), OUTPUT.
cmake_minimum_required(VERSION 3.25)
set(directives split fuse tile reorder vectorize unroll parallel serial rename purify compute_with prefetch rfactor in
    clone_in specialize specialize_fail gpu gpu_blocks gpu_threads gpu_tile gpu_lanes gpu_single_thread hexagon atomic
    allow_race_conditions compute_at compute_root compute_inline store_at store_root store_in store_with hoist_storage
    hoist_storage_root fold_storage reorder_storage align_storage align_bounds align_extent bound bound_extent
    bound_storage async ring_buffer memoize copy_to_device copy_to_host set_estimate set_estimates partition
    never_partition never_partition_all always_partition always_partition_all no_profiling eager_inline set_bounds
    set_extent set_min set_stride set_host_alignment)
set(entries realize compile_to_module compile_jit compile_to_lowered_stmt compile_to_callable)
list(JOIN directives "|" of_directives)
list(JOIN entries "|" of_entries)

execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " [TW] _ZNK?6Halide(4Func|5Stage|16OutputImageParam|8Internal9Dimension)[0-9]+(${of_directives})E[^\n@]*"
       found "${symbols}")
string(REGEX MATCHALL " T _ZN6Halide(4Func|8Pipeline)[0-9]+(${of_entries})E[^\n@]*" found_entries "${symbols}")
list(APPEND found ${found_entries})
list(TRANSFORM found REPLACE "^ . " "")
list(JOIN found "\n" mangled)
file(WRITE ${OUTPUT}.symbols "${mangled}\n")
execute_process(COMMAND ${FILTER} INPUT_FILE ${OUTPUT}.symbols OUTPUT_VARIABLE readable COMMAND_ERROR_IS_FATAL ANY
                OUTPUT_STRIP_TRAILING_WHITESPACE)
file(REMOVE ${OUTPUT}.symbols)
string(REPLACE "\n" ";" readable "${readable}")

# What is returned, which a symbol does not say.
function(returned class name arguments variable)
  set(value "Halide::${class}&")
  if(name MATCHES "^(in|clone_in|rfactor)$")
    set(value Halide::Func)
  elseif(name STREQUAL specialize)
    set(value Halide::Stage)
  elseif(name MATCHES "^(specialize_fail|compile_jit|compile_to_lowered_stmt)$" OR (name STREQUAL realize AND arguments MATCHES RealizationArg))
    set(value void)
  elseif(name STREQUAL realize)
    set(value Halide::Realization)
  elseif(name STREQUAL compile_to_module)
    set(value Halide::Module)
  elseif(name STREQUAL compile_to_callable)
    set(value Halide::Callable)
  elseif(class STREQUAL Internal::Dimension)
    set(value Halide::Internal::Dimension)
  endif()
  set(${variable} "${value}" PARENT_SCOPE)
endfunction()

set(lines "")
foreach(symbol text IN ZIP_LISTS found readable)
  if(NOT text MATCHES "^Halide::([A-Za-z:]+)::([a-z_]+)[(](.*)[)]( const)?$")
    message(FATAL_ERROR "${LIBRARY}: found '${text}', expected a member function")
  endif()
  set(class ${CMAKE_MATCH_1})
  set(name ${CMAKE_MATCH_2})
  set(arguments "${CMAKE_MATCH_3}")
  if(class STREQUAL Stage AND (name STREQUAL purify OR (name STREQUAL split AND arguments MATCHES bool)))
    continue()  # private parts of others
  endif()
  set(kind WHITTLE_DIRECTIVE)
  if(name IN_LIST entries)
    set(kind WHITTLE_ENTRY)
  endif()
  returned("${class}" ${name} "${arguments}" result)
  set(more "")
  if(NOT arguments STREQUAL "")
    set(more ", ${arguments}")
  endif()
  string(APPEND lines "${kind}(${symbol}, Halide::${class}, ${name}, ${result}${more})\n")
endforeach()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "${lines}" @ONLY)
