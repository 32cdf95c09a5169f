# The page of `explain --html` as text of the library: share/report's page.html, page.css, and its modules, which esbuild
# bundles into one script (of ASCII characters, as long as it keeps no comments).
set(report_folder ${PROJECT_SOURCE_DIR}/share/report)
set(report_script ${CMAKE_CURRENT_BINARY_DIR}/report.js)
file(GLOB report_modules CONFIGURE_DEPENDS ${report_folder}/*.js)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${report_modules} ${report_folder}/page.html ${report_folder}/page.css)
execute_process(COMMAND ${WHITTLE_ESBUILD} ${report_folder}/main.js --bundle --format=iife --minify-whitespace
                        --log-level=warning --outfile=${report_script}
                COMMAND_ERROR_IS_FATAL ANY)

set(report_text "// Generated from share/report by CMake.\n#include <string>\n\n#include \"report/page/parts.h\"\n\nnamespace whittle::html {\n\n")
# In pieces, since compilers limit the length of one literal.
function(whittle_asset function file)
  file(READ ${file} text)
  string(APPEND report_text "std::string ${function}() {\n  std::string text;\n")
  string(LENGTH "${text}" length)
  foreach(begin RANGE 0 ${length} 30000)
    string(SUBSTRING "${text}" ${begin} 30000 piece)
    string(APPEND report_text "  text += R\"whittle_asset(${piece})whittle_asset\";\n")
  endforeach()
  set(report_text "${report_text}  return text;\n}\n\n" PARENT_SCOPE)
endfunction()
whittle_asset(asset_page ${report_folder}/page.html)
whittle_asset(asset_style ${report_folder}/page.css)
whittle_asset(asset_script ${report_script})
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/html_assets.cpp CONTENT "${report_text}}  // namespace whittle::html\n" @ONLY)
target_sources(whittle_report_page PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/html_assets.cpp)
