// Numbers that a small model gives, for tests that compare them with the words of the standard.
#pragma once

#include <algorithm>
#include <cmath>

#include "frontends/onnx/save.h"
#include "models.h"

namespace whittle::test {

using Numbers = std::vector<double>;

/// The results of a model, which is also the same graph when it is written and read again.
inline std::vector<Numbers> results(const std::string& graph, int opset, const std::vector<Tensor>& inputs) {
    const Graph read = load(model(graph, opset)).graph;
    CHECK(read.opset_imports.at("") == opset);
    CHECK(same_structure(read, load_onnx_bytes(bytes_of(to_onnx(read)), "again.onnx", {}, {}).graph));
    std::vector<Numbers> values;
    for (const Tensor& result : evaluate(read, inputs)) values.push_back(result.to(DType::f64).values<double>());
    return values;
}

/// The first one of a model of one input.
inline Numbers result(const std::string& graph, int opset, const Tensor& x) { return results(graph, opset, {x}).at(0); }

inline Tensor floats(const std::vector<float>& values, const Sizes& sizes) { return Tensor::of(values, sizes); }

/// 0, 1, 2 …
inline Tensor counting(const Sizes& sizes) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < element_count(sizes); ++i) values.push_back(static_cast<float>(i));
    return floats(values, sizes);
}

inline bool near(const Numbers& got, const Numbers& expected, double tolerance = 1e-6) {
    return std::equal(got.begin(), got.end(), expected.begin(), expected.end(),
                      [&](double a, double b) { return std::fabs(a - b) <= tolerance * (1 + std::fabs(b)); });
}

}  // namespace whittle::test
