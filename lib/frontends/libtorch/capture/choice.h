// Which LibTorch a program has, and which capture library is for it. Shared by the stub, which links no libstdc++, and
// the programs.
#pragma once

#include <string.h>

namespace whittle::libtorch {

/// What has to be the same for code that was compiled against LibTorch's headers to run with it. Texts without blanks.
struct TorchFacts {
    char build_id[80];  ///< of libtorch_cpu, in hexadecimal digits; "-" where it has none
    char version[64];   ///< as it says of itself, "1.13.0"; "unknown" where it does not
    char abi[8];        ///< of libstdc++'s strings: "1" that of C++11, "0" the one before; "?" unknown
    char soname[256];   ///< of libtorch_cpu: what loads that name gets this file, what loads another one a second file
};

/// The list of capture libraries that the programs give the stub: a line each,
///   BUILD_ID VERSION ABI SONAME PATH
/// of the LibTorch that it was built against. What the library says of itself is that line without the path, after the
/// interface that it was built for: see version.cpp.
inline constexpr char kListSuffix[] = ".libraries";  ///< after the name of the event files

/// "1.13.0" and "1.13.1+cpu", but not "1.1.0": classes have the same layout in both.
inline bool is_same_release(const char* one, size_t one_size, const char* other) {
    const char* const dot = strchr(other, '.');
    const char* const end = dot ? strchr(dot + 1, '.') : nullptr;
    if (!end) return false;
    const auto size = static_cast<size_t>(end + 1 - other);
    return one_size >= size && strncmp(one, other, size) == 0;
}

/// The section of a capture library that says what it was built for.
inline constexpr char kBuiltForSection[] = "whittle_built_for";

struct Choice {
    const char* path;  ///< in the list, up to the end of its line; null where none fits
    size_t size;
};

/// The capture library for the LibTorch, of its release and ABI: rather the one that was built against this very file.
/// It must have its soname: the library would load the other one beside it.
inline Choice choose(const char* list, const TorchFacts& torch) {
    Choice chosen{nullptr, 0};
    for (const char* line = list; *line;) {
        const size_t length = strcspn(line, "\n");
        const char* words[5];
        size_t sizes[5], count = 0;
        for (const char* at = line; count < 5; at += sizes[count++] + 1) {
            words[count] = at;
            // The last one is the rest: paths have blanks.
            sizes[count] = count < 4 ? strcspn(at, " \n") : static_cast<size_t>(line + length - at);
            if (count < 4 && at[sizes[count]] != ' ') break;
        }
        line += length + (line[length] == '\n');
        if (count < 5 || sizes[4] == 0) continue;
        const auto is = [&](size_t word, const char* text) {
            return strlen(text) == sizes[word] && strncmp(words[word], text, sizes[word]) == 0;
        };
        if (!is(3, torch.soname)) continue;
        // The library's headers may have been another release's, whatever file it was linked with.
        const bool same = is(2, torch.abi) && is_same_release(words[1], sizes[1], torch.version);
        if (!same) continue;
        if (is(0, torch.build_id) && strcmp(torch.build_id, "-") != 0) return {words[4], sizes[4]};
        if (!chosen.path) chosen = {words[4], sizes[4]};
    }
    return chosen;
}

}  // namespace whittle::libtorch
