#include "frontends/halide/capture/lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>

#include "frontends/halide/capture/variables.h"
#include "frontends/libtorch/capture/stub_settings.h"

namespace whittle::halide_capture {

void write_line(const std::string& json) {
    static const char* const prefix = libtorch::setting(kLogVariable);
    if (!prefix) return;
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    static int file = -1;
    static pid_t owner = 0;
    if (owner != ::getpid()) {  // the first line, or a copy of the process
        owner = ::getpid();
        file =
            ::open((prefix + ("." + std::to_string(owner))).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    const std::string line = json + "\n";
    if (file >= 0 && ::write(file, line.data(), line.size()) < 0) file = -1;
}

std::string quote(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            quoted += std::string("\\") + c;
        else if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", c);
            quoted += code;
        } else
            quoted += c;
    }
    return quoted + "\"";
}

void write_event(const std::string& what, int of, int needs, const std::string& text) {
    write_line("{\"event\": " + quote(what) + ", \"of\": " + std::to_string(of) +
               ", \"needs\": " + std::to_string(needs) + ", \"text\": " + quote(text) + "}");
}

}  // namespace whittle::halide_capture
