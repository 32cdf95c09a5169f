// Python programs, seen from inside: the frames of CPython's interpreter under the op that runs, and the names that
// torch.nn.Module's have for what they hold. Nothing of CPython is linked: its functions are found where LibTorch came
// into a process that has them.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <array>
#include <cstdint>
#include <vector>

namespace whittle::libtorch {

struct Thread;
struct StackSlot;

namespace python {

/// A frame as it is while its thread is inside a call: no reference is taken, the frame holds what it points to.
struct Frame {
    const char* address;
    const char* code;     ///< PyCodeObject
    const char* module;   ///< of torch.nn.Module's own call: the module, else null
    std::int32_t offset;  ///< of the instruction, in bytes
    bool entry;           ///< the interpreter's C function began with it; those inside share that function's frame
};

/// Looks for CPython; once, when capture starts. Frames are read by their places in memory, which differ from version
/// to version: told and left where the version is not known, or memory is not as it should be.
void start(Thread& thread);
bool on();

/// The frames of the calling thread, innermost first, without the GIL: the thread waits in them. `key` becomes another
/// one, the same for the same places in the same code.
void frames(std::vector<Frame>& found, std::uint64_t& key);

/// The same without their modules: one of them may be about to go, with what it holds.
void plain_frames(std::vector<Frame>& found);

/// What tells whether a frame has gone on, while it waits for what it called.
struct Locals {
    std::uint64_t slots = 0;  ///< its own variables, and what it iterates over: nobody else changes those
    std::uint64_t names = 0;  ///< those of a module, which anybody may change; 0: not known, another number each time
};
/// Of this version of CPython that is known.
bool knows_locals();
Locals locals_of(const Frame& frame);

/// Looks at frames of a stack that is new: finds out where modules are called, and asks for names of those not known.
/// True where the frames have to be read again, as it is known now which of them call a module.
bool learn(const std::vector<Frame>& frames);

/// The stack of native frames with the Python frames among them, each in the place of the interpreter's own: return
/// addresses, and places that the file defines.
std::vector<std::uint64_t> merge(Thread& thread, const std::vector<StackSlot>& native,
                                 const std::vector<Frame>& frames);

/// Tells which local variables of the frames that thread.frames holds, the innermost ones, have the tensor of that
/// number; once for each stack.
void tell_variables(Thread& thread, const at::Tensor& tensor, std::uint64_t number, std::uint32_t stack);

/// Tells which local variables of those frames have a number that is among the op's arguments; once for each stack and
/// number. That the op got it from the variable is likely only where they have several numbers in common.
void tell_numbers(Thread& thread, c10::ArrayRef<const c10::IValue> inputs, std::uint32_t stack);

/// Writes which calls the frames in thread.frames are of, where that is known and has changed since the last time.
void tell_calls(Thread& thread);
/// In a forked child.
void forget_calls();

/// A call of a function of Python's that began.
struct StartedCall {
    const char *frame = nullptr, *code = nullptr;
    std::uint64_t number = 0;
};
/// Of a thread, by the frame's address; a call that another one took the place of is not known.
using StartedCalls = std::array<StartedCall, 1024>;

/// The innermost of the frames that is not the standard library's is neither PyTorch's nor the interpreter's own.
bool writes_for_program(const std::vector<Frame>& frames);

/// Writes which folders have code that is not the program's: the beginning of a file.
void write_library_folders(Thread& thread);

/// In a forked child: names were told to the parent's file.
void forget_names();

/// A leaf that requires gradients is used the first time: it may be a parameter that has no name yet.
void want_names();

}  // namespace python
}  // namespace whittle::libtorch
