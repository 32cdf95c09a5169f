#include "base/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/log.h"

namespace whittle {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "whittle cache 1\n";
constexpr std::string_view kEntry = ".entry";
constexpr std::string_view kTemporaryExtension = ".tmp";
constexpr std::string_view kStamp = "trimmed";  ///< of the last time
constexpr std::size_t kHashLength = 32;
constexpr auto kBetweenTrims = std::chrono::minutes(1);
constexpr auto kAbandoned = std::chrono::hours(1);  ///< no writer takes so long

/// Magic, hash of the rest, length of the key, key, value. The key is kept because names are hashes of it.
std::string packed(std::string_view key, std::string_view value) {
    std::string rest = std::to_string(key.size()) + "\n";
    rest.append(key).append(value);
    return std::string(kMagic) + content_hash(rest) + rest;
}

std::optional<std::string> unpacked(std::string_view text, std::string_view key) {
    if (!text.starts_with(kMagic) || text.size() < kMagic.size() + kHashLength) return std::nullopt;
    text.remove_prefix(kMagic.size());
    const std::string_view rest = text.substr(kHashLength);
    if (content_hash(rest) != text.substr(0, kHashLength)) return std::nullopt;
    const std::string head = std::to_string(key.size()) + "\n";
    if (!rest.starts_with(head) || rest.substr(head.size(), key.size()) != key) return std::nullopt;
    return std::string(rest.substr(head.size() + key.size()));
}

void touch(const fs::path& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

/// Makes the folder; says why it cannot be used.
std::string refused(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder.parent_path(), error);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return "the folder cannot be created";
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return "the path is not a folder";
    if (status.st_uid != ::geteuid() || (status.st_mode & 022) != 0) return "other users can write to the folder";
    return {};
}

}  // namespace

DiskCache::DiskCache(fs::path folder, std::size_t limit) : folder_(std::move(folder)), limit_(limit) {
    const std::string why = refused(folder_);
    if (why.empty()) return;
    log_warning(LogChannel::run, "not using the cache folder " + folder_.string() + ": " + why);
    folder_.clear();
}

fs::path DiskCache::entry(std::string_view key) const { return folder_ / (content_hash(key) + std::string(kEntry)); }

std::optional<std::string> DiskCache::get(std::string_view key) const {
    if (folder_.empty()) return std::nullopt;
    const fs::path path = entry(key);
    std::string text;
    try {
        text = read_file(path);
    } catch (const Error&) {  // there is no such entry, or another process has removed it
        return std::nullopt;
    }
    auto value = unpacked(text, key);
    std::error_code ignored;
    if (value)
        touch(path);
    else
        fs::remove(path, ignored);
    return value;
}

void DiskCache::put(std::string_view key, std::string_view value) {
    if (folder_.empty()) return;
    static std::atomic<unsigned> count = 0;
    const fs::path path = entry(key);
    // The process's number alone is not unique where several machines share a folder.
    const fs::path temporary = path.string() + "." + this_machine() + "-" + std::to_string(::getpid()) + "-" +
                               std::to_string(count++) + std::string(kTemporaryExtension);
    std::error_code error;
    {
        std::ofstream file(temporary, std::ios::binary);
        file << packed(key, value);
        if (!file.flush()) error = std::make_error_code(std::errc::io_error);
    }
    if (!error) fs::rename(temporary, path, error);
    if (error) {
        std::error_code ignored;
        fs::remove(temporary, ignored);
        log_debug(LogChannel::run, "cannot write to the cache folder " + folder_.string() + ": " + error.message());
        return;
    }
    const fs::path stamp = folder_ / kStamp;
    const auto last = fs::last_write_time(stamp, error);
    if (!error && fs::file_time_type::clock::now() - last < kBetweenTrims) return;
    std::ofstream(stamp, std::ios::app);
    touch(stamp);
    trim();
}

void DiskCache::trim() const {
    struct Entry {
        fs::file_time_type used;
        std::uintmax_t size;
        fs::path path;
    };
    std::vector<Entry> entries;
    std::uintmax_t total = 0;
    std::error_code error;  // others remove entries meanwhile
    for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
        std::error_code gone;
        Entry found{at->last_write_time(gone), at->file_size(gone), at->path()};
        if (gone) continue;
        const std::string extension = found.path.extension().string();
        if (extension == kTemporaryExtension && fs::file_time_type::clock::now() - found.used > kAbandoned)
            fs::remove(found.path, gone);
        if (extension != kEntry) continue;
        total += found.size;
        entries.push_back(std::move(found));
    }
    std::ranges::sort(entries, [](const Entry& a, const Entry& b) { return a.used < b.used; });
    for (const Entry& oldest : entries) {
        if (total <= limit_) return;
        total -= oldest.size;
        std::error_code gone;
        fs::remove(oldest.path, gone);
    }
}

std::vector<fs::path> DiskCache::files_in(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const std::string extension = at->path().extension().string();
        if (extension == kEntry || extension == kTemporaryExtension || at->path().filename() == kStamp)
            files.push_back(at->path());
    }
    return files;
}

std::unique_ptr<DiskCache> user_cache(std::string_view kind) {
    const fs::path folder = kept_folder(kind);
    return folder.empty() ? nullptr : std::make_unique<DiskCache>(folder);
}

}  // namespace whittle
