// Names of files in a trace folder.
#pragma once

#include <string>

namespace whittle {

/// A file name that any name can become: what could be a path or an option is replaced.
inline std::string file_name(const std::string& name) {
    std::string result;
    for (const char c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                           (c == '.' && !result.empty()) || (c == '-' && !result.empty());
        result += plain ? c : '_';
    }
    return result.empty() ? "graph" : result.substr(0, 100);
}

}  // namespace whittle
