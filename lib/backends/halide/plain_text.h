// A kernel as the statements of a short program: what a maintainer of Halide would write by hand. Needs Halide, and
// `using namespace Halide`.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "expr/group.h"
#include "graph/backend.h"
#include "tensor/tensor.h"

namespace whittle::halide {

/// A kernel with one output, as it is compiled in a short program.
struct PlainKernel {
    const expr::Group& group;
    const expr::Schedule& schedule;
    std::span<const Tensor> inputs;  ///< one per group.inputs, row-major
    int guilty = -1;                 ///< position in the schedule of what `bool guilty` switches
    std::string target = {};         ///< empty: the one of the process, as realize() takes it
    bool mended = false;             ///< with the pass of sound_accesses.h
    bool careful = true;             ///< with what NaN, -0 and overflow need, see Translator
};

struct PlainText {
    std::string helpers;     ///< functions that the statements call
    std::string statements;  ///< inputs, Funcs, schedule
    std::string guilty;      ///< the guilty directive: "f.update().vectorize(r, 8)"
    std::string realize;     ///< an expression whose value is the output's Buffer
    std::string type;        ///< of its elements
    std::string func;        ///< its name
};

/// C++ type of a dtype where Halide's header is included: "float", "float16_t".
std::string plain_type(DType dtype);
/// A constant of that type: "1.5f", "float16_t(1.5f)", "-3".
std::string plain_literal(DType dtype, double value);

/// Nothing where the data would have to be written down in full and are more than a screen holds.
std::optional<PlainText> plain_text(const PlainKernel& kernel);

/// An ability of the backend: short programs are written of its kernels.
class PlainKernels {
  public:
    virtual ~PlainKernels() = default;
    /// The same kernel as Halide objects; what it returns takes no inputs and gives the output, row-major. The kernel
    /// lives as long as that.
    virtual CompileResult compile(const PlainKernel& kernel) = 0;
};

CompileResult compile(const PlainKernel& kernel);
/// What Halide's JIT makes once in a process, its run-time library: forked children then have it.
void warm_up_plain();

}  // namespace whittle::halide
