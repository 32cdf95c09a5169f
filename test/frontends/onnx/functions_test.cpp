// Model-local functions: read as the nodes that they are made of.
#include <algorithm>

#include "frontends/onnx/save.h"
#include "models.h"
#include "ops/core/interpreter.h"

namespace whittle {
namespace {

using test::load;
using test::model;
using test::run;
using test::targets;

/// Adds a function in the parser's text form: `F(a, b) => (c) { … }`, with the attributes of its calls.
void add_function(onnx::ModelProto& model, const std::string& domain, const std::string& name,
                  const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                  const std::string& nodes, std::int64_t opset = 13) {
    onnx::FunctionProto& function = *model.add_functions();
    function.set_domain(domain);
    function.set_name(name);
    for (const std::string& input : inputs) function.add_input(input);
    for (const std::string& output : outputs) function.add_output(output);
    function.add_opset_import()->set_version(opset);
    const onnx::ModelProto body = test::model("g (float[1] q) => (float[1] r) {" + nodes + "}");
    *function.mutable_node() = body.graph().node();
    if (!domain.empty() && model.opset_import_size() < 2) {
        onnx::OperatorSetIdProto& import = *model.add_opset_import();
        import.set_domain(domain);
        import.set_version(1);
    }
}

onnx::AttributeProto& reference(onnx::ModelProto& model, int function, int node, const std::string& name,
                                onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto& attribute = *model.mutable_functions(function)->mutable_node(node)->add_attribute();
    attribute.set_name(name);
    attribute.set_ref_attr_name("slope");
    attribute.set_type(type);
    return attribute;
}

TEST_CASE("functions of a model are read as their nodes, in functions and nested graphs, too", "[onnx]") {
    onnx::ModelProto made = model(R"(g (float[2] x, bool c) => (float[2] y) {
        h = own.Twice(x)
        y = If(c) <then_branch = t () => (float[2] a) { a = own.Twice(h) },
                   else_branch = e () => (float[2] b) { b = Neg(h) }>
    })");
    add_function(made, "own", "Add1", {"v"}, {"w"}, "one = Constant<value = float[1] {1}>() w = Add(v, one)");
    add_function(made, "own", "Twice", {"v"}, {"w"}, "h = own.Add1(v) w = Add(h, v)");
    const LoadedModel loaded = load(made);
    CHECK(targets(loaded.graph) == std::vector<std::string>{"onnx.Add", "onnx.Add", "onnx.If"});
    CHECK(loaded.graph.opset_imports == std::map<std::string, std::int64_t>{{"", 13}});
    const Tensor x = Tensor::of<float>({3, -1});
    const auto of = [&](bool condition) {
        return run(loaded.graph, {x, Tensor::of(std::vector<float>{condition ? 1.f : 0.f}, {}).to(DType::boolean)});
    };
    CHECK(of(true) == std::vector<double>{15, -1});
    CHECK(of(false) == std::vector<double>{-7, 1});
    // Nodes have names of their own in a file, whatever function they come from.
    const LoadedModel again = load_onnx_bytes(test::bytes_of(to_onnx(loaded.graph)), "a.onnx", {}, {});
    CHECK(targets(again.graph) == targets(loaded.graph));
    CHECK(run(again.graph, {x, Tensor::of(std::vector<float>{1}, {}).to(DType::boolean)}) == of(true));
}

TEST_CASE("attributes of a function are those of its call, or its defaults", "[onnx]") {
    onnx::ModelProto made = model("g (float[2] x) => (float[2] y) { y = own.Leak<slope = 0.25>(x) }");
    add_function(made, "own", "Leak", {"v"}, {"w"}, "w = LeakyRelu(v)");
    reference(made, 0, 0, "alpha", onnx::AttributeProto::FLOAT);
    CHECK(run(load(made).graph, {Tensor::of<float>({-8, 2})}) == std::vector<double>{-2, 2});
    made.mutable_graph()->mutable_node(0)->clear_attribute();
    CHECK(run(load(made).graph, {Tensor::of<float>({-100, 2})}) ==
          std::vector<double>{static_cast<double>(-100 * 0.01f), 2});  // the op's
    onnx::AttributeProto slope;
    slope.set_name("slope");
    slope.set_type(onnx::AttributeProto::FLOAT);
    slope.set_f(0.5f);
    // Field 11, attribute_proto, which libonnx 1.12 does not know: appended as bytes, its key and length before it.
    const std::string value = slope.SerializeAsString();
    REQUIRE(value.size() < 128);
    const std::string field{static_cast<char>(11 << 3 | 2), static_cast<char>(value.size())};
    REQUIRE(made.mutable_functions(0)->ParseFromString(made.functions(0).SerializeAsString() + field + value));
    CHECK(run(load(made).graph, {Tensor::of<float>({-8, 2})}) == std::vector<double>{-4, 2});
}

TEST_CASE("operands and results of a function may be missing or the same", "[onnx]") {
    onnx::ModelProto made = model("g (float[2] x) => (float[2] y, float[2] z) { y, z = own.Both(x) }");
    add_function(made, "own", "Both", {"v", "low"}, {"v", "w"}, "w = Clip(v, low)");
    const Graph graph = load(made).graph;
    for (const std::size_t result : {0, 1})
        CHECK(run(graph, {Tensor::of<float>({-5, 2})}, result) == std::vector<double>{-5, 2});
}

TEST_CASE("values of a function are no values of the model that are named alike", "[onnx]") {
    onnx::ModelProto made = model("g (float[2] x, float[2] F_1_h) => (float[2] y) { h = F_1_F(x) y = Add(h, F_1_h) }");
    made.mutable_graph()->mutable_node(0)->set_op_type("F");
    add_function(made, "", "F", {"v"}, {"w"}, "h = Neg(v) w = Neg(h)");
    const Graph graph = load(made).graph;
    const Tensor x = Tensor::of<float>({1, 2}), other = Tensor::of<float>({10, 20});
    CHECK(run(graph, {x, other}) == std::vector<double>{11, 22});
}

}  // namespace
}  // namespace whittle
