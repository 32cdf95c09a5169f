// A kernel as the statements of a short program: what a maintainer of Halide would write by hand. Needs Halide, and
// `using namespace Halide`.
#pragma once

#include <optional>
#include <string>

#include "compile/kernel_programs.h"
#include "printers/short_program.h"

namespace whittle::halide {

/// Its target: empty is the one of the process, as realize() takes it. Fixed is it with the pass of sound_accesses.h,
/// careful as Translator has it.
using program::PlainKernel;

struct PlainText {
    std::string helpers;          ///< functions that the statements call
    std::string statements;       ///< inputs, Funcs, schedule
    std::string definition = {};  ///< what it computes, for a title: "f(x) = exp(in(x))"; empty: more than that
    std::string culprit;          ///< the culprit directive: "f.update().vectorize(r, 8)"
    std::string realize;          ///< an expression whose value is the output's Buffer
    std::string type;             ///< of its elements
    std::string func;             ///< its name
};

/// Nothing where the data would have to be written down in full and are more than a screen holds.
std::optional<PlainText> plain_text(const PlainKernel& kernel);

/// As the ability has it.
CompileResult compile(const PlainKernel& kernel);
/// What Halide's JIT makes once in a process, its run-time library: forked children then have it.
void warm_up_plain();

}  // namespace whittle::halide
