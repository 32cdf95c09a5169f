// An op begins and ends: its arguments and results, the stack that called it, and what its tensors hold.
#include "frontends/libtorch/capture/ops.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "frontends/libtorch/capture/python.h"
#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch {

namespace {

/// TorchScript's interpreter shows an op its whole stack: the op's own arguments or results are on top.
c10::ArrayRef<const c10::IValue> on_top(c10::ArrayRef<const c10::IValue> values, int count) {
    const auto wanted = static_cast<std::size_t>(count);
    return count < 0 || values.size() <= wanted ? values : values.slice(values.size() - wanted);
}

/// `stack`: where the program called it, 0 where LibTorch did.
void look_at_inputs(Thread& thread, const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs, std::uint32_t stack) {
    bool registered = false, unnamed = false;
    const bool with_data = state.recorder.with_data();
    if (stack && !thread.frames.empty()) python::tell_numbers(thread, inputs, stack);
    for (const c10::IValue& input : inputs)
        for_each_tensor(input, [&](const at::Tensor& tensor) {
            const bool nameable = python::on() && tensor.requires_grad() && tensor.is_leaf();
            const Identity identity = identity_of(thread.identities, tensor, nameable ? std::uint32_t{kAsked} : 0u);
            registered |= (identity.flags & kRegistered) != 0;
            unnamed |= nameable && !(identity.flags & kAsked);
            if (stack && !thread.frames.empty()) python::tell_variables(thread, tensor, identity.number, stack);
            if (with_data) snapshot(thread, tensor, stack != 0);
        });
    if (registered) update_names(thread);
    if (unnamed) python::want_names();
    if (!with_data) return;
    // An op that writes and returns nothing (_foreach_add_) has its arguments here only.
    if (info.writes && info.returns_nothing)
        for (const c10::IValue& input : inputs) forget_elements(input);
    if (info.updates_statistics)
        for (std::size_t i = 3; i < std::min<std::size_t>(inputs.size(), 5); ++i)
            for_each_tensor(inputs[i], [&](const at::Tensor& tensor) {
                forget_elements(tensor);
                thread.statistics.emplace_back(thread.enclosing.size(), tensor.getIntrusivePtr());
            });
}

/// Of the op that ends, whose arguments are gone by now.
void look_at_statistics(Thread& thread) {
    for (; !thread.statistics.empty() && thread.statistics.back().first >= thread.enclosing.size();
         thread.statistics.pop_back())
        if (auto tensor = thread.statistics.back().second.lock())
            snapshot(thread, at::Tensor(std::move(tensor)), false);
}

template <class Result, class Key>
Key key_of(Result (*)(Key));

/// torch.compile and torch.export run the program on fake tensors, which have no memory, to learn what it does. What
/// runs then is theirs. Releases before 2.1 have no key for that mode.
template <class Modes>
bool runs_on_fake_tensors() {
    if constexpr (requires { Modes::any_modes_set(false), &Modes::get_mode; }) {
        using Key = decltype(key_of(&Modes::get_mode));
        return Modes::any_modes_set(false) && Modes::get_mode(Key::FAKE).has_value();
    }
    return false;
}

OpScope scope_of(const at::RecordFunction& function) {
    if (is_op(function)) return OpScope::function;
    return function.scope() == at::RecordScope::BACKWARD_FUNCTION ? OpScope::backward : OpScope::user;
}

/// `stack`: where the program called it.
void write_begin(Thread& thread, const at::RecordFunction& function, const OpInfo& info, int depth, std::uint32_t stack,
                 Stillness still, c10::ArrayRef<const c10::IValue> inputs) {
    RecordBuffer& record = thread.record;
    record.start(records::OpBegin{.op = info.id,
                                  .depth = static_cast<std::uint32_t>(depth),
                                  .stack = stack,
                                  .untouched = still.untouched,
                                  .unmoved = still.unmoved,
                                  .scope = scope_of(function),
                                  .grad_mode = at::GradMode::is_enabled(),
                                  .sequence = function.seqNr(),
                                  .forward_thread = function.forwardThreadId()});
    record.put(static_cast<std::uint16_t>(inputs.size()));
    for (const c10::IValue& input : inputs) put_value(thread, record, input);
    commit(thread, record);
}

/// In the place of an operation, its hashes are recorded.
void begin_hashed(Thread& thread, const at::RecordFunction& function, const OpInfo& info, bool called_by_program,
                  c10::ArrayRef<const c10::IValue> inputs) {
    const std::uint8_t what = thread.enclosing.back();
    if (what == kScope) {
        if (scope_of(function) == OpScope::backward) thread.hashing.under = info.id;
        return;
    }
    if (called_by_program) thread.hashing.stack = stack_id(thread);
    if (what == kKernel) hash_begin(thread, info, inputs);
}

/// Of all operations with a kernel, the one that is asked for is recorded, as if nothing had called it but the program.
void begin_only(Thread& thread, const at::RecordFunction& function, const OpInfo& info,
                c10::ArrayRef<const c10::IValue> inputs) {
    if (thread.enclosing.back() != kKernel || ++state.operations != state.only) return;
    Stillness still{.untouched = Stillness::kAll};
    const std::uint32_t stack = stack_id(thread, &still);
    look_at_inputs(thread, info, inputs, stack);
    write_begin(thread, function, info, 0, stack, still, inputs);
    thread.enclosing.back() = kOnly;
}

}  // namespace

