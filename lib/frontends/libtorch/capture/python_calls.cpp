// Which call of a function an operation belongs to, where Python can tell: from 3.12 on, sys.monitoring reports the
// start of each call of the program's own functions, and of what a worker calls, and of no others, so that the rest of
// the program runs as fast as before. A frame's address alone says nothing, as the next call of a function mostly lies
// where the last one did.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <set>
#include <string>

#include "frontends/libtorch/capture/python_api.h"
#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch::python {

namespace {

constexpr std::size_t kMostFrames = 64;      ///< of a stack, from the outermost on
constexpr std::size_t kMostWatched = 10000;  ///< code objects, which are kept
constexpr int kStart = 1;                    ///< sys.monitoring.events.PY_START
constexpr int kToolIds[] = {4, 3};           ///< that Python gives no meaning to

Object (*call_method)(Object, const char*, const char*, ...) = nullptr;
Object monitoring = nullptr, none = nullptr;
int tool = -1;
std::atomic<bool> watching{false};
std::mutex watched_mutex;       ///< nothing of Python is called under it
std::set<const void*> watched;  ///< code objects whose calls are reported: kept, so that no other lies there

StartedCall& slot_of(StartedCalls& calls, const char* frame) {
    return calls[(reinterpret_cast<std::uintptr_t>(frame) >> 3) * 0x9e3779b97f4a7c15ull >> 54];
}

/// The innermost frame is of a call that begins.
void start_call(const char* code) {
    Thread* const thread = thread_here();
    const void* const own = api.PyGILState_GetThisThreadState();
    if (!thread || !own) return;
    const char* frame = at<const char*>(own, layout->top);
    if (layout->cframe >= 0 && frame) frame = at<const char*>(frame, layout->cframe);
    if (!frame || held(frame, layout->code) != code) return;
    if (!thread->calls) thread->calls.reset(new (std::nothrow) StartedCalls);
    if (thread->calls) slot_of(*thread->calls, frame) = {frame, code, ++state.last_call};
}

/// Called as METH_FASTCALL: with an array of arguments, and their number.
Object on_start(Object, Object arguments, Object count, Object, Object) {
    if (count) start_call(static_cast<const char*>(*static_cast<const Object*>(arguments)));
    api.Py_IncRef(none);
    return none;
}

/// A function is left by an exception. A generator ends by some.
void raise_exception(Object code, Object exception) {
    {
        const std::lock_guard lock(watched_mutex);
        if (watched.count(code) == 0) return;
    }
    const std::string name = type_name(type_of(exception));
    if (name == "StopIteration" || name == "StopAsyncIteration" || name == "GeneratorExit") return;
    quietly_here([&](Thread& thread) { begin_exception(thread, name); });
}
/// Called as on_start() is: with the code, the instruction, and the exception.
Object on_unwind(Object, Object arguments, Object count, Object, Object) {
    const auto* const given = static_cast<const Object*>(arguments);
    if (reinterpret_cast<std::intptr_t>(count) == 3 && state.recorder.on()) raise_exception(given[0], given[2]);
    api.Py_IncRef(none);
    return none;
}
Object on_handled(Object, Object, Object, Object, Object) {
    if (state.recorder.on()) quietly_here(end_exception);
    api.Py_IncRef(none);
    return none;
}

bool succeeds(Object result) {
    if (result)
        api.Py_DecRef(result);
    else
        api.PyErr_Clear();
    return result != nullptr;
}

/// The code and that of the functions that it defines.
void watch_code(Object code) {
    {
        const std::lock_guard lock(watched_mutex);
        if (watched.size() >= kMostWatched || !watched.insert(code).second) return;
    }
    api.Py_IncRef(code);
    succeeds(call_method(monitoring, "set_local_events", "iOi", tool, code, kStart));
    const Object constants = api.PyObject_GetAttrString(code, "co_consts");
    for (long i = 0; constants && i < size_of_tuple(constants); ++i)
        if (const Object one = api.PyTuple_GetItem(constants, i); one && type_name(type_of(one)) == "code")
            watch_code(one);
    if (constants) api.Py_DecRef(constants);
}

/// Python calls the function at events of that name; their number, 0 where it does not.
int call_at(const char* event, const MethodDef& definition) {
    using NewFunction = Object (*)(const MethodDef*, Object, Object);
    static const auto new_function = reinterpret_cast<NewFunction>(::dlsym(RTLD_DEFAULT, "PyCFunction_NewEx"));
    const Object callback = new_function ? new_function(&definition, nullptr, nullptr) : nullptr;
    const Object events = callback ? api.PyObject_GetAttrString(monitoring, "events") : nullptr;
    const Object number = events ? api.PyObject_GetAttrString(events, event) : nullptr;
    const int bit = number ? static_cast<int>(api.PyLong_AsLong(number)) : 0;
    if (!bit) api.PyErr_Clear();
    for (const Object done : {events, number})
        if (done) api.Py_DecRef(done);
    return bit && succeeds(call_method(monitoring, "register_callback", "iiO", tool, bit, callback)) ? bit : 0;
}

}  // namespace

