// Samples of lib/ops/aten/range.cpp.
#include "ops/samples/aten/shared.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples meshgrid_samples(DType dtype, const std::vector<std::string>& indexings) {
    Samples result;
    for (const std::string& indexing : indexings) {
        Sample three{.label = "three " + indexing,
                     .tensors = {mixed(dtype, {2}), ramp(dtype, {3}), ramp(dtype, {})},
                     .args = {Arg(ArgList{t(0), t(1), t(2)})}};
        Sample one{.label = "one " + indexing, .tensors = {mixed(dtype, {4})}, .args = {Arg(ArgList{t(0)})}};
        if (!indexing.empty()) three.kwargs = one.kwargs = {{"indexing", indexing}};
        result.push_back(three);
        result.push_back(one);
    }
    return result;
}

Samples eye_samples(DType dtype) { return dtype_samples(dtype, {{"three", {3}}, {"none", {0}}}); }

}  // namespace

Table range_table() {
    return {{{"aten.arange.default"},
             [](DType dtype) {
                 return dtype_samples(dtype, {{"integer", {5}}, {"fraction", {4.5}}, {"empty", {0}}});
             }},
            {{"aten.arange.start"},
             [](DType dtype) {
                 return dtype_samples(dtype, {{"integers", {-2, 5}}, {"fractions", {0.5, 4.0}}});
             }},
            {{"aten.arange.start_step"},
             [](DType dtype) {
                 std::vector<std::pair<std::string, ArgList>> calls = {
                     {"up", {1, 10, 4}}, {"down", {5, -5, -3}}, {"nothing", {3, 3, 2}}};
                 if (is_floating(dtype)) calls.push_back({"fractions", {0, 1, 0.3}});
                 return dtype_samples(dtype, calls);
             }},
            {{"aten.linspace.default"},
             [](DType dtype) {
                 return dtype_samples(
                     dtype, {{"five", {0, 1, 5}}, {"down", {10, 3, 8}}, {"one", {3, 9, 1}}, {"none", {0, 1, 0}}});
             }},
            {{"aten.eye.default"}, eye_samples},
            {{"aten.eye.m"},
             [](DType dtype) {
                 return dtype_samples(dtype, {{"wide", {2, 4}}, {"high", {3, 2}}, {"none", {0, 2}}});
             }},
            {{"aten.meshgrid.default"}, [](DType dtype) { return meshgrid_samples(dtype, {""}); }},
            {{"aten.meshgrid.indexing"}, [](DType dtype) {
                 return meshgrid_samples(dtype, {"ij", "xy"});
             }}};
}

}  // namespace whittle::samples
