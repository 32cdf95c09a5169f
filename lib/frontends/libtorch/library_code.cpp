#include "frontends/libtorch/library_code.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "frontends/libtorch/torch_names.h"

namespace whittle::libtorch {

namespace fs = std::filesystem;

namespace {

bool in_system_folder(const std::string& path) {
    for (const char* folder : {"/usr/include/", "/usr/lib/", "/lib/", "/lib64/"})
        if (path.starts_with(folder)) return true;
    return false;
}

std::string normal(const fs::path& path) { return path.lexically_normal().string(); }

}  // namespace

LibraryCode::LibraryCode(std::span<const Mapping> mappings) {
    for (const Mapping& mapping : mappings) {
        const fs::path path = mapping.path;
        if (!is_libtorch_file(path.filename().string())) continue;
        modules_.insert(normal(path));
        // A program may bring LibTorch's libraries among its own: a distribution is where the headers are, too. Debug
        // information may name them by a path with or without links.
        std::error_code ignored;
        for (const fs::path& library : {path, fs::weakly_canonical(path, ignored)}) {
            const fs::path prefix = library.lexically_normal().parent_path().parent_path();
            const fs::path headers = prefix / "include";
            if (prefix.empty() || !fs::exists(headers / "ATen", ignored)) continue;
            for (const char* part : {"ATen", "c10", "caffe2", "torch"})
                folders_.insert((headers / part).string() + "/");
            // Of a prefix that it shares with other packages the rest is theirs.
            if (!fs::exists(prefix / "build-version", ignored) && prefix.filename() != "torch") continue;
            folders_.insert(library.lexically_normal().parent_path().string() + "/");
            folders_.insert(headers.string() + "/");
        }
    }
}

bool LibraryCode::has_module(const std::string& path) const {
    return modules_.contains(normal(path)) || has_source(path);
}

bool LibraryCode::has_source(const std::string& path) const {
    const std::string plain = normal(path);
    return in_system_folder(plain) ||
           std::ranges::any_of(folders_, [&](const std::string& folder) { return plain.starts_with(folder); });
}

}  // namespace whittle::libtorch
