// How the program ends, and which processes it makes. May run in signal handlers, in children that share our memory
// (vfork) and beside other threads, so it only fills in the file's header: no locks, no memory.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch {

namespace {

bool is_child(const FileHeader& header) { return static_cast<std::uint64_t>(::getpid()) != header.pid; }

void count(std::uint64_t& counter, std::uint64_t by = 1) { __atomic_fetch_add(&counter, by, __ATOMIC_RELAXED); }

template <std::size_t kSize>
void copy(char (&to)[kSize], const char* from) {
    std::size_t i = 0;
    for (; from && from[i] && i + 1 < kSize; ++i) to[i] = from[i];
    to[i] = 0;
}

}  // namespace

void on_end(const char* function) {
    FileHeader* header = state.recorder.header();
    if (!header || is_child(*header) || header->end_function[0]) return;
    const ThreadPlace place = place_of_thread();
    header->end_thread = place.thread;
    header->end_depth = place.depth;
    const std::span pcs = header->end_pcs;
    std::ranges::fill(pcs.subspan(unwind_plainly(pcs)), 0);
    copy(header->end_function, function);
}

void on_process(ProcessEvent event, const char* program) {
    FileHeader* header = state.recorder.header();
    if (!header) return;
    const bool child = is_child(*header);
    const auto name_first = [&] {
        if (!header->other_program[0]) copy(header->other_program, program);
    };
    switch (event) {
        case ProcessEvent::forked:
            return count(header->forks);
        case ProcessEvent::started:
            name_first();
            return count(header->spawned);
        case ProcessEvent::replaces:
            if (!child) return copy(header->replaced_by, program);
            name_first();
            return count(header->child_execs);
        case ProcessEvent::not_replaced:
            // execvp() of Python and of shells tries each folder of PATH: what is not there was no program.
            if (child && program && !std::strncmp(header->other_program, program, sizeof header->other_program - 1))
                header->other_program[0] = 0;
            if (child) return count(header->child_execs, ~std::uint64_t{0});
            header->replaced_by[0] = header->end_function[0] = 0;
            return;
    }
}

}  // namespace whittle::libtorch
