// Samples of lib/ops/aten/view.cpp.
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {

namespace {

Samples movedim_int_samples(DType dtype) { return moved(dtype, "last to first", {2, 3, 4}, {-1, 0}); }

}  // namespace

Table view_table() {
    return {{{"aten.permute.default"},
             [](DType dtype) {
                 return moved(dtype, "rotate", {2, 3, 4}, {Arg::ints({2, 0, 1})}) +
                        Samples{once(dtype, "negative dims", {2, 3, 4}, {Arg::ints({-1, 1, -3})}),
                                once(dtype, "0-d", {}, {Arg::ints({})}),
                                once(dtype, "empty", {2, 0, 3}, {Arg::ints({1, 2, 0})})};
             }},
            {{"aten.transpose.int"},
             [](DType dtype) {
                 return moved(dtype, "matrix", {3, 5}, {0, 1}) +
                        Samples{once(dtype, "outer dims", {2, 3, 4}, {0, -1}), once(dtype, "same dim", {2, 3}, {1, 1}),
                                once(dtype, "0-d", {}, {0, -1}), once(dtype, "empty", {0, 3}, {0, 1})};
             }},
            {{"aten.t.default"},
             [](DType dtype) {
                 return moved(dtype, "matrix", {3, 5}) +
                        Samples{once(dtype, "1-d", {4}), once(dtype, "0-d", {}), once(dtype, "empty", {2, 0})};
             }},
            {{"aten.movedim.intlist"},
             [](DType dtype) {
                 return moved(dtype, "two", {2, 3, 4}, {Arg::ints({0, -1}), Arg::ints({2, 0})}) +
                        Samples{once(dtype, "none", {2, 3}, {Arg::ints({}), Arg::ints({})}),
                                once(dtype, "0-d", {}, {Arg::ints({0}), Arg::ints({-1})})};
             }},
            {{"aten.movedim.int"}, movedim_int_samples},
            {{"aten.squeeze.default"},
             [](DType dtype) {
                 return moved(dtype, "several", {1, 3, 1, 2}) +
                        Samples{once(dtype, "all", {1, 1}), once(dtype, "0-d", {}), once(dtype, "empty", {1, 0})};
             }},
            {{"aten.squeeze.dim"},
             [](DType dtype) {
                 return moved(dtype, "middle", {2, 1, 3}, {1}) +
                        Samples{once(dtype, "kept", {2, 1, 3}, {-1}), once(dtype, "0-d", {}, {0})};
             }},
            {{"aten.squeeze.dims"},
             [](DType dtype) {
                 return moved(dtype, "some", {1, 2, 1, 3}, {Arg::ints({0, -1})}) +
                        Samples{once(dtype, "none", {1, 2}, {Arg::ints({})})};
             }},
            {{"aten.unsqueeze.default"},
             [](DType dtype) {
                 return moved(dtype, "middle", {2, 3}, {1}) +
                        Samples{once(dtype, "last", {2, 3}, {-1}), once(dtype, "first", {2, 3}, {-3}),
                                once(dtype, "0-d", {}, {0}), once(dtype, "empty", {0}, {1})};
             }},
            {{"aten.expand.default"},
             [](DType dtype) {
                 return moved(dtype, "middle", {2, 1, 3}, {Arg::ints({2, 4, 3})}) +
                        Samples{once(dtype, "new dims", {3, 1}, {Arg::ints({1, 2, -1, 4})}),
                                once(dtype, "new dim of size 1", {3}, {Arg::ints({2, 1, 1, 3})}),
                                once(dtype, "0-d", {}, {Arg::ints({2, 3})}),
                                once(dtype, "to nothing", {1, 3}, {Arg::ints({0, 3})})};
             }},
            {{"aten.select.int"},
             [](DType dtype) {
                 return moved(dtype, "middle", {2, 3, 4}, {1, 2}) +
                        Samples{once(dtype, "from the end", {2, 3}, {-1, -3}), once(dtype, "to 0-d", {4}, {0, 1}),
                                once(dtype, "empty", {2, 0}, {0, 1})};
             }},
            {{"aten.slice.Tensor"},
             [](DType dtype) {
                 const std::int64_t last = std::numeric_limits<std::int64_t>::max();
                 return moved(dtype, "step", {2, 7, 3}, {1, 1, 6, 2}) +
                        Samples{once(dtype, "all", {5}),
                                once(dtype, "to the end", {3, 5}, {1, 2, last}),
                                once(dtype, "negative bounds", {6}, {0, -4, -1}),
                                once(dtype, "nothing", {4, 2}, {0, 3, 1}),
                                once(dtype, "beyond", {4}, {0, 9, 12}),
                                once(dtype, "one of a large step", {4, 2}, {0, 1, last, 100}),
                                once(dtype, "empty", {0, 3}, {0, 0, 2})};
             }},
            {{"aten.narrow.default"}, [](DType dtype) {
                 return moved(dtype, "middle", {4, 5}, {1, 1, 3}) +
                        Samples{once(dtype, "from the end", {5}, {0, -2, 2}), once(dtype, "nothing", {5}, {0, 5, 0})};
             }}};
}

}  // namespace whittle::samples
