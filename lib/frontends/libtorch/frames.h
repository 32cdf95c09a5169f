// frames_of(): which execution of which of the program's functions each step belongs to, told by its stack alone.
//
// A frame is one execution of a function that main calls (or, with names given, of a function of that name); what main
// itself does is one frame of its own, and so is a thread's function. Two calls of one function from one place look
// alike on the stack. That they are two is known where probes of `trace cc` or Python's sys.monitoring number calls,
// where something else ran in between, and where what called the function has gone on: while a function runs, its
// caller waits, with the same variables in the same registers (Callers). Else it is guessed, here and for loops of main
// (CallGuesser), and FrameSteps::guessed says so. In what main, or a thread's function, does itself, each iteration of
// a loop is an execution of a frame of its own, named after its place; so it is in a function when the loop is long,
// for a short one is what a compiler would unroll. Where a program ends by a call (exit, _exit, abort ...) the call's
// stack tells whether the last execution came to its end; where it was killed, that execution is taken for a complete
// one unless it is the beginning of an earlier one. A thread that works for others, by a std::function or a
// std::packaged_task that it is given, is seen from what it was given: frames are of the functions that that calls. In
// a forked child what counts is what it calls beyond what it has in common with its parent, which called fork() there.
// In Python the outermost call of a torch.nn.Module of the program's or of a package is a frame of its own wherever it
// is called, and so is the construction of one. A DataLoader's worker, and one of a pool, is seen from what it is
// given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/libtorch/probed.h"
#include "frontends/libtorch/symbolizer.h"
#include "frontends/libtorch/values.h"

namespace whittle::libtorch {

struct FrameSteps {
    std::string function;      ///< "toy_example"; "main" for what main does itself
    std::string file;          ///< of the function's first step, when known
    int line = 0;              ///< of the first step
    bool root = false;         ///< main, or a thread's function
    bool holes = false;        ///< other frames ran between its steps
    bool constructor = false;  ///< what it computes are the initial values of parameters
    std::uint32_t thread = 0;
    const ProbedCall* call = nullptr;  ///< what probes told of it
    std::vector<std::int32_t> steps;
    std::int64_t times = 1;         ///< such executions: this one, and those whose records were left out (RepeatFolder)
    std::int64_t alike = 0;         ///< and others, which are told by this one
    bool guessed = false;           ///< nothing proves that it is one execution, and not several or a part of one
    const Event* raised = nullptr;  ///< the exception that left the function after its last step
    std::optional<ReturnTime> returned = {};  ///< where releases of tensors are known, and it is a function's
};

struct Frames {
    std::vector<FrameSteps> frames;
    std::map<std::uint32_t, std::vector<StackFrame>> user_stacks;  ///< the user's part of a stack, innermost first
    std::vector<const std::vector<StackFrame>*> stacks;            ///< per step: one of these
    std::map<std::uint32_t, std::string> libraries;                ///< StackInfo::library of a stack, where it has one
    bool lines = false;                                            ///< the program has debug information
    bool names = false;                                            ///< it has at least function names
    std::vector<StackFrame> end;                                   ///< the stack of EventFile::end
    std::vector<StackFrame> fork;                                  ///< where the parent forked the process
    std::string ended_inside;  ///< the function whose frame the program's end cut short, as far as its stack is known
    std::set<std::string> functions;  ///< of the user that any operation has on its stack
};

/// The function that has the code of a frame: "main" also for the iterations of a loop, "main::{loop at app.cpp:30}".
std::string_view code_of(std::string_view function);

/// The part of a stack, innermost first, that lies in one execution of the function, or of a loop in it: without its
/// callers. All of one that does not have it.
std::span<const StackFrame> inside(const std::vector<StackFrame>& stack, std::string_view function);

/// Without what TorchScript's compiler computes when a module is called first.
void leave_out_compiler(const EventFile& file, std::vector<Step>& steps, Symbolizer& symbolizer);

/// Without what packages of Python compute while they are imported, as PyTorch's own do when an optimizer is made; how
/// many operations those were.
std::int64_t leave_out_imports(const EventFile& file, std::vector<Step>& steps, Symbolizer& symbolizer);

/// Without what torch.compile computes while it compiles, and with one StepKind::compiled for each row of operations of
/// the code that Inductor generated; how many operations the first were.
std::int64_t leave_out_compiled(const EventFile& file, std::vector<Step>& steps, Symbolizer& symbolizer);

/// Sets Step::backward of the ops that autograd's engine runs between its nodes, too: sums of gradients.
void mark_backward(const EventFile& file, std::vector<Step>& steps, Symbolizer& symbolizer);

Frames frames_of(const EventFile& file, const std::vector<Step>& steps, const Values& values, Symbolizer& symbolizer,
                 const ProbedCalls& probes, const std::vector<std::string>& functions);

}  // namespace whittle::libtorch
