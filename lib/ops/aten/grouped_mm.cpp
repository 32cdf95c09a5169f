// Products of matrices whose rows, columns or summed dimension are cut into groups: what mixtures of experts compute.
// https://pytorch.org/docs/stable/generated/torch.nn.functional.grouped_mm.html
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "tensor/shape.h"

namespace whittle::grouped_products {
namespace {

using namespace aten;

/// The group of each of `size` positions, where `ends` has the first position behind each group; the number of groups
/// for positions behind the last one.
V groups_of(const V& ends, std::int64_t size) {
    return searchsorted(as(ends, DType::i64), arange(*ends.builder, size, DType::i64), false, true);
}

/// Of products [G, M, N] for each position along `dim`, 1 or 2, that of its group; 0 behind the last group.
V of_own_group(const V& products, const V& ends, std::int64_t dim) {
    const std::int64_t count = products.size(0);
    const V group = groups_of(ends, products.size(dim));
    const Ints line = dim == 1 ? Ints{1, -1, 1} : Ints{1, 1, -1};
    const V index = expand(reshape(clamp_max(group, count - 1), line), Ints{1, products.size(1), products.size(2)});
    const V own = squeeze(gather(products, 0, index), 0);
    return keep(reshape(lt(group, count), Ints(line.begin() + 1, line.end())), own);
}

/// `ends` cut the rows of a matrix and a batch of matrices, the columns of a batch and a matrix, or what two matrices
/// sum over.
V grouped_product(const Call& c, const V& x, const V& y, const OptionalV& ends) {
    const bool x_batch = x.rank() == 3, y_batch = y.rank() == 3;
    if ((!x_batch && x.rank() != 2) || (!y_batch && y.rank() != 2))
        throw Error(c.schema().name + ": found tensors of " + std::to_string(x.rank()) + " and " +
                    std::to_string(y.rank()) + " dimensions, expected 2 or 3");
    if (x_batch && y_batch) return bmm(x, y);
    if (!ends)
        throw Error(c.schema().name +
                    ": found no offsets, expected an offset for each group of a tensor of 2 dimensions");
    const std::int64_t count = ends->rank() == 1 ? ends->size(0) : 0;
    if (count < 1 || (x_batch && x.size(0) != count) || (y_batch && y.size(0) != count))
        throw Error(c.schema().name + ": found offsets of sizes " + to_string(ends->sizes()) + ", expected [" +
                    (x_batch   ? std::to_string(x.size(0))
                     : y_batch ? std::to_string(y.size(0))
                               : std::string("GROUPS")) +
                    "], one offset for each group");
    if (x_batch) return of_own_group(matmul(x, y), *ends, 2);
    if (y_batch) return of_own_group(matmul(x, y), *ends, 1);
    const V group = groups_of(*ends, x.size(1));
    const V member = eq(unsqueeze(group, 0), unsqueeze(arange(c.builder(), count, DType::i64), 1));
    return matmul(keep(unsqueeze(member, 1), unsqueeze(x, 0)), y);
}

CallResults decompose_grouped_mm(const Call& c) {
    if (c.has("bias")) throw Error("_grouped_mm: found a bias, which PyTorch does not support");
    const V x = c.tensor("self");
    return as(grouped_product(c, x, c.tensor("mat2"), c.optional_tensor("offs")),
              c.dtype("out_dtype").value_or(x.dtype()));
}
CallResults decompose_fallback(const Call& c) {
    return grouped_product(c, c.tensor("input"), c.tensor("weight"), c.tensor("offs"));
}

constexpr OpDef kGrouped[] = {
    {.doc = "products of groups of rows, columns or terms: "
            "https://pytorch.org/docs/stable/generated/torch.nn.functional.grouped_mm.html",
     .schema =
         "_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) "
         "-> Tensor",
     .dtypes = kFloating,
     .decompose = decompose_grouped_mm},
};

constexpr OpDef kTransformers[] = {
    {.doc = "products of groups of rows by one matrix each: "
            "https://github.com/huggingface/transformers/blob/main/src/transformers/integrations/moe.py",
     .schema = "grouped_mm_fallback.default(Tensor input, Tensor weight, Tensor offs) -> Tensor",
     .dtypes = kFloating,
     .decompose = decompose_fallback},
};

}  // namespace
}  // namespace whittle::grouped_products

namespace whittle {

std::span<const OpDef> grouped_mm_ops() { return grouped_products::kGrouped; }
std::span<const OpDef> transformers_ops() { return grouped_products::kTransformers; }

}  // namespace whittle
