// wrong_rule(): gradients that another judge computes otherwise: whose rule is it?
#pragma once

#include "diagnose/asker.h"

namespace whittle::diagnose {

/// The asker's graph fails at gradients on the backend, which has its own way to compute them. The first call, of the
/// last in the graph to the first, whose gradients by themselves differ, on the values and from tangents of its own;
/// where each is right, the joint graph that puts them together. Nothing where the graph has no gradients.
std::optional<Culprit> wrong_rule(Asker& asker);

}  // namespace whittle::diagnose
