// What git-LFS keeps in place of a file that was not fetched.
// https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace whittle {

/// Throws Error when `contents` of `path` are such a pointer.
inline void refuse_lfs_pointer(std::string_view contents, const std::filesystem::path& path) {
    if (contents.starts_with("version https://git-lfs.github.com/spec/"))
        throw Error({path.string(), {}}, "found a Git LFS pointer, expected the contents of the file",
                    "download the file: git lfs pull");
}

}  // namespace whittle
