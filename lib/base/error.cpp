#include "base/error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace whittle {

Error::Error(Location where, std::string message, std::string hint)
    : where_(std::move(where)), message_(std::move(message)), hint_(std::move(hint)) {
    compose();
}

void Error::compose() {
    text_.clear();
    if (!where_.file.empty()) text_ += where_.file + ": ";
    if (!where_.position.empty()) text_ += where_.position + ": ";
    text_ += message_;
    if (!hint_.empty()) text_ += "; hint: " + hint_;
}

void Error::locate(Location where) {
    where_ = std::move(where);
    compose();
}

void throw_errno(const char* doing) { throw Error(std::string("cannot ") + doing + ": " + std::strerror(errno)); }

namespace {
thread_local int thrown = 0;  ///< scopes in which bugs are
}

BugsAreThrown::BugsAreThrown() { ++thrown; }
BugsAreThrown::~BugsAreThrown() { --thrown; }

void report_bug(const char* condition, const char* file, int line, const std::string& message) {
    if (thrown > 0)
        throw InternalError("internal error at " + std::string(file) + ":" + std::to_string(line) + ": " + message +
                            " (" + condition + ")");
    std::fprintf(stderr,
                 "whittle: internal error at %s:%d: %s (%s)\n"
                 "This is a bug in Whittle, not in your program. Please report the bug together with the command that "
                 "caused the error.\n",
                 file, line, message.c_str(), condition);
    std::abort();
}

}  // namespace whittle
