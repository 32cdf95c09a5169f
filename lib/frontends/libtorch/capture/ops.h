// Ops, as RecordFunction reports them to the capture library.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>

namespace whittle::libtorch {

struct OpInfo;
struct Thread;

/// What an op that runs is to those that it calls (Thread::enclosing). From kKernel on those are left out.
enum Enclosing : std::uint8_t { kCompositeOp, kScope, kKernel, kTraced, kOnly };

inline bool is_op(const at::RecordFunction& function) { return function.scope() == at::RecordScope::FUNCTION; }

/// Defines an op in the file the first time.
const OpInfo& info_of(Thread& thread, const at::RecordFunction& function);

/// Of the scope in which TorchScript runs what it compiled of several operations.
const OpInfo& fused_op(Thread& thread);

void record_begin(Thread& thread, const at::RecordFunction& function);
/// `now`: when it ended, 0 where nobody wants to know.
void record_end(Thread& thread, const at::RecordFunction& function, std::uint64_t now);
/// That scope begins, or ends.
void record_fused(Thread& thread, bool begins);

}  // namespace whittle::libtorch
