#include "repro/steps.h"

#include "base/pattern.h"

namespace whittle::repro {
namespace {

struct Header {
    const char* name;
    const char* names;  ///< a regular expression of what it declares and programs of ours use
};

constexpr Header kSystemHeaders[] = {
    {"dlfcn.h", R"(\bdlopen\()"},
    {"signal.h", R"(\bSIG[A-Z]+\b)"},
    {"sys/mman.h", R"(\bmmap\()"},
    {"sys/prctl.h", R"(\bprctl\()"},
    {"sys/resource.h", R"(\bsetrlimit\()"},
    {"sys/wait.h", R"(\bwaitpid\()"},
    {"unistd.h", R"(\b(_exit|access|alarm|execvp|fork|sysconf)\()"},
};

constexpr Header kStandardHeaders[] = {
    {"algorithm", R"(\bstd::(fill|max|min)\b)"},
    {"cctype", R"(\bstd::(isalnum|isdigit|isspace|tolower)\()"},
    {"cerrno", R"(\berrno\b)"},
    {"cmath", R"(\bstd::fabs\()"},  // every program compares
    {"complex", R"(\bstd::complex\b)"},
    {"cstdint", R"(\bu?int(8|16|32|64)_t\b|\bINT(8|16|32|64)_M)"},
    {"cstdio", R"(\bstd::(f?printf|snprintf|perror|fopen|freopen|fread|fflush|FILE)\b)"},
    {"cstdlib", R"(\bstd::(abort|exit|free|getenv|malloc|strto[a-z]+)\(|\bmkdtemp\()"},
    {"cstring", R"(\bstd::(mem|str)(cmp|cpy|error|ncmp|set)\(|\b(strsignal|sigabbrev_np)\()"},
    {"exception", R"(\bstd::exception\b)"},
    {"filesystem", R"(\bstd::filesystem\b)"},
    {"fstream", R"(\bstd::[io]fstream\b)"},
    {"limits", R"(\bstd::numeric_limits\b)"},
    {"memory", R"(\bstd::unique_ptr\b)"},
    {"new", R"(\bstd::bad_alloc\b)"},
    {"stdexcept", R"(\bstd::runtime_error\b)"},
    {"string", R"(\bstd::(string|to_string)\b)"},
    {"system_error", R"(\bstd::error_code\b)"},
    {"type_traits", R"(\bstd::is_[a-z]+<)"},
    {"vector", R"(\bstd::vector\b)"},
};

template <std::size_t N>
std::string includes_among(const Header (&headers)[N], const std::string& code) {
    std::string text;
    for (const Header& header : headers)
        if (Pattern(header.names).found_in(code)) text += "#include <" + std::string(header.name) + ">\n";
    return text;
}

}  // namespace

std::string includes_of(const std::string& code) {
    const std::string system = includes_among(kSystemHeaders, code);
    return system + (system.empty() ? "" : "\n") + includes_among(kStandardHeaders, code);
}

}  // namespace whittle::repro
