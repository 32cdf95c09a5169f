#include "base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "base/error.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path, const std::string& doing, int code) {
    throw Error({path.string(), {}}, "cannot " + doing + ": " + std::strerror(code));
}

/// A file descriptor that closes itself.
class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

struct stat regular_file_status(int fd, const fs::path& path) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) fail(path, "read", errno);
    if (S_ISDIR(status.st_mode)) throw Error({path.string(), {}}, "found a folder, expected a file");
    return status;
}

void write_all(int fd, std::string_view contents, const fs::path& path) {
    while (!contents.empty()) {
        const ssize_t written = ::write(fd, contents.data(), contents.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(path, "write", errno);
        contents.remove_prefix(static_cast<std::size_t>(written));
    }
}

/// Into a device, a pipe or an open file such as /dev/stdout, none of which a rename may replace.
void write_through(const fs::path& path, std::string_view contents) {
    // Opened again, a redirected stdout would have a position of its own and both would write over each other.
    if (path == "/dev/stdout" || path == "/dev/stderr") {
        std::fflush(nullptr);
        return write_all(path == "/dev/stdout" ? STDOUT_FILENO : STDERR_FILENO, contents, path);
    }
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (file.get() < 0) fail(path, "write", errno);
    write_all(file.get(), contents, path);
}

/// A new file with the mode that a user expects; mkstemp's is 0600, and only the kernel can ask for the umask without
/// changing it under the other threads.
int create_beside(const fs::path& path, std::string& temporary) {
    static std::atomic<unsigned> number{0};
    for (;;) {
        temporary = path.string() + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(number++);
        const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
}

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
                        "found more than " + std::to_string(limit) + " bytes, expected a file below that limit");
    }
}

void write_file(const fs::path& given, std::string_view contents) {
    std::error_code ignored;
    const fs::path absolute = fs::absolute(given).lexically_normal();
    const bool kernels = absolute.string().starts_with("/dev/") || absolute.string().starts_with("/proc/");
    const fs::file_status status = fs::status(given, ignored);
    if (kernels || (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)))
        return write_through(given, contents);
    // Through a symbolic link: the file behind it is replaced, not the link.
    const fs::path path = fs::is_symlink(fs::symlink_status(given, ignored)) ? fs::weakly_canonical(given) : given;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), ignored);
    std::string temporary;
    const int fd = create_beside(path, temporary);
    if (fd < 0) fail(path, "write", errno);
    try {
        const Descriptor file(fd);
        write_all(file.get(), contents, path);
        if (::fsync(file.get()) != 0 && errno != EINVAL) fail(path, "write", errno);
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

/// The name of a folder that is not locked yet begins with a dot and says whose it is: .PREFIX.PID.…
std::string unlocked_name(const std::string& prefix, pid_t owner) {
    return '.' + prefix + '.' + std::to_string(owner) + '.';
}

/// True for .PREFIX.PID.… whose process is gone.
bool never_locked(const std::string& name, const std::string& prefix) {
    if (!name.starts_with('.' + prefix + '.')) return false;
    const pid_t owner = std::atoi(name.c_str() + prefix.size() + 2);
    return owner > 0 && name.starts_with(unlocked_name(prefix, owner)) && ::kill(owner, 0) != 0 && errno == ESRCH;
}

/// Removes the folders PREFIX.… in `base` that nobody holds locked, and those that their makers did not live to lock.
void remove_abandoned(const fs::path& base, const std::string& prefix) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(base, ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(prefix + '.') && !never_locked(name, prefix)) continue;
        const Descriptor folder(::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        struct stat status {};
        if (folder.get() < 0 || ::fstat(folder.get(), &status) != 0 || status.st_uid != ::geteuid()) continue;
        if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), ignored);
    }
}

}  // namespace

TempDir::TempDir(std::string_view prefix) {
    const char* variable = std::getenv("TMPDIR");
    const fs::path base(variable && *variable ? variable : "/tmp");
    if (prefix.starts_with("whittle-") && first_of(fs::absolute(base) / prefix))
        remove_abandoned(base, std::string(prefix));
    // It gets its name when it is locked: until then nobody takes it for abandoned.
    const std::string unlocked = unlocked_name(std::string(prefix), ::getpid());
    std::string name = (base / (unlocked + "XXXXXX")).string();
    if (!::mkdtemp(name.data())) fail(name, "create a temporary folder", errno);
    path_ = base / (std::string(prefix) + '.' + fs::path(name).filename().string().substr(unlocked.size()));
    lock_ = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ >= 0) ::flock(lock_, LOCK_EX | LOCK_NB);
    if (::rename(name.c_str(), path_.c_str()) == 0) return;
    const int code = errno;
    ::rmdir(name.c_str());
    if (lock_ >= 0) ::close(lock_);
    fail(path_, "create a temporary folder", code);
}

TempDir::~TempDir() {
    std::error_code ignored;
    if (!keep_) fs::remove_all(path_, ignored);
    if (lock_ >= 0) ::close(lock_);
}

}  // namespace whittle
