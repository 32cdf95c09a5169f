// Loops that run less often, and inputs cut to what is read of them.
#include <algorithm>
#include <cstring>

#include "expr/bounds.h"
#include "reduce/kernel/edits.h"
#include "reduce/kernel/search.h"

namespace whittle::reduce::kernel {
namespace {

using expr::Expr;
using expr::LoopVar;
using expr::Op;

/// The loops of a kernel, in one order: of every stage its variables, then those of its updates.
std::vector<LoopVar*> loops(KernelCase& kernel) {
    std::vector<LoopVar*> all;
    for (expr::Stage& stage : kernel.group.stages) {
        for (LoopVar& var : stage.vars) all.push_back(&var);
        for (expr::Update& update : stage.updates)
            for (LoopVar& var : update.domain) all.push_back(&var);
    }
    return all;
}

/// The first elements of every dimension, row-major.
Tensor cut(const Tensor& tensor, const Sizes& sizes) {
    return tensor.as_strided(sizes, tensor.strides(), tensor.offset()).clone();
}

/// One more than the largest index, by dimension, that loops can reach; nothing is known: the size.
Sizes reached(expr::Group& group, const expr::Input& input) {
    Sizes reached(input.sizes.size(), 1);
    for (const Root& root : roots(group)) {
        expr::Bounds bounds(root.loops);
        expr::visit(*root.place, [&](const Expr& e) {
            if (e->op != Op::load || e->name != input.name) return;
            for (std::size_t d = 0; d < reached.size(); d++)
                reached[d] = std::max(reached[d], std::min(bounds.of(e->operands[d]).hi + 1, input.sizes[d]));
        });
    }
    return reached;
}

void resize(KernelCase& kernel, std::size_t index, const Sizes& sizes) {
    expr::Input& input = kernel.group.inputs[index];
    input.sizes = sizes;
    input.strides = contiguous_strides(sizes);
    kernel.inputs[index] = cut(kernel.inputs[index], sizes);
}

void cut_inputs(Search& search) {
    for (std::size_t i = 0; i < search.best().group.inputs.size(); i++) {
        KernelCase candidate = search.best();
        const Sizes sizes = reached(candidate.group, candidate.group.inputs[i]);
        if (sizes == candidate.group.inputs[i].sizes) continue;
        resize(candidate, i, sizes);
        search.attempt(std::move(candidate));
    }
}

/// The inputs cut in the same step: what they hold beyond the loops may be what keeps a failure away.
KernelCase with_extent(const KernelCase& kernel, std::size_t loop, std::int64_t extent) {
    KernelCase result = kernel;
    loops(result)[loop]->extent = extent;
    for (std::size_t i = 0; i < result.group.inputs.size(); i++)
        resize(result, i, reached(result.group, result.group.inputs[i]));
    return result;
}

}  // namespace

void smaller_extents(Search& search) {
    KernelCase counted = search.best();
    const std::size_t count = loops(counted).size();
    for (std::size_t i = 0; i < count; i++) {
        std::vector<std::int64_t> extents = {1, 2, 3, 4, 8, 16};
        KernelCase now = search.best();
        const std::int64_t extent = loops(now)[i]->extent;
        extents.push_back(extent / 2);
        for (const std::int64_t smaller : extents)
            if (smaller < extent && smaller > 0 && search.attempt(with_extent(search.best(), i, smaller))) break;
    }
    cut_inputs(search);
}

}  // namespace whittle::reduce::kernel
