#include "ops/samples/samples.h"

#include <limits>

namespace whittle::samples {

std::vector<std::pair<std::string, Tensor>> reduced(DType dtype, bool special) {
    std::vector<std::pair<std::string, Tensor>> result = {{"random", random(dtype, {3, 4, 5})},
                                                          {"ties", values(dtype, {1, 3, 3, 0, 0, 1, 2, 3, 2}, {3, 3})},
                                                          {"ones", uniform(dtype, {2, 3}, 1, 2)},
                                                          {"transposed", transposed(random(dtype, {4, 3}, 2))},
                                                          {"strided", strided(random(dtype, {3, 4}, 3))},
                                                          {"negative stride", negative(random(dtype, {3, 4}, 4))},
                                                          {"expanded", expanded(random(dtype, {3, 1}, 5), {2, 3, 4})},
                                                          {"size 1", random(dtype, {3, 1})}};
    if (!special || !is_floating(dtype)) return result;
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    result.push_back({"nan", values(dtype, {1, nan, 2, -inf, inf, nan, 0, 0.5, -1}, {3, 3})});
    result.push_back({"inf", values(dtype, {1, inf, 2, -inf, -1, 0, inf, 4, inf}, {3, 3})});
    result.push_back({"zeros", values(dtype, {0, -0.0, -0.0, -0.0, 0, 0, -0.0, -0.0, 0}, {3, 3})});
    return result;
}

namespace {

std::string text(const Arg& dim) {
    if (const auto* value = std::get_if<std::int64_t>(&dim.value)) return std::to_string(*value);
    if (dim.is_none()) return "none";
    std::string result;
    for (const Arg& element : *dim.list()) result.append(result.empty() ? "" : ",").append(text(element));
    return "[" + result + "]";
}

Samples over(DType dtype, const std::vector<Arg>& dims, const ArgList& rest, bool empty_rows) {
    Samples result;
    const auto add = [&](const std::string& label, const Tensor& x, const Arg& dim, bool keepdim) {
        result.push_back(
            {label + " dim " + text(dim) + (keepdim ? " kept" : ""), {x}, joined({t(0), dim, Arg(keepdim)}, rest)});
    };
    const bool lists = dims[0].list() != nullptr;
    const auto one = [&](int dim) { return lists ? Arg(Arg::ints({dim})) : Arg(dim); };
    for (const auto& [label, x] : reduced(dtype)) {
        add(label, x, one(-1), false);
        add(label, x, one(0), true);
    }
    const Tensor x = random(dtype, {2, 3, 4}, 7);
    for (const Arg& dim : dims)
        for (const bool keepdim : {false, true}) add("x", x, dim, keepdim);
    add("0-d", scalar(dtype, 3), one(0), false);
    add("empty", ramp(dtype, {0, 3}), one(1), false);
    if (empty_rows) add("empty rows", ramp(dtype, {2, 0}), one(1), true);
    return result;
}

}  // namespace

Samples dim_lists(DType dtype, const ArgList& rest, bool empty_rows) {
    return over(dtype, {Arg::ints({1}), Arg::ints({0, 2}), Arg::ints({-1, 1}), Arg::ints({})}, rest, empty_rows);
}

Samples single_dims(DType dtype, bool empty_rows) { return over(dtype, {Arg(1), Arg(2), Arg(-3)}, {}, empty_rows); }

Samples whole(DType dtype, bool empty_rows) {
    Samples result;
    for (auto& [label, x] : reduced(dtype)) result.push_back(call_of(label, {x}));
    result.push_back(call_of("0-d", {scalar(dtype, 3)}));
    if (empty_rows) result.push_back(call_of("empty", {ramp(dtype, {0, 3})}));
    return result;
}

}  // namespace whittle::samples
