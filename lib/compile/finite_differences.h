// Gradients held against differences of the outputs, where no other autograd is at hand: in f64, along a few directions
// of all that has a gradient. https://en.wikipedia.org/wiki/Finite_difference
#pragma once

#include <optional>
#include <span>
#include <string>

#include "graph/graph.h"
#include "graph/joint_forward.h"

namespace whittle::program {

/// How fast sum(tangent · output) changes along a direction of one tensor.
struct Slope {
    std::string of;            ///< its name, in JointShape::gradients
    double by_rules = 0;       ///< gradient · direction
    double by_outputs = 0;     ///< a central difference
    std::string text() const;  ///< what both say
};

struct Slopes {
    std::optional<Slope> wrong = {};
    std::string undecided = {};  ///< why nobody can say: an op has no f64 form, or no direction is smooth
};

/// Both in f64. Directions are drawn, the same for the same graph. What gradients do not go through (detach,
/// comparisons) is held where it is; a direction along which the outputs have a kink or a jump says nothing. Of
/// `joint`, on inputs and tangents. Not judged: what draws random numbers, and ops whose gradient is the program's own.
Slopes check_slopes(const Graph& joint, const JointShape& shape, std::span<const Tensor> inputs);

}  // namespace whittle::program
