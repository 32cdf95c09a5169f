// A file in memory that a copy of this process writes and we read: an answer of any size, which is only looked at when
// the copy is gone.
#pragma once

#include <string>
#include <string_view>

namespace whittle {

class MemoryFile {
  public:
    /// Throws Error when there can be none.
    MemoryFile();
    ~MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    int descriptor() const { return fd_; }
    /// Appends all of it. False when it does not fit.
    bool write(std::string_view bytes) const;
    /// f(its bytes), where it has any. Throws Error.
    template <class F>
    void read(F&& f) const {
        const Mapping mapping(fd_);
        if (!mapping.bytes.empty()) f(mapping.bytes);
    }

  private:
    struct Mapping {
        explicit Mapping(int fd);
        ~Mapping();
        Mapping(const Mapping&) = delete;
        Mapping& operator=(const Mapping&) = delete;
        std::string_view bytes;
    };
    int fd_;
};

}  // namespace whittle
