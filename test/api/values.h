// The numbers of a tensor, as tests compare them.
#pragma once

#include <whittle/whittle.h>

#include <vector>

namespace whittle::test {

using Floats = std::vector<float>;

inline Floats values(const Tensor& t) { return t.to_vector<float>(); }

}  // namespace whittle::test
