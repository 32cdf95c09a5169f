# What shells complete: each program writes the scripts from its own options, into the build folder and from there to
# where bash, zsh and fish look. Included by install.cmake.
set(whittle_completions)
function(whittle_completion tool shell folder file)
  set(script ${PROJECT_BINARY_DIR}/share/${folder}/${file})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/${folder})
  add_custom_command(OUTPUT ${script} DEPENDS ${tool} VERBATIM
    COMMAND ${tool} --help-completion ${shell} ${WHITTLE_PROGRAM_PREFIX}${tool} > ${script})
  set(whittle_completions ${whittle_completions} ${script} PARENT_SCOPE)
  install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} COMPONENT runtime)
endfunction()
foreach(tool trace explain minify repro replay)
  set(name ${WHITTLE_PROGRAM_PREFIX}${tool})
  whittle_completion(${tool} bash bash-completion/completions ${name})
  whittle_completion(${tool} zsh zsh/vendor-completions _${name})
  whittle_completion(${tool} fish fish/vendor_completions.d ${name}.fish)
endforeach()
add_custom_target(completions ALL DEPENDS ${whittle_completions})
