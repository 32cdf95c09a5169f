// What the probes of `trace cc` say of a LibTorch program: which function runs, and what its tensors are called.
#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch {

void record_probe_enter(Thread& thread, const char* function) {
    thread.record.start(RecordKind::probe_enter);
    thread.record.put_text(function);
    commit(thread, thread.record);
}

void record_probe_leave(Thread& thread) {
    thread.record.start(RecordKind::probe_leave);
    commit(thread, thread.record);
}

void record_probe_name(Thread& thread, const void* pointer, const char* name, long long element, bool is_parameter) {
    auto* const impl = const_cast<c10::TensorImpl*>(static_cast<const c10::TensorImpl*>(pointer));
    if (!impl) return;
    const at::Tensor tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(impl));
    if (!tensor.defined()) return;
    std::lock_guard lock(state.mutex);
    thread.record.start(RecordKind::probe_name);
    thread.record.put(static_cast<std::uint8_t>(is_parameter));
    thread.record.put(static_cast<std::int64_t>(element));
    thread.record.put_text(name);
    put_value(thread.record, c10::IValue(tensor));
    commit(thread, thread.record);
}

}  // namespace whittle::libtorch
