// libwhittle_halide_capture.so, preloaded into the program. It has the names of Halide's scheduling directives and of
// the functions that compile and run pipelines, and links nothing, so that a program without Halide hardly notices it.
// The first call of such a function loads the recorder, which was compiled against the program's version of Halide, and
// goes to the recorder's function of this name from then on; where there is no recorder, to Halide's own.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "frontends/halide/capture/variables.h"
#include "frontends/libtorch/capture/stub_settings.h"

namespace {

#define WHITTLE_DIRECTIVE(symbol, ...) #symbol,
#define WHITTLE_ENTRY WHITTLE_DIRECTIVE
const char* const names[] = {
#include WHITTLE_INTERPOSERS
};
#undef WHITTLE_DIRECTIVE
constexpr size_t kCount = sizeof names / sizeof *names;

using Function = void*;
Function (*recorded)(const char* symbol);  ///< of the recorder
void* halide;                              ///< the program's Halide

/// The Halide that is loaded, also where only a module of Python has loaded it for itself.
int find_halide(dl_phdr_info* info, size_t, void* path) {
    const char* const file = info->dlpi_name ? strrchr(info->dlpi_name, '/') : nullptr;
    if (!file || strncmp(file, "/libHalide", 10) != 0) return 0;
    *static_cast<const char**>(path) = info->dlpi_name;
    return 1;
}

/// A line for the program that started us, in the form of the recorder's.
void tell(const char* what, const char* more) {
    const char* const prefix = whittle::libtorch::setting(whittle::halide_capture::kLogVariable);
    char path[4096], line[8192];
    if (!prefix || snprintf(path, sizeof path, "%s.%d", prefix, getpid()) >= static_cast<int>(sizeof path)) return;
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const int size = snprintf(line, sizeof line, "{\"event\": \"%s\", \"text\": \"%s\"}\n", what, more);
    if (file < 0 || write(file, line, static_cast<size_t>(size)) != size) return;
    close(file);
}

void load() {
    const char* path = nullptr;
    dl_iterate_phdr(find_halide, &path);
    if (path) halide = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    const char* const recorder = whittle::libtorch::setting(whittle::halide_capture::kRecorderVariable);
    if (!halide || !recorder) return;
    const char* const file = strrchr(path, '/') + 1;
    if (strncmp(file, WHITTLE_HALIDE_SONAME, strlen(WHITTLE_HALIDE_SONAME)) != 0) return tell("other-halide", path);
    void* const library = dlopen(recorder, RTLD_NOW | RTLD_LOCAL);
    if (library) recorded = reinterpret_cast<Function (*)(const char*)>(dlsym(library, "whittle_halide_function"));
    if (!recorded) tell("not-loaded", recorder);
}

}  // namespace

// Slots of the functions below. At first each leads to whittle_halide_first, which asks for the function and remembers
// it. Written in assembly, since the arguments have to arrive as they were passed, whatever they are.
extern "C" {
__attribute__((visibility("hidden"))) extern Function whittle_halide_slots[];

__attribute__((visibility("hidden"), used)) Function whittle_halide_resolve(size_t number) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    Function function = recorded ? recorded(names[number]) : nullptr;
    if (!function) function = dlsym(halide ? halide : RTLD_NEXT, names[number]);
    if (!function) {
        fprintf(stderr,
                "whittle: error: %s: the program calls this function, but the program's Halide lacks this function\n",
                names[number]);
        _exit(127);
    }
    whittle_halide_slots[number] = function;
    return function;
}
}

// clang-format off
asm(R"(
        .text
        .p2align 4
        .hidden whittle_halide_first
        .type whittle_halide_first, @function
whittle_halide_first:
        endbr64
        pushq %rax
        pushq %rdi
        pushq %rsi
        pushq %rdx
        pushq %rcx
        pushq %r8
        pushq %r9
        subq $136, %rsp
        movups %xmm0, (%rsp)
        movups %xmm1, 16(%rsp)
        movups %xmm2, 32(%rsp)
        movups %xmm3, 48(%rsp)
        movups %xmm4, 64(%rsp)
        movups %xmm5, 80(%rsp)
        movups %xmm6, 96(%rsp)
        movups %xmm7, 112(%rsp)
        movq 192(%rsp), %rdi
        call whittle_halide_resolve
        movq %rax, %r11
        movups (%rsp), %xmm0
        movups 16(%rsp), %xmm1
        movups 32(%rsp), %xmm2
        movups 48(%rsp), %xmm3
        movups 64(%rsp), %xmm4
        movups 80(%rsp), %xmm5
        movups 96(%rsp), %xmm6
        movups 112(%rsp), %xmm7
        addq $136, %rsp
        popq %r9
        popq %r8
        popq %rcx
        popq %rdx
        popq %rsi
        popq %rdi
        popq %rax
        addq $8, %rsp
        jmp *%r11
        .data
        .p2align 3
        .hidden whittle_halide_slots
whittle_halide_slots:
        .text
)");
// 16 bytes apart: Python's module calls through pointers to members, where an odd address would mean a virtual function.
#define WHITTLE_SLOT_OF(symbol, number)                                                       \
    asm(".text\n.p2align 4\n.globl " symbol "\n.type " symbol ", @function\n" symbol ":\n"    \
        "endbr64\njmp *whittle_halide_slots+8*" number "(%rip)\n.size " symbol ", .-" symbol  \
        "\n1: endbr64\npushq $" number "\njmp whittle_halide_first\n.data\n.quad 1b\n.text\n");
#define WHITTLE_TEXT(x) #x
#define WHITTLE_SLOT_TEXT(symbol, number) WHITTLE_SLOT_OF(symbol, WHITTLE_TEXT(number))
#define WHITTLE_SLOT(symbol, number) WHITTLE_SLOT_TEXT(symbol, number)
#define WHITTLE_DIRECTIVE(symbol, ...) WHITTLE_SLOT(#symbol, __COUNTER__)
#include WHITTLE_INTERPOSERS
// clang-format on
static_assert(__COUNTER__ == kCount, "the slots are numbered from 0");
