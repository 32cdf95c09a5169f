// Exceptions of the program's own: one that leaves a function ends its graph. Where it began is known when it is
// thrown, and which functions it left when it is caught; one that nobody catches ends the program, which is told
// otherwise. What an operation throws is in its own record.
#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch {

void begin_exception(Thread& thread, const std::string& name) {
    // Of those that follow each other without an operation in between the first counts: others pass it on.
    if (thread.ops == 0 || thread.ops == thread.exception.ops || thread.depth || thread.printing) return;
    thread.exception = {.ops = thread.ops, .stack = stack_id(thread), .name = name};
}

void end_exception(Thread& thread) {
    const std::uint32_t stack = std::exchange(thread.exception.stack, 0);
    if (!stack || thread.ops != thread.exception.ops) return;
    const Waiting waiting = who_waits(thread);
    thread.record.start(records::Raised{
        .stack = stack, .looked_at = waiting.looked_at, .waiting = waiting.still, .name = thread.exception.name});
    commit(thread, thread.record);
}

}  // namespace whittle::libtorch
