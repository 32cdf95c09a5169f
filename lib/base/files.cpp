#include "base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/hash.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path, const std::string& doing, int code) {
    throw Error({path.string(), {}}, "cannot " + doing + ": " + std::strerror(code));
}

struct stat regular_file_status(int fd, const fs::path& path) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) fail(path, "read", errno);
    if (S_ISDIR(status.st_mode)) throw Error({path.string(), {}}, "found a folder, expected a file");
    return status;
}

void write_all(int fd, std::span<const std::string_view> pieces, const fs::path& path) {
    for (std::string_view left : pieces)
        while (!left.empty()) {
            const ssize_t written = ::write(fd, left.data(), left.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail(path, "write", errno);
            left.remove_prefix(static_cast<std::size_t>(written));
        }
}

/// Into a device, a pipe or an open file such as /dev/stdout, none of which a rename may replace.
void write_through(const fs::path& path, std::span<const std::string_view> pieces) {
    // Opened again, a redirected stdout would have a position of its own and both would write over each other.
    if (path == "/dev/stdout" || path == "/dev/stderr") {
        std::fflush(nullptr);
        return write_all(path == "/dev/stdout" ? STDOUT_FILENO : STDERR_FILENO, pieces, path);
    }
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (file.get() < 0) fail(path, "write", errno);
    write_all(file.get(), pieces, path);
}

constexpr std::string_view kTemporary = ".tmp.";

/// NAME.tmp.MACHINE.PID.N, whose process is gone; before that form NAME.tmp.PID.N.
bool is_abandoned(std::string_view name) {
    const std::size_t at = name.rfind(kTemporary);
    if (at == std::string_view::npos || at == 0) return false;
    std::string rest(name.substr(at + kTemporary.size()));
    if (std::ranges::count(rest, '.') == 2) {
        if (!rest.starts_with(this_machine() + '.')) return false;
        rest.erase(0, this_machine().size() + 1);
    }
    const std::size_t dot = rest.find('.');
    const auto digits = [](std::string_view text) {
        return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (dot == std::string::npos || !digits(rest.substr(0, dot)) || !digits(rest.substr(dot + 1))) return false;
    const pid_t owner = std::atoi(rest.c_str());
    return owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH;
}

/// Removes what processes that were killed while they wrote `path` left beside it. A folder is looked through once.
void remove_leftovers(const fs::path& path) {
    static std::mutex mutex;
    static std::map<fs::path, std::vector<std::string>> found;
    const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const std::lock_guard lock(mutex);
    if (found.size() > 1000) found.clear();
    std::error_code ignored;
    const auto [known, first] = found.try_emplace(fs::absolute(folder, ignored).lexically_normal());
    if (first)
        for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
            if (std::string name = entry.path().filename().string(); is_abandoned(name))
                known->second.push_back(std::move(name));
    const std::string own = path.filename().string() + std::string(kTemporary);
    std::erase_if(known->second, [&](const std::string& name) {
        return name.starts_with(own) && (fs::remove(folder / name, ignored), true);
    });
}

/// A new file with the mode that a user expects; mkstemp's is 0600, and only the kernel can ask for the umask without
/// changing it under the other threads.
int create_beside(const fs::path& path, std::string& temporary) {
    static std::atomic<unsigned> number{0};
    for (;;) {
        temporary = path.string() + std::string(kTemporary) + this_machine() + '.' + std::to_string(::getpid()) + '.' +
                    std::to_string(number++);
        const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
}

/// What a TempDir of this process has in its name.
std::string own_mark() { return '.' + this_machine() + '-' + std::to_string(::getpid()) + '-'; }

/// What goes with us: nobody will look for it after a power cut.
bool is_in_temp_dir(const fs::path& path) { return path.parent_path().string().find(own_mark()) != std::string::npos; }

}  // namespace

std::string read_file(const fs::path& path, std::size_t limit) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) fail(path, "open", errno);
    regular_file_status(file.get(), path);
    std::string contents;
    std::vector<char> chunk(1 << 16);
    for (;;) {
        const ssize_t count = ::read(file.get(), chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail(path, "read", errno);
        if (count == 0) return contents;
        contents.append(chunk.data(), static_cast<std::size_t>(count));
        if (contents.size() > limit)
            throw Error({path.string(), {}},
                        "found more than " + std::to_string(limit) + " bytes, expected a file of at most this size");
    }
}

void write_file(const fs::path& path, std::string_view contents) { write_pieces(path, {&contents, 1}); }

void write_pieces(const fs::path& given, std::span<const std::string_view> pieces) {
    std::error_code ignored;
    const fs::path absolute = fs::absolute(given).lexically_normal();
    const bool kernels = absolute.string().starts_with("/dev/") || absolute.string().starts_with("/proc/");
    const fs::file_status status = fs::status(given, ignored);
    if (kernels || (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)))
        return write_through(given, pieces);
    // Through a symbolic link: the file behind it is replaced, not the link.
    const fs::path path = fs::is_symlink(fs::symlink_status(given, ignored)) ? fs::weakly_canonical(given) : given;
    std::error_code no_folder;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), no_folder);
    if (no_folder) fail(path, "write", no_folder.value());  // what open() says of it is that there is none
    remove_leftovers(path);
    std::string temporary;
    const int fd = create_beside(path, temporary);
    if (fd < 0) fail(path, "write", errno);
    try {
        const Descriptor file(fd);
        write_all(file.get(), pieces, path);
        if (!is_in_temp_dir(path) && ::fsync(file.get()) != 0 && errno != EINVAL) fail(path, "write", errno);
        if (::rename(temporary.c_str(), path.c_str()) != 0) fail(path, "write", errno);
    } catch (...) {
        ::unlink(temporary.c_str());
        throw;
    }
}

