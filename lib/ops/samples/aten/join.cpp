// Samples of lib/ops/aten/join.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Sample join_sample(const std::string& label, const std::vector<Tensor>& tensors, const ArgList& rest = {}) {
    ArgList list;
    for (std::size_t i = 0; i < tensors.size(); ++i) list.push_back(t(static_cast<int>(i)));
    return {.label = label, .tensors = tensors, .args = joined({Arg(list)}, rest)};
}

Samples cat_samples(DType dtype) {
    Samples result = {
        join_sample("two", {mixed(dtype, {2, 3}), mixed(dtype, {1, 3})}),
        join_sample("channels", {mixed(dtype, {1, 2, 3, 2}), mixed(dtype, {1, 3, 3, 2}), mixed(dtype, {1, 1, 3, 2})},
                    {1}),
        join_sample("one", {mixed(dtype, {2, 2})}, {-1}),
        join_sample("layouts",
                    {transposed(mixed(dtype, {3, 2})), negative(mixed(dtype, {3, 4})), strided(mixed(dtype, {3, 1}))},
                    {1}),
        join_sample("empty and skipped ones", {mixed(dtype, {0}), mixed(dtype, {0, 2}), mixed(dtype, {3, 2})}, {0}),
        join_sample("nothing", {mixed(dtype, {0}), mixed(dtype, {0})}),
        join_sample("promoted",
                    {mixed(dtype, {2}), mixed(is_computed(dtype) ? DType::i32 : dtype, {3}), ramp(DType::f16, {1})}),
        join_sample("same twice", {mixed(dtype, {2, 2})}, {}),
    };
    result.back().args = {Arg(ArgList{t(0), t(0)}), 1};
    std::vector<Tensor> many;
    for (std::int64_t i = 0; i < 10; ++i) many.push_back(mixed(dtype, {2, 1 + i % 3}));
    result.push_back(join_sample("many", many, {1}));
    return result;
}

}  // namespace

Table join_table() {
    return {{{"aten.cat.default"}, cat_samples},
            {{"aten.stack.default"},
             [](DType dtype) -> Samples {
                 return {join_sample("first", {mixed(dtype, {2, 3}), ramp(dtype, {2, 3})}),
                         join_sample("last", {mixed(dtype, {2, 3}), transposed(ramp(dtype, {2, 3}))}, {-1}),
                         join_sample("0-d", {mixed(dtype, {}), mixed(dtype, {}), mixed(dtype, {})}),
                         join_sample("empty", {mixed(dtype, {2, 0}), mixed(dtype, {2, 0})}, {1})};
             }},
            {{"aten.hstack.default"},
             [](DType dtype) -> Samples {
                 return {join_sample("2-d", {mixed(dtype, {2, 3}), mixed(dtype, {2, 1})}),
                         join_sample("1-d", {mixed(dtype, {2}), mixed(dtype, {3})}),
                         join_sample("0-d", {mixed(dtype, {}), mixed(dtype, {})})};
             }},
            {{"aten.vstack.default"},
             [](DType dtype) -> Samples {
                 return {join_sample("2-d", {mixed(dtype, {2, 3}), mixed(dtype, {1, 3})}),
                         join_sample("1-d", {mixed(dtype, {2}), mixed(dtype, {2})}),
                         join_sample("0-d", {mixed(dtype, {}), mixed(dtype, {})})};
             }},
            {{"aten.repeat.default"},
             [](DType dtype) {
                 return moved(dtype, "matrix", {2, 3}, {Arg::ints({2, 3})}) +
                        Samples{once(dtype, "new dims", {2}, {Arg::ints({3, 1, 2})}),
                                once(dtype, "0-d", {}, {Arg::ints({2})}),
                                once(dtype, "to nothing", {2, 3}, {Arg::ints({1, 0})}),
                                once(dtype, "empty", {0, 3}, {Arg::ints({2, 2})})};
             }},
            {{"aten.tile.default"},
             [](DType dtype) -> Samples {
                 return {once(dtype, "fewer", {2, 3}, {Arg::ints({2})}), once(dtype, "more", {2}, {Arg::ints({2, 2})})};
             }},
            {{"aten.repeat_interleave.self_int"}, [](DType dtype) {
                 return moved(dtype, "dim", {2, 3}, {2, 1}) + Samples{once(dtype, "flattened", {2, 2}, {3}),
                                                                      once(dtype, "0-d", {}, {2}),
                                                                      once(dtype, "to nothing", {2}, {0, 0})};
             }}};
}

}  // namespace whittle::samples
