// The stacks of ops: unwound once, then remembered with the places of their return addresses.
#include <fcntl.h>
#include <unistd.h>
#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include <algorithm>

#include "frontends/libtorch/capture/python.h"
#include "frontends/libtorch/capture/state.h"
#include "frontends/libtorch/capture/torchscript.h"

namespace whittle::libtorch {

std::mutex unwinding;

std::uint32_t define_stack(Thread& thread, const std::vector<std::uint64_t>& pcs) {
    std::uint64_t key = pcs.size();
    for (const std::uint64_t pc : pcs) key = hash(key, pc);
    const auto [entry, fresh] = thread.stacks.try_emplace(key, 0);
    if (!fresh) return entry->second;
    entry->second = state.next_stack.fetch_add(1);
    write_mappings(thread);  // code of a library that came by dlopen
    RecordBuffer& record = thread.definition;
    record.start(records::StackDefinition{.stack = entry->second, .pcs = pcs});
    commit(thread, record);
    return entry->second;
}

namespace {

constexpr int kDeepestStack = 512;
constexpr std::size_t kKnownPerPointer = 32;

/// Where the registers are kept that the frame gets back from those it called.
NativeFrame frame_at(unw_cursor_t& cursor, std::uintptr_t from) {
    constexpr unw_regnum_t kKept[] = {UNW_X86_64_RBX, UNW_X86_64_RBP, UNW_X86_64_R12,
                                      UNW_X86_64_R13, UNW_X86_64_R14, UNW_X86_64_R15};
    NativeFrame frame;
    for (std::size_t i = 0; i < std::size(kKept); ++i) {
        unw_save_loc_t place;
        if (::unw_get_save_loc(&cursor, kKept[i], &place) != 0 || place.type != UNW_SLT_MEMORY) continue;
        if (place.u.addr > from) frame.registers[i] = reinterpret_cast<const std::uintptr_t*>(place.u.addr);
    }
    return frame;
}

/// The outermost of the frames, outermost first, down to the program's innermost function: what that called is
/// LibTorch. What called the last one is not known, nor where its memory ends.
std::vector<NativeFrame> outermost(const std::vector<StackSlot>& slots, const std::vector<NativeFrame>& frames) {
    const auto program = std::ranges::find_if(slots, [](const StackSlot& slot) { return !in_torch_code(slot.pc); });
    const auto innermost = static_cast<std::size_t>(program - slots.begin());
    std::vector<NativeFrame> found;
    for (std::size_t i = slots.size(); i-- > innermost && found.size() < CallerStates::kMost;) {
        found.push_back(frames[i]);
        found.back().low = slots[i].place + 1;
        found.back().high = i + 1 < slots.size() ? slots[i + 1].place : found.back().low;
    }
    return found;
}

/// Unwinds the frames beyond `from`, with the place of each return address on the stack. False when a place is not
/// known.
bool unwind(std::uintptr_t from, std::vector<StackSlot>& slots, std::vector<NativeFrame>& frames) {
    const std::lock_guard lock(unwinding);
    unw_context_t context;
    unw_cursor_t cursor;
    if (::unw_getcontext(&context) != 0 || ::unw_init_local(&cursor, &context) != 0) return false;
    bool all = true;
    while (slots.size() < kDeepestStack && ::unw_step(&cursor) > 0) {
        unw_word_t pc = 0, sp = 0;
        ::unw_get_reg(&cursor, UNW_REG_IP, &pc);
        ::unw_get_reg(&cursor, UNW_REG_SP, &sp);
        if (pc == 0) break;
        const auto* place = reinterpret_cast<const std::uintptr_t*>(sp) - 1;  // x86-64: the call pushed it there
        all = all && ::unw_is_signal_frame(&cursor) <= 0 && *place == pc;
        if (reinterpret_cast<std::uintptr_t>(place) <= from) continue;
        slots.push_back({place, pc});
        frames.push_back(frame_at(cursor, from));
    }
    return all && !slots.empty() && slots.size() < kDeepestStack;
}

}  // namespace

/// The number of the stack above us; which calls it is of is told before. Unwinding takes microseconds, so it is
/// remembered with the places of its return addresses: from one stack pointer, equal addresses from the innermost
/// outwards mean the same frames, since an address decides the size of its function's frame (functions with alloca
/// excepted).
__attribute__((noinline)) std::uint32_t stack_id(Thread& thread, Stillness* still) {
    const auto sp = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    std::uint64_t key = sp;
    std::vector<python::Frame>& frames = thread.frames;
    python::frames(frames, key);
    python::tell_calls(thread);
    if (still && !frames.empty()) *still = thread.callers.look(frames);
    const auto look = [&](const std::vector<NativeFrame>& native) {
        if (still && frames.empty()) *still = thread.callers.look(native);
    };
    const std::vector<torch::jit::StackEntry> scripted = torchscript::entries(thread, key);
    std::vector<KnownStack>& known = thread.known_stacks[key];
    for (const KnownStack& stack : known)
        if (std::all_of(stack.slots.begin(), stack.slots.end(), [](const StackSlot& s) { return *s.place == s.pc; })) {
            look(stack.outermost);
            return stack.id;
        }
    std::vector<StackSlot> slots;
    std::vector<NativeFrame> native;
    const bool reusable = unwind(sp, slots, native);
    native = reusable ? outermost(slots, native) : std::vector<NativeFrame>();
    look(native);
    if (python::learn(frames)) python::frames(frames, key);
    std::vector<std::uint64_t> pcs = python::merge(thread, slots, frames);
    torchscript::merge(thread, scripted, pcs);
    const std::uint32_t id = define_stack(thread, pcs);
    if (known.size() >= kKnownPerPointer) known.clear();
    if (reusable) known.push_back({id, std::move(slots), std::move(native)});
    return id;
}

/// Not by unw_backtrace(), which from libunwind 1.8 on has a cache for each thread: a thread's first call asks for
/// memory.
std::size_t unwind_plainly(std::span<std::uint64_t> pcs) {
    std::size_t count = 0;
    unw_context_t context;
    unw_cursor_t cursor;
    if (::unw_getcontext(&context) != 0 || ::unw_init_local(&cursor, &context) != 0) return count;
    for (; count < pcs.size() && ::unw_step(&cursor) > 0; ++count) ::unw_get_reg(&cursor, UNW_REG_IP, &pcs[count]);
    return count;
}

/// libunwind keeps a pipe open, by which it tests addresses. Made now, while low numbers are taken, it leaves the
/// program's own descriptors the numbers they would have.
void start_unwinding() {
    constexpr int kBeyond = 100;
    std::vector<int> taken;
    for (int file = -1; file < kBeyond;) {
        file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (file < 0) break;
        taken.push_back(file);
    }
    std::uint64_t pcs[8];
    unwind_plainly(pcs);
    for (const int file : taken) ::close(file);
}

}  // namespace whittle::libtorch
