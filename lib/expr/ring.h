// Ring arithmetic: a group whose floats are unsigned integers, for verdicts without a tolerance. Sums and products are
// those modulo 2^32, so that their order and grouping change no bit, and a wrong index, bound or predicate, or a race,
// changes nearly every bit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "expr/interpret.h"

namespace whittle::expr {

struct RingForm {
    /// Floats of the original are unsigned integers of their width. A quotient is a product with the inverse of the
    /// divisor, whose last bit is set for that; other functions are fixed ones that map no two numbers to one. Names,
    /// loops and indices are those of the original, so that its schedules fit.
    Group group = {};
    /// What has no meaning in a ring, comparisons of floats and casts of floats to integers, is given: the inputs
    /// behind those of the original, one for each of these values of the original, by its loops.
    std::vector<Watched> choices = {};
};

/// Nothing is in the way but choices that are too many to keep: then why, in words.
std::variant<RingForm, std::string> ring_form(const Group& group);

/// The inputs of the form: random ones for floats, with the strides that the group declares; `inputs` for the others;
/// and the choices as the original makes them on `inputs`.
std::vector<Tensor> ring_inputs(const RingForm& form, const Group& group, std::span<const Tensor> inputs,
                                std::uint64_t seed);

}  // namespace whittle::expr
