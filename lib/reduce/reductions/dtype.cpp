// dtype: f32 in the place of other floating-point types, of all leaves and arguments of a dtype or of one leaf.
// Integers stay: they may be indices or counts, and no compiler has to take those in f32.
#include <set>

#include "reduce/reductions/reduction.h"

namespace whittle::reduce {
namespace {

void to_f32(Draft& draft, NodeId leaf) {
    if (draft.data(leaf).dtype() != DType::f32) draft.set_data(leaf, draft.data(leaf).to(DType::f32));
}

/// DType arguments of all calls.
void arguments_to_f32(Draft& draft, DType from) {
    for (const NodeId id : draft.from().calls()) {
        const auto change = [&](Arg& arg) {
            if (const auto* dtype = std::get_if<DType>(&arg.value); dtype && *dtype == from) arg = Arg(DType::f32);
        };
        for (Arg& arg : draft.node(id).args) change(arg);
        for (auto& [key, arg] : draft.node(id).kwargs) change(arg);
    }
}

}  // namespace

std::vector<Edit> dtype_edits(const Case& from) {
    std::vector<Edit> edits;
    std::vector<NodeId> leaves;
    std::set<DType> floating;
    for (const NodeId leaf : leaves_of(from.graph)) {
        const DType dtype = from.graph.node({leaf}).meta().dtype;
        if (dtype == DType::f32 || !is_floating(dtype)) continue;
        leaves.push_back(leaf);
        floating.insert(dtype);
    }
    for (const DType dtype : floating)
        edits.push_back({"all " + std::string(name(dtype)) + " is f32", [leaves, dtype](Draft& draft, std::int64_t) {
                             for (const NodeId leaf : leaves)
                                 if (draft.from().node({leaf}).meta().dtype == dtype) to_f32(draft, leaf);
                             arguments_to_f32(draft, dtype);
                         }});
    for (const NodeId leaf : leaves)
        edits.push_back({"%" + from.graph.node({leaf}).name + " is f32",
                         [leaf](Draft& draft, std::int64_t) { to_f32(draft, leaf); }});
    return edits;
}

}  // namespace whittle::reduce
