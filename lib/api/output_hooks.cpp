// Output of the program inside a compiled function is a side effect between its operations: a graph break. These are
// the C and C++ libraries' output functions, defined here so that a program's calls come by; each passes on to the one
// it stands for. Weak, so that a statically linked C library's own win (then output is no break). Outside of a compiled
// function they cost a test of a thread's variable.
#define WHITTLE_API_IMPLEMENTATION
#include "api/output_hooks.h"

#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <iostream>
#include <string>

#include "api/session.h"
#include "base/log.h"

namespace whittle::api {

void link_output_hooks() {}

namespace {

/// The next definition of a symbol, behind ours.
template <class F>
F next(const char* symbol) {
    return reinterpret_cast<F>(dlsym(RTLD_NEXT, symbol));
}

std::string shortened(std::string text) {
    for (char& c : text)
        if (c == '\n' || c == '\t') c = ' ';
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text.size() > 40 ? text.substr(0, 37) + "..." : text;
}

/// Who records, and is to know what the program writes.
Session* watching() { return writing_log() ? nullptr : Session::current(); }

void effect(const char* function, const std::string& text, void* pc) {
    Session* const session = watching();
    if (!session || session->defers_output() || (session->empty() && !session->in_body() && !session->waits_to_print()))
        return;
    session->break_graph({.kind = capture::BreakKind::side_effect,
                          .reason = std::string("print: ") + function + " \"" + shortened(text) + "\""},
                         pc);
}

/// .defer_output: true where the text waits for what waits to be printed before it, and is not to be printed now.
bool waits(std::FILE* file, const std::string& text) {
    Session* const session = watching();
    if (!session || !session->defers_output() || (file != stdout && file != stderr)) return false;
    return session->defer(file, text);
}

std::string formatted(const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    const int size = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    std::string text(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
    if (size > 0) std::vsnprintf(text.data(), text.size() + 1, format, arguments);
    return text;
}

}  // namespace

}  // namespace whittle::api

using whittle::api::Session;

// Under names of our own in C++, so that no inline definition of the headers disagrees with these.
#define HOOK(result, name, parameters)                                                                    \
    extern "C" __attribute__((weak, visibility("default"))) result hook_##name parameters __asm__(#name); \
    result hook_##name parameters
#define PC __builtin_return_address(0)

// One that writes `text` to `file`: where that waits it returns `done`, and a break shows `shown`.
#define WRITE_HOOK(result, name, parameters, types, arguments, file, text, shown, done) \
    HOOK(result, name, parameters) {                                                    \
        if (Session::current()) {                                                       \
            const std::string written = text;                                           \
            if (whittle::api::waits(file, written)) return done;                        \
            whittle::api::effect(#name, shown, PC);                                     \
        }                                                                               \
        static const auto real = whittle::api::next<result(*) types>(#name);            \
        return real arguments;                                                          \
    }
WRITE_HOOK(int, puts, (const char* text), (const char*), (text), stdout, std::string(text) + "\n", written, 1)
WRITE_HOOK(int, putchar, (int c), (int), (c), stdout, std::string(1, static_cast<char>(c)), written,
           static_cast<unsigned char>(c))
WRITE_HOOK(int, putc, (int c, std::FILE* file), (int, std::FILE*), (c, file), file,
           std::string(1, static_cast<char>(c)), written, static_cast<unsigned char>(c))
WRITE_HOOK(int, fputc, (int c, std::FILE* file), (int, std::FILE*), (c, file), file,
           std::string(1, static_cast<char>(c)), written, static_cast<unsigned char>(c))
WRITE_HOOK(int, fputs, (const char* text, std::FILE* file), (const char*, std::FILE*), (text, file), file,
           std::string(text), written, 1)
WRITE_HOOK(std::size_t, fwrite, (const void* data, std::size_t size, std::size_t count, std::FILE* file),
           (const void*, std::size_t, std::size_t, std::FILE*), (data, size, count, file), file,
           std::string(static_cast<const char*>(data), size* count), "", count)

namespace {

int print_to(std::FILE* file, const char* format, va_list arguments) {
    if (const Session* session = Session::current(); session && session->defers_output()) {
        va_list again;
        va_copy(again, arguments);
        const std::string text = whittle::api::formatted(format, again);
        va_end(again);
        const auto size = static_cast<int>(text.size());
        if (whittle::api::waits(file, text)) return size;
    }
    static const auto real = whittle::api::next<int (*)(std::FILE*, const char*, va_list)>("vfprintf");
    return real(file, format, arguments);
}

}  // namespace

// The last two are what the headers make of the first two under _FORTIFY_SOURCE.
#define PRINT_HOOK(name, shown, file, parameters)                        \
    HOOK(int, name, parameters) {                                        \
        if (Session::current()) whittle::api::effect(shown, format, PC); \
        va_list arguments;                                               \
        va_start(arguments, format);                                     \
        const int result = print_to(file, format, arguments);            \
        va_end(arguments);                                               \
        return result;                                                   \
    }
PRINT_HOOK(printf, "printf", stdout, (const char* format, ...))
PRINT_HOOK(fprintf, "fprintf", file, (std::FILE * file, const char* format, ...))
PRINT_HOOK(__printf_chk, "printf", stdout, (int, const char* format, ...))
PRINT_HOOK(__fprintf_chk, "fprintf", file, (std::FILE * file, int, const char* format, ...))

// std::ostream, by the linker's names of the functions that its operators end in. Streams to memory are no output, but
// which stream it is cannot be told here without its type: std::cout, std::cerr and std::clog are compared.
namespace whittle::api {
namespace {

void stream_effect(const std::ostream& out, const char* text, long size, void* pc) {
    const char* const stream = &out == &std::cout   ? "std::cout <<"
                               : &out == &std::cerr ? "std::cerr <<"
                               : &out == &std::clog ? "std::clog <<"
                                                    : nullptr;
    if (stream) effect(stream, std::string(text, static_cast<std::size_t>(size)), pc);
}

}  // namespace
}  // namespace whittle::api

#define STREAM_HOOK(result, name, parameters) \
    extern "C" __attribute__((weak, visibility("default"))) result name parameters

STREAM_HOOK(std::ostream*, _ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l,
            (std::ostream * out, const char* text, long size)) {
    if (Session::current()) whittle::api::stream_effect(*out, text, size, PC);
    static const auto real = whittle::api::next<std::ostream* (*)(std::ostream*, const char*, long)>(
        "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l");
    return real(out, text, size);
}
