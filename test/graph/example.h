// A graph with one of everything that a graph can hold, and a schema source for the verifier's tests.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "graph/graph.h"
#include "graph/schema.h"

namespace whittle {

inline Graph small_graph() {
    Graph graph;
    const NodeRef x = graph.placeholder("input.1", ValueMeta::contiguous(DType::f32, {2, 3}));
    const NodeRef w = graph.get_attr("layer.weight", Tensor::of<float>({1, 2, 3}));
    const NodeRef y = graph.add({.target = "aten.add.Tensor",
                                 .args = {x, w},
                                 .kwargs = {{"alpha", 2}},
                                 .results = {ValueMeta::contiguous(DType::f32, {2, 3})}});
    graph.output({y});
    return graph;
}

/// What it is given.
inline Graph identity_graph() {
    Graph graph;
    graph.output({graph.placeholder("x", ValueMeta::contiguous(DType::f32, {2}))});
    return graph;
}

/// Strings to escape, special floats, every kind of argument, strides, gradients, several results, nested graphs.
inline Graph full_graph() {
    const double inf = std::numeric_limits<double>::infinity();
    Graph graph;
    graph.name = "every \"thing\"";
    graph.dialect = "onnx";
    graph.opset_imports = {{"", 16}, {"com.microsoft", 1}};
    const NodeRef x = graph.placeholder("input.1", {DType::f64, {2, 3}, {1, 2}, true});
    const NodeRef w = graph.get_attr("layer\n\"0\".weight", Tensor::of<float>({1, 2, 3}));
    Tensor big(DType::f32, {4, 5});
    for (int i = 0; i < 20; ++i) big.mutable_data<float>()[i] = static_cast<float>(i) / 3;
    const NodeRef b = graph.get_attr("big", big);
    const NodeRef t = graph.get_attr("transposed", big.as_strided({5, 4}, {1, 5}, 0));
    graph.attributes["unused"] = Tensor::of<std::int64_t>({1, -2});

    Graph body;
    body.name = "then_branch";
    body.dialect = "onnx";
    body.opset_imports = {{"", 16}};
    body.output({body.placeholder("inner", ValueMeta::contiguous(DType::boolean, {}))});
    graph.subgraphs["then"] = std::make_shared<const Graph>(body);

    const NodeRef many =
        graph.add({.name = "many",
                   .target = "onnx.Everything",
                   .args = {x, Arg(), 3, -4, 0.5, ArgList{x, ArgList{}, ArgList{1, 2.0, Arg()}}, w, b, t},
                   .kwargs = {{"zeta", "quote \" backslash \\ newline \n tab \t bell \x07 \xc3\xa9"},
                              {"alpha", ArgList{std::nan(""), inf, -inf, -0.0, 0.1, 1e300, 5e-324, 1.0, 100000.0}},
                              {"to", DType::bf16},
                              {"flag", true},
                              {"body", GraphRef{"then"}},
                              {"big", std::numeric_limits<std::int64_t>::min()},
                              {"strange key", false}},
                   .results = {ValueMeta::contiguous(DType::f32, {}), {DType::boolean, {0, 7}, {7, 1}, false}},
                   .stack = {{"model.cpp", 12, 7, "forward", "auto y = \"x\";"}, {"main.cpp", 3, 0, "main", ""}},
                   .module_path = "features.0 # not a comment"});
    const NodeRef first = graph.add({.target = "getitem",
                                     .args = {many, 0},
                                     .results = {ValueMeta::contiguous(DType::f32, {})},
                                     .module_path = " \"quoted\"\n"});
    const NodeRef odd = graph.add({.name = "odd",
                                   .target = "custom op::with spaces",
                                   .args = {first, Arg("")},
                                   .results = {ValueMeta::contiguous(DType::u8, {1})}});
    graph.output({first, odd, x});
    return graph;
}

/// Schemas written in a test.
class TestSchemas final : public SchemaSource {
  public:
    explicit TestSchemas(std::map<std::string, std::string> texts = {}) {
        for (const auto& [target, text] : texts) schemas_[target] = Schema::parse(text);
    }
    const Schema* find(std::string_view target) const override {
        const auto found = schemas_.find(std::string(target));
        return found == schemas_.end() ? nullptr : &found->second;
    }

  private:
    std::map<std::string, Schema> schemas_;
};

/// What the action throws, or an empty text.
template <class Exception, class Action>
std::string thrown(Action&& action) {
    try {
        action();
    } catch (const Exception& error) {
        return error.what();
    }
    return {};
}

}  // namespace whittle
