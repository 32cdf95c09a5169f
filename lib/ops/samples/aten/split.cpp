// Samples of lib/ops/aten/split.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {

namespace {

Samples unsafe_split_tensor_samples(DType dtype) { return moved(dtype, "uneven", {2, 7}, {3, 1}); }
Samples unsafe_split_with_sizes_samples(DType dtype) { return moved(dtype, "three", {6, 2}, {Arg::ints({1, 3, 2})}); }
Samples unsafe_chunk_samples(DType dtype) { return moved(dtype, "even", {3, 8}, {4, 1}); }

}  // namespace

Table split_table() {
    return {{{"aten.split.Tensor"},
             [](DType dtype) {
                 return moved(dtype, "uneven", {2, 7}, {3, 1}) + Samples{once(dtype, "one piece", {4}, {9}),
                                                                         once(dtype, "empty", {0, 2}, {0}),
                                                                         once(dtype, "even", {4, 2}, {2, -2})};
             }},
            {{"aten.split_with_sizes.default"},
             [](DType dtype) {
                 return moved(dtype, "three", {6, 2}, {Arg::ints({1, 3, 2})}) +
                        Samples{once(dtype, "an empty one", {2, 4}, {Arg::ints({4, 0}), -1})};
             }},
            {{"aten.chunk.default"},
             [](DType dtype) {
                 return moved(dtype, "even", {3, 8}, {4, 1}) +
                        Samples{once(dtype, "fewer than asked", {5}, {4}), once(dtype, "empty", {0, 2}, {3})};
             }},
            {{"aten.unsafe_split.Tensor"}, unsafe_split_tensor_samples},
            {{"aten.unsafe_split_with_sizes.default"}, unsafe_split_with_sizes_samples},
            {{"aten.unsafe_chunk.default"}, unsafe_chunk_samples},
            {{"aten.unbind.int"},
             [](DType dtype) {
                 return moved(dtype, "columns", {2, 3}, {-1}) +
                        Samples{once(dtype, "to 0-d", {3}), once(dtype, "empty ones", {2, 0})};
             }},
            {{"aten.unfold.default"},
             [](DType dtype) {
                 return moved(dtype, "overlapping", {2, 7}, {1, 3, 2}) +
                        Samples{once(dtype, "apart", {7, 2}, {0, 2, 3}), once(dtype, "0-d", {}, {0, 1, 1}),
                                once(dtype, "of size 0", {3}, {0, 0, 1})};
             }},
            {{"aten.diagonal.default"}, [](DType dtype) {
                 return moved(dtype, "main", {3, 4}) +
                        Samples{once(dtype, "above", {3, 4}, {2}), once(dtype, "below", {3, 4, 2}, {-1, 0, 1}),
                                once(dtype, "of a batch", {2, 3, 3}, {1, -1, 1}), once(dtype, "outside", {2, 2}, {5}),
                                once(dtype, "empty", {0, 3})};
             }}};
}

}  // namespace whittle::samples
