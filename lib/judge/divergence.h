// First divergence: every value that a graph computes, on a suspect backend and on the reference, side by side, with
// the same computation in f64 as the judge of who is nearer to the truth. Tells rounding noise from bugs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/outcome.h"
#include "judge/rounding.h"

namespace whittle {

/// A result that differs, or not: how it differs.
enum class Closeness {
    close,   ///< within the accuracy
    coarse,  ///< within it, but further from f64 than rounding explains: what is made of it may differ
    noise,   ///< beyond it, but no further from f64 than rounding explains
    differs  ///< beyond what rounding explains, or nobody can say
};
std::string_view name(Closeness closeness);

/// Whether `got` is as good a result in its dtype as `reference`: NaN and infinities at the same places, and an error
/// against `exact` of at most kNoiseFactor times the reference's own or, where that happens to be exact, times what
/// rounding may do: one unit in the last place of the largest value, or the largest sway (judge/rounding.h). Where the
/// sway is known, no element may be further off than rounding explains of that element: a sum of n terms in any order
/// has an error below about n eps sum|x|, of the order of sqrt(n) eps where signs are random (Higham 2002, Accuracy and
/// Stability of Numerical Algorithms, 4.2), so that is kNoiseFactor sqrt(n) times its sway.
bool is_noise(const Tensor& got, const Tensor& reference, const Tensor& exact, const Rounding& rounding = {});
inline constexpr double kNoiseFactor = 10;

struct ValueDivergence {
    std::string node = {}, op = {};  ///< without '%'
    int result = 0;                  ///< of the node
    int results = 1;                 ///< that the node has
    ValueMeta meta = {};
    Closeness closeness = Closeness::close;
    ErrorFigures error = {};                                   ///< of the suspect's against the reference's
    std::optional<double> own_rmse = {}, reference_rmse = {};  ///< against f64, when it could be computed
    /// NaN, or infinities, appear here first: no operand has any of the kind.
    struct Birth {
        bool nan = false, infinity = false;
        explicit operator bool() const { return nan || infinity; }
    };
    Birth born = {}, born_in_reference = {};  ///< of the suspect's values, of the reference's
    std::vector<StackFrame> stack = {};       ///< the user's, innermost first
    std::string module_path = {};
};

struct Divergence {
    std::vector<ValueDivergence> values = {};  ///< in order of the graph; empty when the exposed graph fails
    bool joint = false;                        ///< the values are those of the joint graph: gradients are wrong
    std::string only_forward = {};             ///< gradients are wrong; why the values are not those of the joint graph
    std::optional<std::size_t> first = {};     ///< position of the first that differs, or is coarse before one does
    Outcome plain = {};                        ///< of the graph as it is, judged
    std::string failure = {};                  ///< why there are no values
    std::string no_exact = {};                 ///< why nothing could be computed in f64

    /// values[*first]; null where none differs.
    const ValueDivergence* first_wrong() const { return first ? &values[*first] : nullptr; }
};

/// Runs `graph` as it is, then with every value exposed, which keeps a compiler from fusing: a bug of fusion shows in
/// `plain` only. Where gradients alone are wrong, the values are those of the joint graph, forward and backward, if the
/// backend computes gradients by it and can run it with every value exposed. Whether values are coarse is asked only
/// where one differs. Throws Error when the reference cannot run the graph.
Divergence diverge(const Graph& graph, std::span<const Tensor> inputs, Backend& suspect, const BackendOptions& options,
                   const Limits& limits, const Accuracy& accuracy);

/// "noise" or "differs" of what a suspect computed: the worst of its outputs; nothing when no output differs.
std::optional<Closeness> closeness_of(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> got,
                                      const Accuracy& accuracy);

}  // namespace whittle
