// Whether a frame of Python has gone on: its variables and what it iterates over, as they are.
#include <dlfcn.h>

#include <algorithm>

#include "frontends/libtorch/capture/python_api.h"
#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch::python {

namespace {

constexpr int kMostSlots = 128, kSlot = sizeof(Object);
// Of any object and of its type, by CPython's public structs; of an object only what lies behind its type.
constexpr int kBehindType = 16, kTypeSize = 32;

/// What an iterator of the interpreter's own, as those of ranges and lists are, says of where it is. Nothing of others,
/// which are larger.
std::uint64_t position(std::uint64_t seed, const char* object) {
    constexpr long kLargest = 64;
    const char* const type = at<const char*>(object, kBehindType - kSlot);
    const long size = at<long>(type, kTypeSize);
    // Classes without __next__, such as torch.Tensor, have this function there.
    static const void* const none = ::dlsym(RTLD_DEFAULT, "_PyObject_NextNotImplemented");
    const void* const next = at<const void*>(type, kTypeNext);
    if (!next || next == none || size > kLargest) return seed;
    for (int place = kBehindType; place + kSlot <= size; place += kSlot)
        seed = hash(seed, at<std::uint64_t>(object, place));
    return seed;
}

}  // namespace

bool knows_locals() { return knows_scopes && (layout->depth >= 0 || layout->stack_pointer >= 0); }

/// The slots that are in use; less than its variables where C was called and that is not known.
static long depth_of(const Frame& frame) {
    if (layout->depth >= 0) return at<int>(frame.address, layout->depth);
    const char* const end = at<const char*>(frame.address, layout->stack_pointer);
    return end ? (end - (frame.address + layout->local)) / kSlot : -1;
}

/// Nothing but the frame's first `count` slots holds the object: else what the frame called may move an iterator on,
/// too.
static bool is_own(const Frame& frame, const char* object, int count) {
    std::uint32_t holds = 0;
    for (int i = 0; i < count; ++i) holds += held(frame.address, layout->local + i * kSlot) == object;
    return at<std::uint32_t>(object, 0) <= holds;  // CPython's count of references, of which later releases borrow some
}

Locals locals_of(const Frame& frame) {
    Locals found;
    const long variables = size_of_tuple(at<const char*>(frame.code, layout->variables));
    const int count = static_cast<int>(std::min<long>(std::max(variables, depth_of(frame)), kMostSlots));
    for (int i = 0; i < count; ++i) {
        const char* const object = held(frame.address, layout->local + i * kSlot);
        found.slots = hash(found.slots, reinterpret_cast<std::uintptr_t>(object));
        if (i >= variables && object && is_own(frame, object, count)) found.slots = position(found.slots, object);
    }
    const char* const names = at<const char*>(frame.address, layout->names);
    if (!names)
        found.names = 1;
    else if (names == at<const char*>(frame.address, layout->globals) && layout->version >= 0)
        found.names = at<std::uint64_t>(names, layout->version) + 1;
    return found;
}

}  // namespace whittle::libtorch::python
