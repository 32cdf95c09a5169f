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
    random,       ///< dtypes and sizes are right; the values are drawn, and no two runtimes draw the same
    unsupported,  ///< refused by name, when the model was read or compiled
    wrong,        ///< other results
    failed        ///< an exception, a crash, too slow …
};
inline constexpr Verdict kVerdicts[] = {Verdict::pass, Verdict::random, Verdict::unsupported, Verdict::wrong,
                                        Verdict::failed};

/// "pass" "random" "unsupported" "wrong" "failed"
std::string_view name(Verdict verdict);

struct Judged {
    Verdict verdict = Verdict::pass;
    std::string message = {};  ///< why it is no pass
    /// What compilations do with the model: calls as the file has them, how many of these the reference computed while
    /// the model was read or compiled since constants (or inputs that decide sizes) alone decide them, and kernels.
    std::size_t calls = 0, folded = 0, kernels = 0;
};

/// All data sets of the model; the first that does not pass decides. `planned`: count folded calls and kernels, too.
Judged judge(const Model& model, Backend& backend, bool planned);

}  // namespace whittle::conformance
