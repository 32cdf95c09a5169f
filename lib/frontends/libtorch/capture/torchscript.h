// TorchScript, seen from inside: the lines of a scripted or traced module under the op that runs, and the names that
// the module has for what it holds. Both come from LibTorch itself, which keeps them for its own error messages.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <torch/csrc/jit/frontend/source_range.h>

#include <cstdint>
#include <string>
#include <vector>

namespace whittle::libtorch {

struct Thread;

namespace torchscript {

/// A method of a module, or a function, that LibTorch's interpreter runs; methods that it inlined are no calls.
struct Call {
    std::uint64_t number = 0;      ///< of the process's calls
    const void* module = nullptr;  ///< whose method it is; null: nobody's, or not seen
    std::string method = {};
    std::uint64_t place = 0;  ///< where it begins; 0 where that is unknown
    bool unsafe = false;      ///< LibTorch cannot say where it is without danger
};

/// What LibTorch keeps of a call from its begin to its end.
struct CallContext : at::ObserverContext {
    explicit CallContext(std::uint64_t number) : call(number) {}
    std::uint64_t call;
};

/// A call begins on the thread; its number.
std::uint64_t open_call(Thread& thread);
/// It ends: on the thread that it began on or, one that waited for others (torch.jit.wait), on another.
void end_call(Thread& thread, std::uint64_t call);

/// Says what the call is whose scope, of RecordScope::TORCHSCRIPT_FUNCTION, begins: the thread's last. The first time
/// that a module is called, what it holds gets its names.
void begin_call(Thread& thread, const at::RecordFunction& function);

/// Where the interpreter of this thread stands, innermost first; empty outside of it. `key` becomes another one, the
/// same for the same places.
std::vector<torch::jit::StackEntry> entries(Thread& thread, std::uint64_t& key);

/// Puts the places among the return addresses, outside of LibTorch's own.
void merge(Thread& thread, const std::vector<torch::jit::StackEntry>& entries, std::vector<std::uint64_t>& pcs);

}  // namespace torchscript
}  // namespace whittle::libtorch
