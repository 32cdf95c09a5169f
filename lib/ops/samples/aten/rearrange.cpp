// Samples of lib/ops/aten/rearrange.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {

Table rearrange_table() {
    return {
        {{"aten.flip.default"},
         [](DType dtype) {
             return moved(dtype, "both", {2, 3}, {Arg::ints({0, 1})}) +
                    Samples{once(dtype, "last", {2, 4}, {Arg::ints({-1})}), once(dtype, "none", {3}, {Arg::ints({})}),
                            once(dtype, "0-d", {}, {Arg::ints({0})}), once(dtype, "empty", {0, 2}, {Arg::ints({0})})};
         }},
        {{"aten.roll.default"},
         [](DType dtype) {
             return moved(dtype, "flattened", {2, 3}, {Arg::ints({2})}) +
                    Samples{once(dtype, "two dims", {3, 4}, {Arg::ints({1, -5}), Arg::ints({0, -1})}),
                            once(dtype, "one dim twice", {5}, {Arg::ints({1, 3}), Arg::ints({0, 0})}),
                            once(dtype, "around", {4}, {Arg::ints({9}), Arg::ints({0})}),
                            once(dtype, "0-d", {}, {Arg::ints({1})}),
                            once(dtype, "empty", {0, 2}, {Arg::ints({1}), Arg::ints({0})})};
         }},
        {{"aten.pixel_shuffle.default"},
         [](DType dtype) {
             return moved(dtype, "batch", {1, 8, 2, 3}, {2}) +
                    Samples{once(dtype, "image", {9, 1, 2}, {3}), once(dtype, "empty", {0, 4, 1, 1}, {2})};
         }},
        {{"aten.pixel_unshuffle.default"},
         [](DType dtype) {
             return Samples{once(dtype, "batch", {1, 2, 4, 6}, {2}), once(dtype, "image", {1, 3, 3}, {3})};
         }},
        {{"aten.channel_shuffle.default"},
         [](DType dtype) {
             return moved(dtype, "groups", {2, 6, 2, 2}, {3}) + Samples{once(dtype, "one group", {1, 4, 3, 1}, {1})};
         }},
        {{"aten.rot90.default"}, [](DType dtype) {
             return Samples{once(dtype, "one", {2, 3}, {}), once(dtype, "two", {2, 3}, {2}),
                            once(dtype, "three, other dims", {2, 3, 4}, {-1, Arg::ints({2, 1})}),
                            once(dtype, "none", {3, 2}, {4})};
         }}};
}

}  // namespace whittle::samples
