# What shells complete: each program writes the scripts from its own options, into the build folder and from there to
# where bash, zsh and fish look. Included by install.cmake.
set(whittle_completions)
# whittle_completion(TARGET NAME [TARGET…]): of a program that is installed as NAME and runs the others.
function(whittle_completion target name)
  foreach(file bash:bash-completion/completions/${name} zsh:zsh/vendor-completions/_${name}
               fish:fish/vendor_completions.d/${name}.fish)
    string(REPLACE ":" ";" shell_file ${file})
    list(POP_FRONT shell_file shell)
    set(script ${PROJECT_BINARY_DIR}/share/${shell_file})
    cmake_path(GET shell_file PARENT_PATH folder)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/${folder})
    add_custom_command(OUTPUT ${script} DEPENDS ${target} ${ARGN} VERBATIM
      COMMAND ${target} --help-completion ${shell} ${name} > ${script})
    list(APPEND whittle_completions ${script})
    install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} COMPONENT runtime)
  endforeach()
  set(whittle_completions ${whittle_completions} PARENT_SCOPE)
endfunction()
foreach(tool trace explain minify repro replay)
  whittle_completion(${tool} ${WHITTLE_PROGRAM_PREFIX}${tool})
endforeach()
whittle_completion(umbrella whittle trace explain minify repro replay)
add_custom_target(completions ALL DEPENDS ${whittle_completions})
