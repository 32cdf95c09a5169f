// nested: what an op with nested graphs comes to in this case, in its place: the branch that is taken, or one
// iteration.
#include "reduce/reductions/reduction.h"

namespace whittle::reduce {

std::vector<Edit> nested_edits(const Case&) { return {}; }

}  // namespace whittle::reduce
