// Where CPython keeps what is read of its frames. From 3.13 on, it publishes most of these offsets for debuggers; for
// older releases they are listed here. start() compares what they yield with what the public functions return.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "frontends/libtorch/capture/python_api.h"

namespace whittle::libtorch::python {

const Layout* layout = nullptr;

namespace {

/// Up to 3.12, by CPython's own struct definitions (Include/cpython, Include/internal) on 64-bit machines.
constexpr Layout kUnpublished[] = {{.minor = 9,
                                    .top = 24,
                                    .cframe = -1,
                                    .code = 32,
                                    .back = 24,
                                    .instruction = 104,
                                    .local = 360,
                                    .owner = -1,
                                    .entry = -1,
                                    .file = 104,
                                    .name = 112,
                                    .lines = 120,
                                    .bytes = -1,
                                    .scale = 1,
                                    .flags = 36,
                                    .variables = 72,
                                    .ascii = 48,
                                    .compact = 72},
                                   {.minor = 10,
                                    .top = 24,
                                    .cframe = -1,
                                    .code = 32,
                                    .back = 24,
                                    .instruction = 96,
                                    .local = 352,
                                    .owner = -1,
                                    .entry = -1,
                                    .file = 104,
                                    .name = 112,
                                    .lines = 120,
                                    .bytes = -1,
                                    .scale = 2,
                                    .flags = 36,
                                    .variables = 72,
                                    .ascii = 48,
                                    .compact = 72},
                                   {.minor = 11,
                                    .top = 56,
                                    .cframe = 8,
                                    .code = 32,
                                    .back = 48,
                                    .instruction = 56,
                                    .local = 72,
                                    .owner = -1,
                                    .entry = 68,
                                    .file = 112,
                                    .name = 128,
                                    .lines = 136,
                                    .bytes = 184,
                                    .scale = 1,
                                    .flags = 48,
                                    .variables = 96,
                                    .ascii = 48,
                                    .compact = 72,
                                    .globals = 8,
                                    .names = 24,
                                    .depth = 64,
                                    .version = 24},
                                   {.minor = 12,
                                    .top = 56,
                                    .cframe = 0,
                                    .code = 0,
                                    .back = 8,
                                    .instruction = 56,
                                    .local = 72,
                                    .owner = 70,
                                    .entry = -1,
                                    .file = 112,
                                    .name = 128,
                                    .lines = 136,
                                    .bytes = 192,
                                    .scale = 1,
                                    .flags = 48,
                                    .variables = 96,
                                    .ascii = 40,
                                    .compact = 56,
                                    .globals = 24,
                                    .names = 40,
                                    .depth = 64,
                                    .version = 24}};

/// Where the parts of _Py_DebugOffsets begin, in words of 64 bits: releases add members at the ends of parts.
struct Published {
    int minor;
    int thread, frame, code, tuple, text;
    bool has_stack_pointer;  ///< a frame's, among the published offsets; before, a frame has an index
    bool tagged;
};
constexpr Published kPublished[] = {{.minor = 13,
                                     .thread = 19,
                                     .frame = 28,
                                     .code = 34,
                                     .tuple = 50,
                                     .text = 67,
                                     .has_stack_pointer = false,
                                     .tagged = false},
                                    {.minor = 14,
                                     .thread = 22,
                                     .frame = 31,
                                     .code = 39,
                                     .tuple = 56,
                                     .text = 77,
                                     .has_stack_pointer = true,
                                     .tagged = true}};

/// False for a build without the GIL, which lays its objects out differently, and where nothing is published.
bool read_published(const Published& parts, Layout& made) {
    constexpr int kVersion = 1, kFreeThreaded = 2;
    const auto* const words = static_cast<const std::uint64_t*>(::dlsym(RTLD_DEFAULT, "_PyRuntime"));
    if (!words || std::memcmp(words, "xdebugpy", sizeof *words) != 0 || words[kFreeThreaded] != 0 ||
        static_cast<int>(words[kVersion] >> 16 & 0xff) != parts.minor)
        return false;
    const auto word = [&](int part, int member) { return static_cast<int>(words[part + member]); };
    const int ascii = word(parts.text, 3);
    made = {.minor = parts.minor,
            .top = word(parts.thread, 4),
            .cframe = -1,
            .code = word(parts.frame, 2),
            .back = word(parts.frame, 1),
            .instruction = word(parts.frame, 3),
            .local = word(parts.frame, 4),
            .owner = word(parts.frame, 5),
            .entry = -1,
            .file = word(parts.code, 1),
            .name = word(parts.code, 3),
            .lines = word(parts.code, 4),
            .bytes = word(parts.code, 9),
            .scale = 1,
            .flags = 48,  // not published: see layout_holds()
            .variables = word(parts.code, 7),
            .ascii = ascii,
            .compact = ascii + 2 * static_cast<int>(sizeof(void*)),
            .globals = 24,  // nor is this: see locals_hold()
            .names = 40};
    if (parts.has_stack_pointer)
        made.stack_pointer = word(parts.frame, 6);
    else
        made.depth = 64;  // nor is this
    made.items = word(parts.tuple, 1);
    made.tagged = parts.tagged;
    return true;
}

}  // namespace

bool find_layout(const std::string& version) {
    static Layout found;
    const auto is = [&](const auto& one) { return version.rfind("3." + std::to_string(one.minor) + ".", 0) == 0; };
    if (const auto* row = std::find_if(std::begin(kUnpublished), std::end(kUnpublished), is);
        row != std::end(kUnpublished)) {
        found = *row;
    } else {
        const auto* parts = std::find_if(std::begin(kPublished), std::end(kPublished), is);
        if (parts == std::end(kPublished) || !read_published(*parts, found)) return false;
    }
    layout = &found;
    return true;
}

}  // namespace whittle::libtorch::python
