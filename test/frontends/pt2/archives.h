// Zip archives as the tests make them.
#pragma once

#include <zip.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

namespace whittle::pt2 {

/// Writes the entries into a new archive, stored or compressed.
inline void write_archive(const std::filesystem::path& path, const std::map<std::string, std::string>& entries,
                          bool compressed = false) {
    zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    if (!zip) std::abort();
    for (const auto& [name, contents] : entries) {
        zip_source_t* source = zip_source_buffer(zip, contents.data(), contents.size(), 0);
        const zip_int64_t index = zip_file_add(zip, name.c_str(), source, 0);
        if (index < 0) std::abort();
        if (!compressed) zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
    }
    if (zip_close(zip) != 0) std::abort();
}

}  // namespace whittle::pt2
