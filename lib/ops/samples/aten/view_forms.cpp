// Samples of lib/ops/aten/view_forms.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Sample of_two(DType dtype, const std::string& label, const Sizes& sizes, const Sizes& other) {
    return call_of(label, {mixed(dtype, sizes), mixed(dtype, other)});
}
Samples expanded_as(DType dtype) {
    return {of_two(dtype, "middle", {2, 1, 3}, {2, 4, 3}), of_two(dtype, "number", {}, {2, 3})};
}
Samples reshaped_as(DType dtype) {
    return {of_two(dtype, "matrix", {2, 6}, {3, 4}), of_two(dtype, "same", {2, 3}, {2, 3}),
            of_two(dtype, "number", {1}, {})};
}

/// op([tensors]).
Sample of_list(DType dtype, const std::string& label, const std::vector<Sizes>& sizes) {
    Sample sample{label, {}, {}};
    ArgList list;
    for (const Sizes& one : sizes) {
        list.push_back(t(static_cast<int>(sample.tensors.size())));
        sample.tensors.push_back(mixed(dtype, one));
    }
    sample.args = {Arg(list)};  // {list} is the list itself to some compilers
    return sample;
}

Samples some_matrices(DType dtype) { return {once(dtype, "matrix", {3, 5}), once(dtype, "batch", {2, 3, 4})}; }
Samples ranks(DType dtype) {
    return {once(dtype, "0-d", {}), once(dtype, "vector", {3}), once(dtype, "matrix", {2, 3}),
            once(dtype, "cube", {2, 3, 2})};
}
Samples kinds_of_to(DType dtype) {
    const auto to = [&](const std::string& label, DType wanted) {
        return call_of(label, {mixed(dtype, {2, 3})}, {{"dtype", Arg(wanted)}});
    };
    return {once(dtype, "nothing", {2, 3}), to("to itself", dtype), to("to bool", DType::boolean)};
}

Samples ravel_samples(DType dtype) { return moved(dtype, "matrix", {2, 3}); }
Samples matrix_h_samples(DType dtype) { return {once(dtype, "matrix", {3, 5})}; }
Samples atleast_1d_sequence_samples(DType dtype) { return {of_list(dtype, "ranks", {{}, {3}, {2, 3}, {2, 3, 2}})}; }
Samples column_stack_samples(DType dtype) { return {of_list(dtype, "vector and matrix", {{3}, {3, 2}})}; }
Samples cartesian_prod_samples(DType dtype) {
    return {of_list(dtype, "two", {{2}, {3}}), of_list(dtype, "one", {{3}})};
}
Samples flatten_dense_tensors_samples(DType dtype) { return {of_list(dtype, "two", {{2, 2}, {3}})}; }
Samples diagflat_samples(DType dtype) { return {once(dtype, "matrix", {2, 2}), once(dtype, "below", {2}, {-1})}; }
Samples fliplr_samples(DType dtype) { return moved(dtype, "matrix", {2, 3}); }
Samples hsplit_int_samples(DType dtype) { return {once(dtype, "halves", {4, 4}, {2})}; }
Samples hsplit_array_samples(DType dtype) { return {once(dtype, "two", {4, 5}, {Arg::ints({1, 3})})}; }
Samples dsplit_int_samples(DType dtype) { return {once(dtype, "halves", {2, 3, 4}, {2})}; }
Samples dsplit_array_samples(DType dtype) { return {once(dtype, "two", {2, 1, 5}, {Arg::ints({1, 3})})}; }

}  // namespace

Table view_form_table() {
    return {
        {{"aten.expand_as.default"}, expanded_as},
        {{"aten.reshape_as.default", "aten.view_as.default"}, reshaped_as},
        {{"aten.ravel.default", "aten.positive.default"}, ravel_samples},
        {{"aten.numpy_T.default"}, ranks},
        {{"aten.mT.default", "aten.mH.default", "aten.adjoint.default", "aten.linalg_diagonal.default"}, some_matrices},
        {{"aten.matrix_H.default"}, matrix_h_samples},
        {{"aten.atleast_1d.default", "aten.atleast_2d.default", "aten.atleast_3d.default"}, ranks},
        {{"aten.broadcast_tensors.default"},
         [](DType dtype) {
             return Samples{of_list(dtype, "two", {{2, 1}, {3}}), of_list(dtype, "number", {{}, {2}})};
         }},
        {{"aten.atleast_1d.Sequence", "aten.atleast_2d.Sequence", "aten.atleast_3d.Sequence"},
         atleast_1d_sequence_samples},
        {{"aten.column_stack.default"}, column_stack_samples},
        {{"aten.dstack.default"},
         [](DType dtype) {
             return Samples{of_list(dtype, "matrices", {{2, 3}, {2, 3}}), of_list(dtype, "vectors", {{3}, {3}})};
         }},
        {{"aten.cartesian_prod.default"}, cartesian_prod_samples},
        {{"aten.flatten_dense_tensors.default"}, flatten_dense_tensors_samples},
        {{"aten.pad_sequence.default"},
         [](DType dtype) {
             Sample rows = of_list(dtype, "rows", {{3, 2}, {1, 2}});
             rows.args.insert(rows.args.end(), {true, 0.5});
             return Samples{of_list(dtype, "columns", {{3}, {2}}), rows};
         }},
        {{"aten.diagflat.default"}, diagflat_samples},
        {{"aten.fliplr.default", "aten.flipud.default"}, fliplr_samples},
        {{"aten.tensor_split.sections"},
         [](DType dtype) {
             return Samples{once(dtype, "unequal", {7, 2}, {3}), once(dtype, "more than there are", {2, 3}, {3, 0}),
                            once(dtype, "columns", {2, 5}, {2, -1})};
         }},
        {{"aten.tensor_split.indices"},
         [](DType dtype) {
             return Samples{once(dtype, "two", {7, 2}, {Arg::ints({1, 5})}),
                            once(dtype, "beyond and back", {4}, {Arg::ints({9, -2})})};
         }},
        {{"aten.hsplit.int", "aten.vsplit.int"}, hsplit_int_samples},
        {{"aten.hsplit.array", "aten.vsplit.array"}, hsplit_array_samples},
        {{"aten.dsplit.int"}, dsplit_int_samples},
        {{"aten.dsplit.array"}, dsplit_array_samples},
        {{"aten.to.dtype_layout"}, kinds_of_to},
        {{"aten.to.device"},
         [](DType dtype) {
             return Samples{once(dtype, "to itself", {2, 3}, {"cpu", dtype}),
                            once(dtype, "to bool", {2, 3}, {"cpu", DType::boolean})};
         }},
        {{"aten.to.other"},
         [](DType dtype) {
             return Samples{of_two(dtype, "to itself", {2, 3}, {1}),
                            call_of("to bool", {mixed(dtype, {2, 3}), Tensor(DType::boolean, {1})})};
         }},
    };
}

}  // namespace whittle::samples