void record_begin(Thread& thread, const at::RecordFunction& function) {
    if (is_op(function) && runs_on_fake_tensors<c10::impl::TorchDispatchModeTLS>()) {
        state.recorder.trace();
        thread.enclosing.push_back(kTraced);
        thread.starts.push_back(0);
        return;
    }
    if ((++thread.ops & 63) == 0) state.recorder.check_time();
    const OpInfo& info = info_of(thread, function);
    const bool is_scope = !is_op(function) || !(info.flags & kHasSchema);
    const bool called_by_program = thread.enclosing.empty() || thread.enclosing.back() == kScope;
    thread.enclosing.push_back(is_scope ? kScope : info.flags & kComposite ? kCompositeOp : kKernel);
    thread.starts.push_back(0);
    const auto inputs = on_top(function.inputs(), info.arguments);
    if (state.recorder.with_hashes()) return begin_hashed(thread, function, info, called_by_program, inputs);
    if (state.only) return begin_only(thread, function, info, inputs);
    Stillness still{.untouched = Stillness::kAll};  // what LibTorch calls itself is no news of who called it
    const std::uint32_t stack = called_by_program ? stack_id(thread, &still) : 0;
    if (!is_scope) look_at_inputs(thread, info, inputs, stack);
    write_begin(thread, function, info, thread.depth - thread.inherited, stack, still,
                is_scope ? c10::ArrayRef<const c10::IValue>() : inputs);
}

namespace {

void end_hashed(Thread& thread, const OpInfo& info, std::uint8_t what, c10::ArrayRef<const c10::IValue> outputs) {
    if (what == kScope) thread.hashing.under = 0;
    if (what == kKernel) hash_end(thread, info, outputs);
}

/// What lies in memory that nothing was written to is no result.
bool gives_nan(const OpInfo& info, c10::ArrayRef<const c10::IValue> outputs) {
    bool found = false;
    if (info.makes_memory || info.shows_memory) return found;
    for (const c10::IValue& output : outputs)
        for_each_tensor(output, [&](const at::Tensor& tensor) {
            const bool may = is_plain(tensor) && (tensor.is_floating_point() || tensor.is_complex());
            found = found || (may && count_nans(tensor) > 0);
        });
    return found;
}

/// Not by exit(): the program's own handlers would run, and take as long as it does.
[[noreturn]] void end_program() {
    state.recorder.finish();
    std::fflush(nullptr);
    ::syscall(SYS_exit_group, 0);
    std::abort();
}

}  // namespace

void record_end(Thread& thread, const at::RecordFunction& function, std::uint64_t now) {
    const std::uint8_t what = thread.enclosing.back();
    if (what == kTraced) {
        thread.enclosing.pop_back();
        thread.starts.pop_back();
        return;
    }
    const OpInfo& info = info_of(thread, function);
    look_at_statistics(thread);
    const std::uint64_t start = thread.starts.back();
    thread.enclosing.pop_back();
    thread.starts.pop_back();
    if (thread.depth < thread.inherited) {  // it began in the process that forked this one
        thread.inherited = thread.depth;
        return;
    }
    const std::vector<c10::IValue>& all = function.outputs();
    const auto outputs = on_top(c10::ArrayRef<const c10::IValue>(all.data(), all.size()), info.returns);
    if (state.recorder.with_hashes()) return end_hashed(thread, info, what, outputs);
    if (state.only && what != kOnly) return;
    const int depth = what == kOnly ? 0 : thread.depth - thread.inherited;
    RecordBuffer& record = thread.record;
    record.start(records::OpEnd{.op = info.id, .depth = static_cast<std::uint32_t>(depth)});
    record.put(static_cast<std::uint16_t>(what == kScope ? 0 : outputs.size()));
    if (what != kScope)
        for (const c10::IValue& output : outputs) put_value(thread, record, output);
    if (state.recorder.with_times()) record.put(start ? now - start : std::uint64_t{0});
    commit(thread, record);
    if (what == kScope || !state.recorder.with_data()) return;
    for (const c10::IValue& output : outputs)
        for_each_tensor(output, [&](const at::Tensor& tensor) {
            // Tensors that share the memory but not the version counter (data(), inference mode) changed, too.
            if (info.writes) forget_elements(output);
            if (info.makes_memory) return snapshot_of_memory(thread, tensor);
            snapshot(thread, tensor, false);
        });
    if (state.recorder.until_nan() && gives_nan(info, outputs)) state.recorder.cut(kCutNan);
    if (what == kOnly) end_program();
}

void record_fused(Thread& thread, bool begins) {
    if (state.recorder.with_hashes() || state.only) return;
    const OpInfo& info = fused_op(thread);
    const auto depth = static_cast<std::uint32_t>(thread.depth - thread.inherited);
    RecordBuffer& record = thread.record;
    if (begins) {
        const std::uint32_t stack =
            thread.enclosing.empty() || thread.enclosing.back() == kScope ? stack_id(thread) : 0;
        record.start(records::OpBegin{.op = info.id,
                                      .depth = depth,
                                      .stack = stack,
                                      .untouched = Stillness::kAll,
                                      .scope = OpScope::user,
                                      .grad_mode = at::GradMode::is_enabled()});
    } else {
        record.start(records::OpEnd{.op = info.id, .depth = depth});
    }
    record.put(std::uint16_t{0});
    if (!begins && state.recorder.with_times()) record.put(std::uint64_t{0});
    commit(thread, record);
}

}  // namespace whittle::libtorch
