// Composites of views, joins and conversions: what torch calls when a shape or a dtype comes from another tensor, and
// splits and stacks by convention. Definitions: https://pytorch.org/docs/stable/torch.html and
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/TensorShape.cpp for corners.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/open_rules.h"
#include "ops/aten/tensor_options.h"
#include "ops/core/geometry.h"
#include "ops/core/pointwise.h"
#include "tensor/shape.h"

namespace whittle::view_forms {
namespace {

using namespace aten;

// --- Sizes of another tensor ---

CallResults decompose_expand_as(const Call& c) { return expand(c.tensor("self"), c.tensor("other").sizes()); }
CallResults decompose_reshape_as(const Call& c) { return reshape(c.tensor("self"), c.tensor("other").sizes()); }
CallResults decompose_view_as(const Call& c) { return view(c.tensor("self"), c.tensor("other").sizes()); }
CallResults decompose_positive(const Call& c) { return alias(c.tensor("self")); }
CallResults decompose_ravel(const Call& c) { return view(contiguous(c.tensor("self")), Ints{-1}); }

CallResults decompose_broadcast_tensors(const Call& c) {
    const Vs tensors = c.tensors("tensors");
    std::vector<OperandInfo> operands;
    for (const V& tensor : tensors) operands.push_back(operand_info(tensor));
    Vs results;
    for (const V& tensor : tensors) results.push_back(expand(tensor, broadcast_all(operands)));
    return results;
}

// --- Transposes ---

CallResults decompose_numpy_t(const Call& c) {
    const V x = c.tensor("self");
    Ints dims(static_cast<std::size_t>(x.rank()));
    std::iota(dims.rbegin(), dims.rend(), 0);
    return permute(x, dims);
}

V of_matrices(const Call& c) {
    const V x = c.tensor("self");
    if (x.rank() < 2)
        throw Error(c.schema().name + ": found a tensor of sizes " + to_string(x.sizes()) +
                    ", expected at least 2 dimensions");
    return x;
}
CallResults decompose_mt(const Call& c) { return transpose(of_matrices(c), -2, -1); }
CallResults decompose_adjoint(const Call& c) {
    const V turned = transpose(of_matrices(c), -2, -1);
    return is_complex(turned.dtype()) ? conj(turned) : turned;
}

// --- Dimensions that a tensor may lack ---

template <int kRank>
V at_least(const V& x) {
    const std::int64_t rank = x.rank();
    if (rank >= kRank) return alias(x);
    if (kRank < 3) return reshape(x, kRank == 1 || rank == 0 ? Ints(kRank, 1) : Ints{1, x.size(0)});
    if (rank == 0) return reshape(x, Ints{1, 1, 1});
    return rank == 1 ? unsqueeze(unsqueeze(x, 0), -1) : unsqueeze(x, -1);
}
template <int kRank>
CallResults decompose_at_least(const Call& c) {
    return at_least<kRank>(c.tensor("self"));
}
template <int kRank>
CallResults decompose_all_at_least(const Call& c) {
    Vs results;
    for (const V& tensor : c.tensors("tensors")) results.push_back(at_least<kRank>(tensor));
    return results;
}

/// Numbers and vectors as columns.
CallResults decompose_column_stack(const Call& c) {
    Vs columns;
    for (const V& x : c.tensors("tensors")) columns.push_back(x.rank() <= 1 ? reshape(x, Ints{x.numel(), 1}) : x);
    return cat(columns, 1);
}
CallResults decompose_dstack(const Call& c) {
    Vs deep;
    for (const V& tensor : c.tensors("tensors")) deep.push_back(at_least<3>(tensor));
    return cat(deep, 2);
}

CallResults decompose_diagflat(const Call& c) {
    return diag(view(contiguous(c.tensor("self")), Ints{-1}), c.integer("offset"));
}
CallResults decompose_linalg_diagonal(const Call& c) {
    return diagonal(c.tensor("A"), c.integer("offset"), c.integer("dim1"), c.integer("dim2"));
}

template <int kDim>
CallResults decompose_flip_one(const Call& c) {
    const V x = c.tensor("self");
    if (x.rank() <= kDim)
        throw Error(c.schema().name + ": found a tensor of sizes " + to_string(x.sizes()) + ", expected at least " +
                    std::to_string(kDim + 1) + " dimensions");
    return flip(x, Ints{kDim});
}

/// All combinations of one element of each vector.
CallResults decompose_cartesian_prod(const Call& c) {
    const Vs tensors = c.tensors("tensors");
    if (tensors.size() == 1) return alias(tensors[0]);
    Vs columns;
    for (const V& grid : meshgrid(tensors, "ij")) columns.push_back(reshape(grid, Ints{-1}));
    return stack(columns, 1);
}

/// Sequences as rows, or as columns, of the longest one's length.
CallResults decompose_pad_sequence(const Call& c) {
    const Vs sequences = c.tensors("sequences");
    std::int64_t longest = 0;
    for (const V& sequence : sequences) {
        if (sequence.rank() == 0) throw Error("pad_sequence: found a 0-d tensor, expected at least 1 dimension");
        longest = std::max(longest, sequence.size(0));
    }
    Vs padded;
    for (const V& sequence : sequences) {
        Ints amounts(static_cast<std::size_t>(2 * sequence.rank()), 0);
        amounts.back() = longest - sequence.size(0);
        padded.push_back(constant_pad_nd(sequence, amounts, c.number("padding_value")));
    }
    return stack(padded, c.boolean("batch_first") ? 0 : 1);
}

CallResults decompose_flatten_dense(const Call& c) {
    Vs flat;
    for (const V& tensor : c.tensors("tensors")) flat.push_back(reshape(contiguous(tensor), Ints{-1}));
    return cat(flat);
}

// --- Splits ---

/// Between the positions, which count from the end where negative and stop at the ends.
Vs pieces_between(const V& x, std::int64_t dim, const Ints& positions) {
    Vs pieces;
    std::int64_t start = 0;
    for (const std::int64_t end : positions) {
        pieces.push_back(slice(x, dim, start, end));
        start = end;
    }
    pieces.push_back(slice(x, dim, start, x.size(dim)));
    return pieces;
}

/// As equal as can be, the longer ones first.
Vs equal_pieces(const Call& c, const V& x, std::int64_t dim, std::int64_t count) {
    if (count <= 0 || count > 1 << 16)
        throw Error(c.schema().name + ": found " + std::to_string(count) + " sections, expected 1 to 65536");
    const std::int64_t least = x.size(dim) / count, longer = x.size(dim) % count;
    Ints ends;
    for (std::int64_t i = 1, end = 0; i < count; ++i) ends.push_back(end += least + (i <= longer));
    return pieces_between(x, dim, ends);
}

std::int64_t split_dim(const Call& c, const V& x) {
    if (x.rank() == 0) throw Error(c.schema().name + ": found a 0-d tensor, expected at least 1 dimension");
    return wrap_dim(c.integer("dim"), x.rank());
}
CallResults decompose_tensor_split_sections(const Call& c) {
    const V x = c.tensor("self");
    return equal_pieces(c, x, split_dim(c, x), c.integer("sections"));
}
CallResults decompose_tensor_split_indices(const Call& c) {
    const V x = c.tensor("self");
    return pieces_between(x, split_dim(c, x), c.integers("indices"));
}

/// hsplit, vsplit and dsplit: along dimension `kDim`; hsplit along the only one of a vector.
template <int kDim>
std::int64_t fixed_split_dim(const Call& c, const V& x) {
    const int least = kDim == 1 ? 1 : kDim + 1;
    if (x.rank() < least)
        throw Error(c.schema().name + ": found a tensor of sizes " + to_string(x.sizes()) + ", expected at least " +
                    std::to_string(least) + " dimensions");
    return x.rank() == 1 ? 0 : kDim;
}
template <int kDim>
CallResults decompose_split_sections(const Call& c) {
    const V x = c.tensor("self");
    const std::int64_t dim = fixed_split_dim<kDim>(c, x), sections = c.integer("sections");
    if (sections <= 0 || x.size(dim) % sections != 0)
        throw Error(c.schema().name + ": found " + std::to_string(sections) + " sections of a dimension of size " +
                    std::to_string(x.size(dim)) + ", expected a divisor of the size");
    return equal_pieces(c, x, dim, sections);
}
template <int kDim>
CallResults decompose_split_indices(const Call& c) {
    const V x = c.tensor("self");
    return pieces_between(x, fixed_split_dim<kDim>(c, x), c.integers("indices"));
}

// --- Conversions ---

/// to() by whatever says the dtype; devices and layouts there is one of.
V converted(const Call& c, DType dtype) {
    const std::optional<std::string> format =
        c.has("memory_format") ? std::optional(c.text("memory_format")) : std::nullopt;
    return to(c.tensor("self"), dtype, c.boolean("non_blocking"), c.boolean("copy"), format);
}
CallResults decompose_to_dtype_layout(const Call& c) {
    check_options(c);
    return converted(c, c.dtype("dtype").value_or(c.tensor("self").dtype()));
}
CallResults decompose_to_device(const Call& c) { return converted(c, c.dtype("dtype").value()); }
CallResults decompose_to_other(const Call& c) { return converted(c, c.tensor("other").dtype()); }

constexpr OpDef kViewForms[] = {
    composite("expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", "expanded to another tensor's sizes", kMoved,
              decompose_expand_as),
    composite("reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", "reshaped to the sizes of another tensor",
              kMoved, decompose_reshape_as),
    composite("view_as(Tensor(a) self, Tensor other) -> Tensor(a)", "a view with the sizes of another tensor", kMoved,
              decompose_view_as),
    composite("positive(Tensor(a) self) -> Tensor(a)", "self, unchanged", kMoved & ~kBool, decompose_positive),
    composite("ravel(Tensor(a) self) -> Tensor(a)", "all dimensions as one", kMoved, decompose_ravel),
    composite("broadcast_tensors(Tensor[] tensors) -> Tensor[]", "all tensors expanded to their common sizes", kMoved,
              decompose_broadcast_tensors),
    composite("numpy_T(Tensor(a) self) -> Tensor(a)", "the dimensions in reverse order", kMoved, decompose_numpy_t),
    composite("mT(Tensor(a) self) -> Tensor(a)", "matrices transposed", kMoved, decompose_mt),
    composite("{mH|adjoint}(Tensor(a) self) -> Tensor(a)", "matrices transposed and conjugated", kMoved,
              decompose_adjoint),
    composite("matrix_H(Tensor(a) self) -> Tensor(a)", "a matrix transposed and conjugated", kMoved, decompose_adjoint),
    composite("atleast_1d(Tensor self) -> Tensor", "a number as a vector", kMoved, decompose_at_least<1>),
    composite("atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", "numbers as vectors", kMoved,
              decompose_all_at_least<1>),
    composite("atleast_2d(Tensor self) -> Tensor", "a vector as a row", kMoved, decompose_at_least<2>),
    composite("atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", "vectors as rows", kMoved,
              decompose_all_at_least<2>),
    composite("atleast_3d(Tensor self) -> Tensor", "a matrix with a new last dimension of size 1", kMoved,
              decompose_at_least<3>),
    composite("atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", "matrices with a new last dimension of size 1",
              kMoved, decompose_all_at_least<3>),
    composite("column_stack(Tensor[] tensors) -> Tensor", "joined side by side, vectors as columns", kMoved,
              decompose_column_stack),
    composite("dstack(Tensor[] tensors) -> Tensor", "joined along the third dimension", kMoved, decompose_dstack),
    composite("cartesian_prod(Tensor[] tensors) -> Tensor", "all combinations of elements", kAnyDType,
              decompose_cartesian_prod),
    composite("pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0) -> Tensor",
              "sequences padded to one length", kFloating, decompose_pad_sequence),
    composite("flatten_dense_tensors(Tensor[] tensors) -> Tensor", "all elements, one tensor after the other", kMoved,
              decompose_flatten_dense),
    composite("diagflat(Tensor self, int offset=0) -> Tensor", "all elements on a diagonal", kAnyDType | kComplex,
              decompose_diagflat),
    composite("linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
              "the diagonals of matrices", kMoved, decompose_linalg_diagonal),
    composite("fliplr(Tensor self) -> Tensor", "the second dimension reversed", kMoved, decompose_flip_one<1>),
    composite("flipud(Tensor self) -> Tensor", "the first dimension reversed", kMoved, decompose_flip_one<0>),
    composite("tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
              "pieces of equal size, or sizes that differ by 1", kMoved, decompose_tensor_split_sections),
    composite("tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
              "the pieces between positions", kMoved, decompose_tensor_split_indices),
    composite("hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", "equal pieces side by side", kMoved,
              decompose_split_sections<1>),
    composite("hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", "pieces side by side", kMoved,
              decompose_split_indices<1>),
    composite("vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", "equal pieces one below the other",
              kMoved, decompose_split_sections<0>),
    composite("vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", "pieces one below the other", kMoved,
              decompose_split_indices<0>),
    composite("dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", "equal pieces one behind the other",
              kMoved, decompose_split_sections<2>),
    composite("dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", "pieces one behind the other", kMoved,
              decompose_split_indices<2>),
    composite(
        "to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
        "pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
        "converted; self if no conversion is necessary", kMoved, decompose_to_dtype_layout,
        {.ask = aten_open::converted}),
    composite("to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, "
              "MemoryFormat? memory_format=None) -> Tensor(a)",
              "converted; self if no conversion is necessary", kMoved, decompose_to_device,
              {.ask = aten_open::converted}),
    composite("to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? "
              "memory_format=None) -> Tensor(a)",
              "converted to another tensor's dtype; self if it has this dtype already", kMoved, decompose_to_other,
              {.ask = aten_open::converted_as}),
};

}  // namespace
}  // namespace whittle::view_forms

namespace whittle {

std::span<const OpDef> view_form_ops() { return view_forms::kViewForms; }

}  // namespace whittle
