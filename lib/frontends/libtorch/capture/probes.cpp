// What the probes of `trace cc` say of a LibTorch program: which function runs, with which numbers and texts, what its
// tensors are called, and which way it goes.
#include "frontends/libtorch/capture/state.h"
#include "probe/probe.h"

namespace whittle::libtorch {

void record_probe_enter(Thread& thread, const char* function) {
    thread.record.start(records::ProbeEnter{.function = function});
    commit(thread, thread.record);
}

void record_probe_leave(Thread& thread) {
    thread.record.start(records::ProbeLeave());
    commit(thread, thread.record);
}

void record_probe_name(Thread& thread, const void* pointer, const char* name, long long element, bool is_parameter) {
    auto* const impl = const_cast<c10::TensorImpl*>(static_cast<const c10::TensorImpl*>(pointer));
    if (!impl) return;
    const at::Tensor tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(impl));
    if (!tensor.defined()) return;
    thread.record.start(records::ProbeName{.parameter = is_parameter, .element = element, .name = name});
    put_value(thread, thread.record, c10::IValue(tensor));
    commit(thread, thread.record);
}

void record_probe_value(Thread& thread, const whittle_probe_value& value) {
    c10::IValue told;
    switch (value.kind) {
        case WHITTLE_PROBE_BOOL:
            told = value.integer != 0;
            break;
        case WHITTLE_PROBE_INTEGER:
            told = static_cast<std::int64_t>(value.integer);
            break;
        case WHITTLE_PROBE_FLOAT:
            told = value.real;
            break;
        case WHITTLE_PROBE_TEXT:
            told = std::string(value.text, value.text_size);
            break;
        default:
            return;  // tensors have names; other types say nothing
    }
    thread.record.start(records::ProbeValue{.name = value.name});
    put_value(thread, thread.record, told);
    commit(thread, thread.record);
}

void record_probe_branch(Thread& thread, const whittle_probe_file& file, unsigned site, long long outcome) {
    const whittle_probe_site& place = file.sites[site];
    thread.record.start(
        records::ProbeBranch{.line = place.range.line,
                             .column = place.range.column,
                             .outcome = outcome,
                             .kind = whittle::probe::selects(place) ? BranchKind::selected : BranchKind::taken,
                             .file = file.path,
                             .condition = place.text});
    commit(thread, thread.record);
}

}  // namespace whittle::libtorch
