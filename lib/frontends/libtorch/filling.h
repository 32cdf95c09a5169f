// filling_steps(): the ops that give new memory its first contents, numbers of the program: what torch::tensor({1, 2})
// and a fill of empty() are made of. They compute nothing that a graph could: what they make is an input.
#pragma once

#include <vector>

#include "frontends/libtorch/steps.h"

namespace whittle::libtorch {

/// Per step: it makes memory without contents, writes a number to it, or shows it to one that does, before anything
/// reads it; and nothing but numbers is written there until then.
std::vector<bool> filling_steps(const EventFile& file, const std::vector<Step>& steps);

/// Tells the steps that are Step::unwritten.
void mark_unwritten(std::vector<Step>& steps);
/// Tells the allocations that are Step::blank: the empty() of 1 - x, which is empty_like(x).fill_(1).sub_(x). Asks
/// whether steps are unwritten.
void mark_blank(std::vector<Step>& steps);

}  // namespace whittle::libtorch
