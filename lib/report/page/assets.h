// What the page is made of: the files of share/report, compiled in so that a program that was moved still has them.
#pragma once

#include <string>

namespace whittle::html {

std::string asset_page();    ///< page.html, with marks where the rest goes
std::string asset_style();   ///< page.css
std::string asset_script();  ///< all modules, bundled

}  // namespace whittle::html
