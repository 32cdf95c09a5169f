// One of the standard's models on one of our backends, judged as the standard's own runner does
// (onnx.backend.test.runner): dtypes and sizes the same, floats within rtol 1e-3 and atol 1e-7, all others equal.
#pragma once

#include <map>
#include <string>

#include "graph/backend.h"
#include "model.h"

namespace whittle::conformance {

enum class Verdict {
    pass,
    helped,       ///< right, but the reference computed a call or ran the control flow: the compiler did not do it all
    random,       ///< dtypes and sizes are right; the values are drawn, and no two runtimes draw the same
    unsupported,  ///< refused by name, when the model was read or compiled
    wrong,        ///< other results
    failed        ///< an exception, a crash, too slow …
};
inline constexpr Verdict kVerdicts[] = {Verdict::pass,        Verdict::helped, Verdict::random,
                                        Verdict::unsupported, Verdict::wrong,  Verdict::failed};

/// "pass" "helped" "random" "unsupported" "wrong" "failed"
std::string_view name(Verdict verdict);

struct Judged {
    Verdict verdict = Verdict::pass;
    std::string message = {};  ///< why it is no pass
    /// What the compilation made of the model: calls as the file has them, how many of these were told while it was
    /// read (sizes and words alone say them), how many the reference computed, and kernels.
    std::size_t calls = 0, told = 0, helped = 0, kernels = 0;
};

/// All data sets of the model; the first that does not pass decides. A compiler gets the calls as the file has them,
/// those of constants, too, which no pass folds; only where sizes depend on their values it gets these, and the model
/// counts as helped.
Judged judge(const Model& model, Backend& backend);

}  // namespace whittle::conformance
