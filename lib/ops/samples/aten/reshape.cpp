// Samples of lib/ops/aten/reshape.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {

Table reshape_table() {
    return {{{"aten.view.default"},
             [](DType dtype) {
                 Sample channels = once(dtype, "of a permuted tensor", {}, {Arg::ints({2, 2, 3, 5})});
                 channels.tensors = {transposed(mixed(dtype, {5, 3, 4})).as_strided({4, 3, 5}, {1, 4, 12}, 0)};
                 return Samples{
                     channels,
                     once(dtype, "merge", {2, 3, 4}, {Arg::ints({6, 4})}),
                     once(dtype, "split", {6, 4}, {Arg::ints({2, 3, 2, 2})}),
                     once(dtype, "unaligned", {4, 6}, {Arg::ints({3, 8})}),
                     once(dtype, "with -1", {4, 6}, {Arg::ints({2, -1, 3})}),
                     once(dtype, "to 1s", {2, 3}, {Arg::ints({1, 2, 1, 3, 1})}),
                     once(dtype, "from 0-d", {}, {Arg::ints({1, 1})}),
                     once(dtype, "to 0-d", {1, 1}, {Arg::ints({})}),
                     once(dtype, "empty", {2, 0, 3}, {Arg::ints({0, 5})}),
                 };
             }},
            {{"aten.reshape.default"},
             [](DType dtype) {
                 return moved(dtype, "merge", {2, 3, 4}, {Arg::ints({6, 4})}) +
                        moved(dtype, "unaligned", {4, 6}, {Arg::ints({3, -1})}) +
                        Samples{once(dtype, "same", {2, 3}, {Arg::ints({2, 3})}),
                                once(dtype, "from 0-d", {}, {Arg::ints({1})}),
                                once(dtype, "empty", {0, 3}, {Arg::ints({3, -1})})};
             }},
            {{"aten._unsafe_view.default"},
             [](DType dtype) {
                 return Samples{once(dtype, "split", {6, 4}, {Arg::ints({2, 3, 4})}),
                                once(dtype, "empty", {0, 4}, {Arg::ints({0, 2, 2})})};
             }},
            {{"aten.flatten.using_ints"},
             [](DType dtype) {
                 return moved(dtype, "all", {2, 3, 4}) + moved(dtype, "from 1", {2, 3, 4}, {1}) +
                        Samples{once(dtype, "one dim", {2, 3}, {1, 1}), once(dtype, "0-d", {}),
                                once(dtype, "empty", {2, 0, 3}, {0, 1})};
             }},
            {{"aten.unflatten.int"},
             [](DType dtype) {
                 return moved(dtype, "middle", {2, 6, 3}, {1, Arg::ints({2, -1})}) +
                        Samples{once(dtype, "empty", {0, 4}, {-1, Arg::ints({2, 2})})};
             }},
            {{"aten.as_strided.default"}, [](DType dtype) {
                 Sample permuted = once(dtype, "of a transposed tensor", {}, {Arg::ints({2, 5}), Arg::ints({5, 1})});
                 permuted.tensors = {transposed(mixed(dtype, {3, 4}))};
                 return Samples{
                     permuted,
                     once(dtype, "windows", {10}, {Arg::ints({4, 3}), Arg::ints({2, 1})}),
                     once(dtype, "offset", {4, 5}, {Arg::ints({3, 2}), Arg::ints({5, 2}), 6}),
                     once(dtype, "repeated", {3}, {Arg::ints({2, 3}), Arg::ints({0, 1})}),
                     once(dtype, "to 0-d", {3}, {Arg::ints({}), Arg::ints({}), 2}),
                     once(dtype, "empty", {3}, {Arg::ints({0, 2}), Arg::ints({2, 1})}),
                 };
             }}};
}

}  // namespace whittle::samples