std::shared_ptr<const MappedFile> MappedFile::open(const fs::path& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) fail(path, "open", errno);
    const struct stat status = regular_file_status(file.get(), path);
    std::shared_ptr<MappedFile> mapped(new MappedFile);
    mapped->size_ = static_cast<std::size_t>(status.st_size);
    if (mapped->size_ == 0) return mapped;
    void* data = ::mmap(nullptr, mapped->size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (data == MAP_FAILED) fail(path, "map", errno);
    mapped->data_ = static_cast<const std::byte*>(data);
    return mapped;
}

std::string fingerprint(const fs::path& path) {
    constexpr off_t kMost = off_t(64) << 20;
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    if (status.st_size > kMost)
        return std::to_string(status.st_size) + " bytes of " + std::to_string(status.st_mtim.tv_sec) + "." +
               std::to_string(status.st_mtim.tv_nsec);
    try {
        return content_hash(MappedFile::open(path)->bytes());
    } catch (const Error&) {
        return {};
    }
}

MappedFile::~MappedFile() {
    if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

namespace {

/// True once for each name.
bool first_of(const fs::path& name) {
    static std::mutex mutex;
    static std::set<fs::path> seen;
    const std::lock_guard lock(mutex);
    return seen.insert(name).second;
}

std::string first_line(const char* file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

/// The process that a folder PREFIX.MACHINE-PID-… of this machine belongs to; 0: it is no such folder.
pid_t owner_of(const std::string& name, const std::string& prefix) {
    const std::string ours = prefix + '.' + this_machine() + '-';
    return name.starts_with(ours) ? static_cast<pid_t>(std::atoi(name.c_str() + ours.size())) : 0;
}

/// Whether nobody holds it. Where the file system has no locks nobody can say so, and its owner's end decides alone.
bool unlocked(int folder) { return ::flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

/// Removes the folders in `base` of processes on this machine that are gone.
void remove_abandoned(const fs::path& base, const std::string& prefix) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(base, ignored)) {
        const pid_t owner = owner_of(entry.path().filename().string(), prefix);
        if (owner <= 0 || ::kill(owner, 0) == 0 || errno != ESRCH) continue;
        const Descriptor folder(::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        struct stat status {};
        if (folder.get() < 0 || ::fstat(folder.get(), &status) != 0 || status.st_uid != ::geteuid()) continue;
        // A copy of the process that is gone may still be at work in it.
        if (unlocked(folder.get())) fs::remove_all(entry.path(), ignored);
    }
}

}  // namespace

std::string host_name() {
    char host[256] = "";
    return ::gethostname(host, sizeof host - 1) == 0 ? host : "";
}

void link_or_copy(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::create_hard_link(from, to, error);
    if (error) error.clear(), fs::copy_file(from, to, error);
    if (error) throw Error({to.string(), {}}, "cannot be written: " + error.message());
}

std::string this_machine() {
    static const std::string machine = [] {
        std::error_code ignored;
        const fs::path processes = fs::read_symlink("/proc/self/ns/pid", ignored);
        return content_hash(host_name() + '\n' + first_line("/proc/sys/kernel/random/boot_id") + '\n' +
                            processes.string())
            .substr(0, 8);
    }();
    return machine;
}

TempDir::TempDir(std::string_view prefix) {
    const char* variable = std::getenv("TMPDIR");
    const fs::path base(variable && *variable ? variable : "/tmp");
    if (prefix.starts_with("whittle-") && first_of(fs::absolute(base) / prefix))
        remove_abandoned(base, std::string(prefix));
    std::string name = (base / (std::string(prefix) + own_mark() + "XXXXXX")).string();
    if (!::mkdtemp(name.data())) fail(name, "create a temporary folder", errno);
    path_ = name;
    lock_ = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Without a lock our being alive protects it, though not a copy of us that outlives us.
    if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
        ::close(lock_);
        lock_ = -1;
    }
}

TempDir::~TempDir() {
    std::error_code ignored;
    if (!keep_) fs::remove_all(path_, ignored);
    if (lock_ >= 0) ::close(lock_);
}

}  // namespace whittle
