// Which Python is a program's own. Read by the recorder inside the program, too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontends/libtorch/torch_names.h"

namespace whittle::libtorch {

/// A folder whose code is not the program's, as its interpreter said: with a "/" at the end.
struct LibraryFolder {
    enum Kind : unsigned char { standard = 0, packages = 1 };
    Kind kind = standard;
    std::string path;
};

/// The innermost of the folders that has the file; null: none has.
inline const LibraryFolder* library_of(std::string_view file, const std::vector<LibraryFolder>& folders) {
    const LibraryFolder* found = nullptr;
    for (const LibraryFolder& folder : folders)
        if (file.starts_with(folder.path) && (!found || found->path.size() < folder.path.size())) found = &folder;
    return found;
}

/// Neither the standard library, nor an installed package, nor made by the interpreter itself.
inline bool is_users_python(std::string_view file, const std::vector<LibraryFolder>& folders) {
    return !library_of(file, folders) && !is_interpreter_code(file);
}

/// "torch/optim/adam.py", a package's file by its path among packages; "" for what is no installed package's.
inline std::string_view package_file(std::string_view file, const std::vector<LibraryFolder>& folders) {
    constexpr std::string_view kTorch = "/torch/";  // a source tree that is no folder of packages
    const LibraryFolder* const folder = library_of(file, folders);
    if (!folder || folder->kind != LibraryFolder::packages) return {};
    const bool tree = std::string_view(folder->path).ends_with(kTorch);
    return file.substr(folder->path.size() - (tree ? kTorch.size() - 1 : 0));
}

}  // namespace whittle::libtorch