void start_calls(Thread& thread) {
    monitoring = api.PySys_GetObject("monitoring");
    if (!monitoring) return;  // before 3.12
    call_method = reinterpret_cast<decltype(call_method)>(::dlsym(RTLD_DEFAULT, "PyObject_CallMethod"));
    none = ::dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
    constexpr int kFastCall = 0x80;
    static const MethodDef starts = {"whittle", on_start, kFastCall, nullptr},
                           unwinds = {"whittle", on_unwind, kFastCall, nullptr},
                           handles = {"whittle", on_handled, kFastCall, nullptr};
    for (const int id : kToolIds) {
        if (!call_method || !none || tool >= 0) break;
        if (succeeds(call_method(monitoring, "use_tool_id", "is", id, "whittle"))) tool = id;
    }
    watching = tool >= 0 && call_at("PY_START", starts) == kStart;
    if (const int unwound = watching ? call_at("PY_UNWIND", unwinds) : 0)
        if (const int handled = call_at("EXCEPTION_HANDLED", handles))
            succeeds(call_method(monitoring, "set_events", "ii", tool, unwound | handled));
    if (!watching)
        note(thread,
             "other tools use all tool numbers of sys.monitoring, so Whittle guesses where a call of a function ends "
             "and where the next call begins");
}

/// The program's own function, or a package's that a DataLoader's worker or a pool calls again and again.
static bool counts_calls(const std::vector<Frame>& frames, std::size_t i) {
    const auto file = [&](std::size_t k) { return text_of(at<const char*>(frames[k].code, layout->file)); };
    return is_users_python(file(i), library_folders()) ||
           (i + 1 < frames.size() && works_for_others(file(i + 1)) && !works_for_others(file(i)));
}

bool has_unwatched_call(const std::vector<Frame>& frames) {
    if (!watching) return false;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (!counts_calls(frames, i)) continue;
        const std::lock_guard lock(watched_mutex);
        if (watched.size() < kMostWatched && watched.count(frames[i].code) == 0) return true;
    }
    return false;
}

void watch_calls() {
    if (!watching) return;
    Object one = api.PyInterpreterState_ThreadHead(api.PyInterpreterState_Get());
    for (; one; one = api.PyThreadState_Next(one)) {
        const std::vector<Frame> frames = frames_of_thread(one);
        for (std::size_t i = 0; i < frames.size(); ++i)
            if (counts_calls(frames, i)) watch_code(const_cast<char*>(frames[i].code));
    }
}

void tell_calls(Thread& thread) {
    if (!watching) return;
    records::Calls calls;
    std::uint64_t key = 0;
    for (std::size_t i = thread.frames.size(); thread.calls && i-- > 0 && calls.numbers.size() < kMostFrames;) {
        const Frame& frame = thread.frames[i];
        const StartedCall& call = slot_of(*thread.calls, frame.address);
        const bool known = call.frame == frame.address && call.code == frame.code;
        calls.numbers.push_back(known ? call.number : 0);
        if (known) key = hash(hash(key, call.number), i + 1);
    }
    if (key == thread.told_calls) return;
    thread.told_calls = key;
    if (key == 0) calls.numbers.clear();
    thread.definition.start(calls);
    commit(thread, thread.definition);
}

void forget_calls() {
    if (!watched_mutex.try_lock())
        new (&watched_mutex) std::mutex;  // its owner is gone
    else
        watched_mutex.unlock();
}

}  // namespace whittle::libtorch::python
