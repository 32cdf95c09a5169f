// An ability, as those in graph/abilities.h: a kernel of a plan that fails by itself is a short program for the
// compiler that made it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "compile/program.h"
#include "graph/emitter.h"
#include "graph/failure.h"

namespace whittle::program {

/// A kernel with one output, as it is compiled in a short program.
struct PlainKernel {
    const expr::Group& group;
    const expr::Schedule& schedule;
    std::span<const Tensor> inputs;  ///< one per group.inputs, row-major
    int culprit = -1;                ///< position in the schedule of what `bool with_directive` switches
    std::string target = {};         ///< empty: the one of the process
    bool with_workarounds = false;   ///< with the passes that work round known bugs of the compiler
    bool careful = true;             ///< with what NaN, -0 and overflow need in every operation
};

struct KernelRequest {
    PlainKernel kernel;
    const Failure& failure;      ///< signature, accuracy
    const Tensor& expected;      ///< the output
    const Tensor* got;           ///< null: it computed none
    std::string message;         ///< what the failure says
    bool exact;                  ///< without the culprit directive the output has the bits of `expected`
    std::filesystem::path file;  ///< the program's name
    std::int64_t alarm;          ///< seconds after which the compiler or the kernel counts as hung
    /// Results of the compiler are replaced by the expected ones: what the program checks must pass then.
    bool given_expected = false;
};

class KernelPrograms {
  public:
    virtual ~KernelPrograms() = default;
    /// The plan that it compiles, which the program keeps.
    virtual std::variant<const Plan*, BackendFailure> planned(CompiledProgram& program) = 0;
    /// That a kernel may be compiled for, one at least, the plainest last.
    virtual std::vector<std::string> targets() const = 0;
    /// What it returns takes no inputs and gives the output, row-major. The kernel lives as long as that.
    virtual CompileResult compile(const PlainKernel& kernel) = 0;
    /// Makes now what the first compilation of a kernel makes once in a process: forked children then have it.
    virtual void warm_up_kernels() {}
    /// Nothing where its data are more than a reader takes in. It has no files beside it.
    virtual std::optional<ReproProgram> program(const KernelRequest& request) = 0;
};

}  // namespace whittle::program
