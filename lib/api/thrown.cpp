#define WHITTLE_API_IMPLEMENTATION
#include "api/thrown.h"

#include <dlfcn.h>

#include <cstring>
#include <exception>
#include <typeinfo>

#include "api/probes.h"
#include "api/session.h"
#include "api/stack.h"

namespace whittle::api {
namespace {

/// The last exception of a thread that was thrown while it recorded.
struct LastThrown {
    const void* object = nullptr;
    Thrown thrown = {};
};
LastThrown& last_thrown() {
    thread_local LastThrown instance;
    return instance;
}

/// 0: the program's own code runs, 1: capture's, 2: and whole stacks are wanted.
thread_local int capture_work = 0;

void note_throw(const void* object, void* pc) {
    const bool whole = capture_work > 1;
    Session* const session = Session::current();
    if (!session || session->in_body()) {
        if (capture_work > 0) last_thrown() = {object, {.addresses = whole ? capture_stack(pc) : Addresses{pc}}};
        return;
    }
    const NotRecording not_recording;
    LastThrown& last = last_thrown();
    last = {object, {}};
    last.thrown.addresses = whole                     ? capture_stack(pc)
                            : session->wants_stacks() ? capture_stack(pc, session->outside)
                                                      : Addresses{pc};
    if (session->wants_stacks()) last.thrown.stack = with_cursor(user_stack(last.thrown.addresses));
}

}  // namespace

CaptureStep::CaptureStep(bool whole_stacks) : before_(capture_work) { capture_work = whole_stacks ? 2 : 1; }
CaptureStep::~CaptureStep() { capture_work = before_; }

void link_throw_hook() {}

Thrown thrown_here() {
    const std::exception_ptr exception = std::current_exception();
    const void* object = nullptr;  // an exception_ptr of libstdc++ is a pointer to what was thrown
    static_assert(sizeof exception == sizeof object);
    std::memcpy(&object, &exception, sizeof object);
    LastThrown& last = last_thrown();
    Thrown thrown = last.object == object ? std::move(last.thrown) : Thrown{};
    last = {};
    try {
        if (exception) std::rethrow_exception(exception);
    } catch (const std::exception& error) {
        thrown.what = error.what();
    } catch (...) {
        thrown.what = "not a std::exception";
    }
    return thrown;
}

}  // namespace whittle::api

// The C++ runtime's function, as the output functions in output_hooks.cpp: takes note, and passes on.
extern "C" __attribute__((weak, visibility("default"), noreturn)) void hook_cxa_throw(
    void*, std::type_info*, void (*)(void*)) __asm__("__cxa_throw");
void hook_cxa_throw(void* object, std::type_info* type, void (*destructor)(void*)) {
    if (whittle::api::Session::current() || whittle::api::capture_work > 0) {
        try {
            whittle::api::note_throw(object, __builtin_return_address(0));
        } catch (...) {  // the place is lost, the exception is not
        }
    }
    using Throw = void (*)(void*, std::type_info*, void (*)(void*));
    static const auto real = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
    real(object, type, destructor);
    __builtin_unreachable();
}
