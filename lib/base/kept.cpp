#include "base/kept.h"

#include <algorithm>
#include <cstdlib>

#include "base/disk_cache.h"
#include "base/error.h"
#include "base/variables.h"

namespace whittle {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kBackends = "backends", kReleases = "releases";
constexpr KeptKind kKinds[] = {
    {"kernels", "kernels compiled by Halide", true},
    {"capture", "capture libraries for other LibTorch versions", false, "scripts/build-capture"},
    {kBackends, "ONNX Runtime and the worker for OpenCV", false, "scripts/setup --with onnxruntime or --with opencv"},
    {kReleases, "further compiler releases", false, "the commands that 'explain list releases' prints"},
};

const KeptKind& kind_called(std::string_view name) {
    const auto kind = std::ranges::find(kKinds, name, &KeptKind::name);
    WHITTLE_CHECK(kind != std::end(kKinds), "there is no kind " + std::string(name));
    return *kind;
}

fs::path folder_in(const char* variable) {
    const char* value = std::getenv(variable);
    return value ? value : "";
}

fs::path cache_folder() {
    const std::string given = variable("WHITTLE_CACHE_DIR");
    if (given == "off") return {};
    if (!given.empty()) return given;
    // Relative paths are to be ignored, says the specification.
    if (const fs::path cache = folder_in("XDG_CACHE_HOME"); cache.is_absolute()) return cache / "whittle";
    if (const fs::path home = folder_in("HOME"); home.is_absolute()) return home / ".cache" / "whittle";
    return {};
}

fs::path data_folder() {
    const fs::path data = folder_in("XDG_DATA_HOME"), home = folder_in("HOME");
    return (data.empty() ? (home.empty() ? fs::path("/") : home) / ".local" / "share" : data) / "whittle";
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
        entries.push_back(at->path());
    std::ranges::sort(entries);
    return entries;
}

std::uintmax_t bytes_of(const fs::path& path) {
    std::error_code failed;
    if (fs::is_regular_file(fs::symlink_status(path, failed))) {
        const std::uintmax_t bytes = fs::file_size(path, failed);
        return failed ? 0 : bytes;
    }
    if (!fs::is_directory(fs::symlink_status(path, failed))) return 0;
    std::uintmax_t bytes = 0;
    for (const fs::path& entry : entries_of(path)) bytes += bytes_of(entry);
    return bytes;
}

void add_item(std::vector<KeptItem>& items, const fs::path& path, std::vector<fs::path> parts) {
    if (parts.empty()) return;
    std::uintmax_t bytes = 0;
    for (const fs::path& part : parts) bytes += bytes_of(part);
    items.push_back({path, bytes, std::move(parts)});
}

}  // namespace

std::span<const KeptKind> kept_kinds() { return kKinds; }

fs::path kept_folder(std::string_view kind) {
    const fs::path folder = kind_called(kind).remade ? cache_folder() : data_folder();
    return folder.empty() ? folder : folder / (kind == kReleases ? kBackends : kind);
}

std::vector<KeptItem> kept_items(std::string_view kind) {
    const fs::path folder = kept_folder(kind);
    std::vector<KeptItem> items;
    if (folder.empty()) return items;
    if (kind_called(kind).remade) {
        add_item(items, folder, DiskCache::files_in(folder));
        return items;
    }
    for (const fs::path& entry : entries_of(folder)) {
        std::vector<fs::path> parts = {entry};
        if (kind == kBackends) {
            parts = entries_of(entry);
            std::erase(parts, entry / kReleases);
        } else if (kind == kReleases) {
            for (const fs::path& release : entries_of(entry / kReleases)) add_item(items, release, {release});
            continue;
        }
        add_item(items, entry, std::move(parts));
    }
    return items;
}

void clear(const KeptItem& item) {
    for (const fs::path& part : item.parts) {
        std::error_code failed;
        fs::remove_all(part, failed);
        if (failed) throw Error({part.string(), {}}, "cannot be removed: " + failed.message());
    }
    std::error_code ignored;
    fs::remove(item.path, ignored);  // a folder, where it is empty now
}

}  // namespace whittle
