// Which Python is a program's own. Read by the recorder inside the program, too.
#pragma once

#include <string_view>

namespace whittle::libtorch {

/// Neither the standard library, nor an installed package, nor made by the interpreter itself.
inline bool is_users_python(std::string_view file) {
    for (const std::string_view part : {"/lib/python3", "/lib/pypy3", "/site-packages/", "/dist-packages/"})
        if (file.find(part) != std::string_view::npos) return false;
    return file.substr(0, 8) != "<frozen " && file.substr(0, 19) != "<__array_function__";
}

}  // namespace whittle::libtorch
