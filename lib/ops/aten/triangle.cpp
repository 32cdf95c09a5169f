// The parts of matrices below and above a diagonal, and the positions of their elements.
#include <algorithm>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/tensor_options.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"

namespace whittle {
namespace {

using namespace aten;

using expr::Expr;

/// Whether element (i, j) is in the part: j - i <= diagonal below, >= above.
struct Lower {
    static bool keeps(std::int64_t distance, std::int64_t diagonal) { return distance <= diagonal; }
    static Expr keeps(const Expr& distance, const Expr& diagonal) { return distance <= diagonal; }
};
struct Upper {
    static bool keeps(std::int64_t distance, std::int64_t diagonal) { return distance >= diagonal; }
    static Expr keeps(const Expr& distance, const Expr& diagonal) { return distance >= diagonal; }
};

/// The diagonal, within what makes a difference to matrices of these sizes.
std::int64_t diagonal_of(const AnyArguments auto& a, const Sizes& sizes) {
    if (sizes.size() < 2)
        throw Error(a.schema().name + ": found sizes " + to_string(sizes) + ", expected at least 2 dimensions");
    return std::clamp(a.integer("diagonal"), -sizes[sizes.size() - 2] - 1, sizes.back() + 1);
}

template <class Rule>
constexpr OpDef triangle_op(std::string_view schema, std::string_view doc, GradientRule grad) {
    OpDef def{.doc = doc, .schema = schema, .dtypes = kAnyDType | kComplex, .grad = grad};
    def.infer = [](const Arguments<ValueMeta>& a) -> std::vector<ValueMeta> {
        const ValueMeta self = a.tensor("self");
        diagonal_of(a, self.sizes);
        return {ValueMeta::contiguous(self.dtype, self.sizes)};
    };
    def.eval = [](const Arguments<Tensor>& a) -> std::vector<Tensor> {
        const Tensor self = a.tensor("self");
        const std::int64_t diagonal = diagonal_of(a, self.sizes());
        Tensor result = self.clone().with_requires_grad(false);
        const Tensor zero(self.dtype(), {});
        for_each_index(self.sizes(), [&](const std::vector<std::int64_t>& i) {
            if (!Rule::keeps(i[i.size() - 1] - i[i.size() - 2], diagonal))
                copy_into(result, {}, element_offset(i, result.strides()), zero);
        });
        return {result};
    };
    def.lower = [](expr::GroupBuilder&, const Arguments<expr::Value>& a) -> std::vector<expr::Value> {
        const expr::Value self = a.tensor("self");
        const Expr diagonal = expr::index(diagonal_of(a, self.sizes()));
        return {expr::Value(self.dtype(), self.sizes(), [self, diagonal](const expr::Index& i) {
            const Expr keeps = Rule::keeps(i[i.size() - 1] - i[i.size() - 2], diagonal);
            return expr::select(keeps, self(i), expr::constant(self.dtype(), Scalar(0)));
        })};
    };
    def.bound = kBoundExact;
    return def;
}

/// Row and column of the part's elements in row-major order, as a constant.
template <class Rule>
CallResults decompose_indices(const Call& c) {
    check_options(c);
    const std::int64_t rows = c.integer("row"), columns = c.integer("col");
    const DType dtype = c.dtype("dtype").value_or(DType::i64);
    constexpr std::int64_t kMost = 1 << 26;
    if (std::min(rows, columns) < 0 || std::max(rows, columns) > kMost || rows * columns > kMost)
        throw Error(c.schema().name + ": found " + std::to_string(rows) + " rows and " + std::to_string(columns) +
                    " columns, expected at least 0 rows, at least 0 columns, and at most 2^26 elements");
    const std::int64_t offset = std::clamp(c.integer("offset"), -rows - 1, columns + 1);
    std::vector<std::int64_t> row, column;
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
            if (!Rule::keeps(j - i, offset)) continue;
            row.push_back(i);
            column.push_back(j);
        }
    const auto count = static_cast<std::int64_t>(row.size());
    row.insert(row.end(), column.begin(), column.end());
    return c.constant(Tensor::of(row, {2, count}).to(dtype), "indices");
}

constexpr DTypeSet kIndexDTypes = set_of(DType::i64) | set_of(DType::i32);

V tril_grad(const OfSelf& r) { return tril(r.g, r.call.integer("diagonal")); }
V triu_grad(const OfSelf& r) { return triu(r.g, r.call.integer("diagonal")); }

}  // namespace

std::span<const OpDef> triangle_ops() {
    static const OpDef ops[] = {
        triangle_op<Lower>("tril(Tensor self, int diagonal=0) -> Tensor", "zeros above a diagonal", tril_grad),
        triangle_op<Upper>("triu(Tensor self, int diagonal=0) -> Tensor", "zeros below a diagonal", triu_grad),
        composite("tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, "
                  "Device? device=None, bool? pin_memory=None) -> Tensor",
                  "rows and columns on and below a diagonal", kIndexDTypes, decompose_indices<Lower>, no_gradient),
        composite("triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, "
                  "Device? device=None, bool? pin_memory=None) -> Tensor",
                  "rows and columns on and above a diagonal", kIndexDTypes, decompose_indices<Upper>, no_gradient),
    };
    return ops;
}

}  // namespace whittle
