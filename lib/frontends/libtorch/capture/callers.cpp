#include "frontends/libtorch/capture/callers.h"

#include <pthread.h>

#include <algorithm>

#include "frontends/libtorch/capture/python_api.h"
#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch {

namespace {

/// Words of a function's own memory that are looked at; beyond, it is not known to be as it was.
constexpr std::ptrdiff_t kMostWords = 1024;

/// In four lanes, which the machine can compute side by side.
std::uint64_t hash_words(const std::uintptr_t* from, const std::uintptr_t* to) {
    std::uint64_t lanes[4] = {1, 2, 3, 4};
    for (; to - from >= 4; from += 4)
        for (int i = 0; i < 4; ++i) lanes[i] = hash(lanes[i], from[i]);
    for (; from < to; ++from) lanes[0] = hash(lanes[0], *from);
    return hash(hash(lanes[0], lanes[1]), hash(lanes[2], lanes[3]));
}

/// Where it waits.
std::uint64_t waiting_place(const python::Frame& frame) {
    const auto address = reinterpret_cast<std::uintptr_t>(frame.address);
    const auto code = reinterpret_cast<std::uintptr_t>(frame.code);
    return hash(hash(address, code), static_cast<std::uint64_t>(frame.offset));
}
std::uint64_t waiting_place(const std::uintptr_t* low) { return hash(reinterpret_cast<std::uintptr_t>(low), low[-1]); }

}  // namespace

StackMemory stack_memory() {
    StackMemory found;
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return found;
    void* low = nullptr;
    std::size_t size = 0;
    if (::pthread_attr_getstack(&attributes, &low, &size) == 0) {
        found.low = reinterpret_cast<std::uintptr_t>(low);
        found.high = found.low + size;
    }
    ::pthread_attr_destroy(&attributes);
    return found;
}

Stillness CallerStates::look(const std::vector<python::Frame>& frames) {
    now_.clear();
    if (!python::knows_locals()) return {};
    for (std::size_t i = frames.size(); i-- > 0 && now_.size() < kMost;) {
        const python::Frame& frame = frames[i];
        const python::Locals locals = python::locals_of(frame);
        now_.push_back(
            {waiting_place(frame), locals.slots, hash(locals.slots, locals.names ? locals.names : ++unlike_)});
    }
    return compare();
}

Stillness CallerStates::look(const std::vector<NativeFrame>& frames) {
    now_.clear();
    for (const NativeFrame& frame : frames) {
        std::uint64_t registers = 0;
        for (const std::uintptr_t* place : frame.registers) registers = hash(registers, place ? *place : 0);
        const bool fits = frame.high - frame.low <= kMostWords;
        now_.push_back({waiting_place(frame.low), registers,
                        hash(registers, fits ? hash_words(frame.low, frame.high) : ++unlike_), frame.low});
    }
    return compare();
}

/// A call puts its return address where that of the one before was, so one that is gone was written over by the call
/// that we are in.
Waiting CallerStates::waiting(const std::vector<python::Frame>& frames, const StackMemory& stack) const {
    const void* const here = __builtin_frame_address(0);
    const auto on_stack = [&](const State& was) { return !was.low || stack.has(was.low - 1); };
    if (!stack.has(here) || !std::ranges::all_of(last_, on_stack)) return {};
    const auto waits = [&](std::size_t i) {
        const State& was = last_[i];
        if (was.low) return static_cast<const void*>(was.low - 1) > here && waiting_place(was.low) == was.place;
        return i < frames.size() && waiting_place(frames[frames.size() - 1 - i]) == was.place;
    };
    std::size_t still = 0;
    while (still < last_.size() && waits(still)) ++still;
    return {static_cast<std::uint8_t>(last_.size()), static_cast<std::uint8_t>(still)};
}

Waiting who_waits(Thread& thread) {
    if (!thread.stack_memory.high) thread.stack_memory = stack_memory();
    python::plain_frames(thread.frames);
    return thread.callers.waiting(thread.frames, thread.stack_memory);
}

Stillness CallerStates::compare() {
    Stillness found;
    const std::size_t count = std::min(last_.size(), now_.size());
    const auto first = [&](auto is_other) {
        std::size_t i = 0;
        while (i < count && !is_other(last_[i], now_[i])) ++i;
        return static_cast<std::uint8_t>(i);
    };
    found.untouched =
        first([](const State& was, const State& is) { return was.place != is.place || was.all != is.all; });
    const std::uint8_t unmoved =
        first([](const State& was, const State& is) { return was.place != is.place || was.locals != is.locals; });
    if (unmoved < count) found.unmoved = unmoved;
    last_.swap(now_);
    return found;
}

}  // namespace whittle::libtorch
