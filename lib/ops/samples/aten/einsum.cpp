// Samples of lib/ops/aten/einsum.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples sample_einsum(DType dtype) {
    Samples result;
    const auto add = [&](const std::string& equation, const std::vector<Sizes>& sizes) {
        Sample sample{equation, {}, {equation}};
        ArgList list;
        for (std::size_t i = 0; i < sizes.size(); i++) {
            const Tensor operand = random(dtype, sizes[i], i + 1);
            sample.tensors.push_back(i % 2 ? transposed(operand) : operand);
            list.push_back(t(static_cast<int>(i)));
        }
        if (sizes.size() == 2 && sizes[0] != sizes[1])
            sample.label += " of " + to_string(sizes[0]) + to_string(sizes[1]);
        sample.args.push_back(list);
        result.push_back(std::move(sample));
    };
    add("ij,jk->ik", {{2, 3}, {3, 4}});
    add("ij,jk", {{2, 3}, {3, 4}});
    add("ji,jk->ki", {{3, 2}, {3, 4}});
    add("bij,bjk->bik", {{2, 3, 4}, {2, 4, 2}});
    add("bhld, bhsd -> bhls", {{2, 2, 3, 4}, {2, 2, 5, 4}});
    add("i,i->", {{4}, {4}});
    add("i,i", {{4}, {4}});
    add("i,j->ij", {{2}, {3}});
    add("i,j->ji", {{2}, {3}});
    add("ij,ij->ij", {{2, 3}, {2, 3}});
    add("ij->ji", {{2, 3}});
    add("ij->j", {{2, 3}});
    add("ij->", {{2, 3}});
    add("ba", {{2, 3}});
    add("ii->i", {{3, 3}});
    add("ii", {{3, 3}});
    add("iij,jkk->ik", {{2, 2, 3}, {3, 2, 2}});
    add("...ij,...jk->...ik", {{2, 1, 2, 3}, {2, 3, 2}});
    add("i...,...i", {{3, 2}, {2, 3}});
    add("...,...", {{2, 3}, {3}});
    add("...i->...", {{2, 2, 3}});
    add("ij,j->ij", {{2, 1}, {3}});
    add("ij,jk->ik", {{2, 1}, {3, 4}});
    add("ij,jk,kl->il", {{2, 3}, {3, 2}, {2, 4}});
    add("ab,b,ac->ac", {{2, 3}, {3}, {2, 2}});
    add("ij,jk->ik", {{2, 0}, {0, 3}});
    add("ij,jk->ik", {{0, 3}, {3, 2}});
    add(",i->i", {{}, {3}});
    add("->", {{}});
    return result;
}

}  // namespace

Table einsum_table() { return {{{"aten.einsum.default"}, sample_einsum}}; }

}  // namespace whittle::samples
