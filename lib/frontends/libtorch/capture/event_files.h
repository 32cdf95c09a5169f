// Names of event files, for the stub and the recorder: neither memory nor the C++ library is needed.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "frontends/libtorch/events.h"

namespace whittle::libtorch {

/// Makes the file of a process that comes to a capture, and writes its path. False where there are too many, which is
/// counted, or none can be made.
inline bool take_event_file(const char* base, char* path, size_t size) {
    for (int i = 0; i < kMostProcesses; ++i) {
        const int length = i ? snprintf(path, size, "%s.%d", base, i) : snprintf(path, size, "%s", base);
        if (length < 0 || static_cast<size_t>(length) >= size) return false;
        const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 && errno != EEXIST) return false;
        if (file < 0) continue;
        close(file);
        return true;
    }
    return false;
}

/// A process of which nothing is recorded.
inline void count_other_process(const char* base, OtherProcess why) {
    char path[4096 + 16];
    if (snprintf(path, sizeof path, "%s.others", base) >= static_cast<int>(sizeof path)) return;
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    const char what = why;
    [[maybe_unused]] const ssize_t told = write(file, &what, 1);  // a full disk: not even that is told
    close(file);
}

}  // namespace whittle::libtorch
