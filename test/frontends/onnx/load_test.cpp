// What loading makes of well-formed models: names, constants, folding, nested graphs, breaks, opset differences.
#include <algorithm>
#include <map>
#include <set>

#include "frontends/onnx/save.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "models.h"
#include "ops/core/interpreter.h"
#include "tensor/compare.h"

namespace whittle {
namespace {

using Catch::Contains;
using test::load;
using test::model;
using test::run;
using test::targets;

Graph reloaded(const Graph& graph) {
    return load_onnx_bytes(test::bytes_of(to_onnx(graph)), "again.onnx", {}, {}).graph;
}

TEST_CASE("operands are bound by their names at the model's opset", "[onnx]") {
    const std::string graph = R"(g (float[1,1,1,2] x) => (float[1,1,1,4] y) {
        s = Constant<value = float[4] {1,1,1,2}>()
        y = Resize<mode = "nearest">(x, s)
    })";
    const Graph resize = load(model(graph, 10)).graph;
    const Node& call = resize.node({resize.calls().at(0)});
    REQUIRE(call.args.size() == 3);  // X, no roi, scales
    CHECK(call.args[1].is_none());
    CHECK(call.args[2].node());
    CHECK(run(resize, {Tensor::of(std::vector<float>{1, 2}, {1, 1, 1, 2})}) == std::vector<double>{1, 1, 2, 2});
    onnx::ModelProto written;
    REQUIRE(written.ParseFromString(to_onnx(resize)));
    REQUIRE(written.graph().node(0).input_size() == 2);
    CHECK(written.graph().node(0).input(1) == written.graph().initializer(0).name());
    CHECK(same_structure(resize, reloaded(resize)));
}

TEST_CASE("models of opsets before the first are read where their nodes mean the same", "[onnx]") {
    const LoadedModel loaded = load(model(R"(g (float[2,3] x, float[3] b, float[3] c) => (float[2,3] y) {
        a = Add<broadcast = 1>(x, b)
        n = BatchNormalization<is_test = 1>(a, c, b, b, c)
        y = Relu(n)
    })",
                                          6));
    CHECK(targets(loaded.graph) == std::vector<std::string>{"onnx.Add", "onnx.BatchNormalization", "onnx.Relu"});
    CHECK(loaded.graph.opset_imports.at("") == 7);
    CHECK(same_structure(loaded.graph, reloaded(loaded.graph)));
}

TEST_CASE("operands are spread as their opset says", "[onnx]") {
    const auto old = [](const std::string& node) {
        return load(model("g (float[2,3] x, float[2] b) => (float[2,3] y) { y = " + node + " }", 6)).graph;
    };
    const Tensor x = Tensor::of(std::vector<float>{1, 1, 1, -1, -1, -1}, {2, 3}), b = Tensor::of({10.f, 20.f});
    CHECK(run(old("Add<broadcast = 1, axis = 0>(x, b)"), {x, b}) == std::vector<double>{11, 11, 11, 19, 19, 19});
    const Graph slope = load(model("g (float[1,2,3] x, float[2] b) => (float[1,2,3] y) { y = PRelu(x, b) }", 6)).graph;
    CHECK(targets(slope) == std::vector<std::string>{"onnx.Unsqueeze", "onnx.PRelu"});
    CHECK(run(slope, {Tensor::of(std::vector<float>{1, 1, 1, -1, -1, -1}, {1, 2, 3}), b}) ==
          std::vector<double>{1, 1, 1, -20, -20, -20});
    CHECK(same_structure(slope, reloaded(slope)));
    // One slope for all channels is spread alike in all opsets.
    const Graph one = load(model("g (float[N] x, float[1] b) => (float[N] y) { a = Neg(x) y = PRelu(a, b) }", 6)).graph;
    CHECK(targets(one) == std::vector<std::string>{"onnx.Neg", "onnx.PRelu"});
}

TEST_CASE("names become identifiers and stay apart", "[onnx]") {
    onnx::ModelProto proto = model("g (float[2] x) => (float[2] y) { a = Relu(x) b = Neg(a) y = Add(a, b) }");
    onnx::GraphProto& g = *proto.mutable_graph();
    for (onnx::NodeProto& node : *g.mutable_node()) {
        for (std::string& name : *node.mutable_input()) name = name == "a" ? "v.1" : name == "b" ? "v_1" : name;
        for (std::string& name : *node.mutable_output()) name = name == "a" ? "v.1" : name == "b" ? "v_1" : name;
    }
    g.mutable_node(0)->set_name("features/0");
    const Graph graph = load(proto).graph;
    REQUIRE(graph.find("v_1"));
    CHECK(graph.find("v_1")->target == "onnx.Relu");
    CHECK(graph.find("v_1")->module_path == "features/0");
    REQUIRE(graph.find("v_1_1"));
    CHECK(graph.find("v_1_1")->target == "onnx.Neg");
    CHECK(same_structure(graph, reloaded(graph)));
}

TEST_CASE("shape computations and identities of constants are folded", "[onnx]") {
    const Graph graph =
        load(model("g (float[N,3] x) => (float[3,N] y) <int64 zero = {0}, int64[1] first = {0}, "
                   "int64[1] three = {3}, float[3] w = {1,2,3}> {"
                   "s = Shape(x) n = Gather(s, zero) r = Unsqueeze(n, first) t = Concat<axis = 0>(three, r)"
                   "v = Identity(w) z = Add(x, v) y = Reshape(z, t) }"))
            .graph;
    CHECK(targets(graph) == std::vector<std::string>{"onnx.Add", "onnx.Reshape"});
    CHECK(graph.attributes.count("w") == 1);
    CHECK(graph.find("y")->meta().sizes == Sizes{3, 1});
    CHECK(same_structure(graph, reloaded(graph)));
}

TEST_CASE("an input that decides sizes is a constant where its value is given", "[onnx]") {
    const onnx::ModelProto proto =
        model("g (float[2,3] x, int64[2] s) => (float[N,M] y) { t = Abs(s) y = Reshape(x, t) }");
    CHECK_THAT(test::load_error(proto), Contains("the computed value depends on the value of the input 's'"));
    const Tensor x(DType::f32, {2, 3}), s = Tensor::of<std::int64_t>({3, 2});
    for (const std::vector<InputValue>& values : {std::vector<InputValue>{{"s", s}}, {{"", x}, {"", s}}}) {
        const LoadedModel loaded = load(proto, {.values = values});
        CHECK(loaded.inputs == std::vector<std::string>{"x", "s"});
        CHECK(loaded.constants == std::vector<std::string>{"s"});
        CHECK(loaded.graph.placeholders().size() == 1);
        CHECK(loaded.graph.find("y")->meta().sizes == Sizes{3, 2});
    }
    CHECK_THAT(test::load_error(proto, {.values = {{"s", Tensor::of<std::int32_t>({3, 2})}}}),
               Contains("found a value of type i32, expected i64"));
    // The data itself decides nothing, and stays an input.
    CHECK(load(proto, {.values = {{"x", x}, {"s", s}}}).constants == std::vector<std::string>{"s"});
}

TEST_CASE("an input whose value one node needs stays an input for the others", "[onnx]") {
    const onnx::ModelProto proto = model("g (float[3] x) => (int64[1,N] n, float[3] y) { n = NonZero(x) y = Relu(x) }");
    const Tensor x = Tensor::of({1.f, 0.f, -2.f});
    const LoadedModel loaded = load(proto, {.values = {{"x", x}}});
    CHECK(loaded.constants.empty());
    CHECK(targets(loaded.graph) == std::vector<std::string>{"onnx.Relu"});
    CHECK(test::run(loaded.graph, {x}) == std::vector<double>{0, 2});
    CHECK(test::run(loaded.graph, {x}, 1) == std::vector<double>{1, 0, 0});
    // One that more nodes need, one behind the other, is a constant for all.
    const onnx::ModelProto twice = model(
        "g (float[2,3] x, int64[2] s) => (float[N,M] y, float[K,L] z, int64[2] t)"
        "{ y = Reshape(x, s) z = Reshape(y, s) t = Neg(s) }");
    const LoadedModel all = load(twice, {.values = {{"s", Tensor::of<std::int64_t>({3, 2})}}});
    CHECK(all.constants == std::vector<std::string>{"s"});
    CHECK(all.graph.placeholders().size() == 1);
}

TEST_CASE("without folding every node stays a call, and runs", "[onnx]") {
    const onnx::ModelProto proto = model(
        "g (float[N,3] x) => (float[3,N] y) <int64 zero = {0}, int64[1] first = {0}, "
        "int64[1] three = {3}, float[3] w = {1,2,3}> {"
        "s = Shape(x) n = Gather(s, zero) r = Unsqueeze(n, first) t = Concat<axis = 0>(three, r)"
        "v = Identity(w) z = Add(x, v) y = Reshape(z, t) }");
    const LoadedModel folded = load(proto, {.dims = {{"N", 2}}});
    CHECK(folded.folded ==
          std::map<std::string, std::size_t>{
              {"onnx.Shape", 1}, {"onnx.Gather", 1}, {"onnx.Unsqueeze", 1}, {"onnx.Concat", 1}, {"onnx.Identity", 1}});
    const LoadedModel whole = load(proto, {.dims = {{"N", 2}}, .fold = false});
    CHECK(whole.folded.empty());
    CHECK(targets(whole.graph) == std::vector<std::string>{"onnx.Shape", "onnx.Gather", "onnx.Unsqueeze", "onnx.Concat",
                                                           "onnx.Identity", "onnx.Add", "onnx.Reshape"});
    CHECK(whole.graph.find("y")->meta().sizes == Sizes{3, 2});
    const std::vector<Tensor> x = {Tensor::of(std::vector<float>{0, 0, 0, 1, 1, 1}, {2, 3})};
    CHECK(run(whole.graph, x) == std::vector<double>{1, 2, 3, 2, 3, 4});
    CHECK(run(folded.graph, x) == run(whole.graph, x));
}

TEST_CASE("a dynamic dimension that nothing decides is told, and has a name to decide it by", "[onnx]") {
    onnx::ModelProto proto = model("g (float[N,3,2] x) => (float[N,3,2] y) { y = Relu(x) }");
    auto* shape = proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(2)->clear_dim_value();
    const LoadedModel assumed = load(proto);
    CHECK(assumed.assumed_dims == std::vector<std::string>{"N", "x[2]"});
    CHECK(assumed.graph.find("y")->meta().sizes == Sizes{1, 3, 1});
    const LoadedModel given = load(proto, {.dims = {{"N", 4}, {"x[2]", 5}}});
    CHECK(given.assumed_dims.empty());
    CHECK(given.graph.find("y")->meta().sizes == Sizes{4, 3, 5});
    CHECK_THROWS_WITH(load(proto, {.dims = {{"x[1]", 5}}}), Contains("expected one of N, x[2]"));
}

TEST_CASE("dynamic dimensions are decided by given sizes, by name, or are 1", "[onnx]") {
    const onnx::ModelProto proto =
        model("g (float[N,M] x, float[N,2] z) => (float[N,N] y) { y = Concat<axis = 1>(x, z) }");
    CHECK(load(proto).graph.find("y")->meta().sizes == Sizes{1, 3});
    CHECK(load(proto, {.dims = {{"N", 4}}, .default_dim = 2}).graph.find("y")->meta().sizes == Sizes{4, 4});
    CHECK(load(proto, {.input_sizes = {{"x", {5, 7}}}}).graph.find("y")->meta().sizes == Sizes{5, 9});
    CHECK_THAT(test::load_error(proto, {.input_sizes = {{"x", {5, 7}}, {"z", {4, 2}}}}),
               Contains("given size 4 for the dimension 'N', expected 5"));
    CHECK_THAT(test::load_error(proto, {.input_sizes = {{"z", {4, 3}}}}), Contains("given sizes [4, 3], expected"));
    CHECK_THAT(test::load_error(proto, {.input_sizes = {{"q", {1}}}}),
               Contains("the model has no input 'q'; its inputs are x, z"));
}

TEST_CASE("nodes that are not sorted are sorted", "[onnx]") {
    const Graph graph = load(model("g (float[2] x) => (float[2] y) { y = Neg(a) a = Relu(x) }")).graph;
    CHECK(targets(graph) == std::vector<std::string>{"onnx.Relu", "onnx.Neg"});
}

TEST_CASE("what is not known is a break, and metas behind it are unknown", "[onnx]") {
    const onnx::ModelProto proto =
        model("g (float[2] x) => (float[2] y) { a = Relu(x) b = Frobnicate(a) c = Neg(b) y = Relu<q = 1>(a) }");
    const LoadedModel loaded = load(proto, {.keep_unknown = true});
    REQUIRE(loaded.breaks.size() == 2);
    CHECK(loaded.breaks[0].node == "b");
    CHECK(loaded.breaks[0].op == "onnx.Frobnicate");
    CHECK(loaded.breaks[0].opset == 13);
    CHECK_THAT(loaded.breaks[1].reason, Contains("unknown attribute 'q'"));
    CHECK(loaded.unknown == std::vector<std::string>{"b", "c"});
    CHECK(loaded.graph.find("y")->meta().sizes == Sizes{2});  // as the file declares
}

TEST_CASE("who reads strings is a break", "[onnx]") {
    onnx::ModelProto proto = model(
        "g (string[2] s, float[2] x) => (float[2] y) { k = Constant<value_strings = [\"a\", \"b\"]>() "
        "b = Equal(s, k) f = Cast<to = 1>(b) n = Cast<to = 1>(w) r = Relu(x) t = Add(f, n) y = Add(r, t) }");
    onnx::TensorProto& w = *proto.mutable_graph()->add_initializer();
    w.set_name("w");
    w.set_data_type(onnx::TensorProto::STRING);
    w.add_dims(2);
    for (const char* text : {"1", "2"}) w.add_string_data(text);
    CHECK_THAT(test::load_error(proto), Contains("found strings as the input 's', expected numbers"));
    const LoadedModel loaded = load(proto, {.keep_unknown = true});
    REQUIRE(loaded.breaks.size() == 2);
    CHECK(loaded.breaks[0].node == "b");
    CHECK(loaded.breaks[0].reason == "found strings as the input 's', expected numbers");
    CHECK(loaded.breaks[1].reason == "found strings as the input 'w', expected numbers");
    CHECK(loaded.graph.find("r")->meta().sizes == Sizes{2});
    CHECK(std::ranges::count(loaded.unknown, "r") == 0);
}

TEST_CASE("data of types that Whittle does not have are written as they were read", "[onnx]") {
    onnx::ModelProto proto = model(
        "g (string[1] s, float[2] x) => (string[1] z, float[2] y) { z = Identity(s) d = DequantizeLinear(w, k) "
        "c = Equal(s, v) f = Cast<to = 1>(c) e = Add(f, d) y = Add(e, x) }",
        21);
    onnx::TensorProto& w = *proto.mutable_graph()->add_initializer();
    w.set_name("w");
    constexpr int kInt4 = 22;
    w.set_data_type(kInt4);
    w.add_dims(2);
    w.set_raw_data("\x21");
    onnx::TensorProto& v = *proto.mutable_graph()->add_initializer();
    v.set_name("v");
    v.set_data_type(onnx::TensorProto::STRING);
    v.add_dims(1);
    v.add_string_data("a");
    onnx::TensorProto& k = *proto.mutable_graph()->add_initializer();
    k.set_name("k");
    k.set_data_type(onnx::TensorProto::FLOAT);
    k.add_float_data(1);
    const LoadedModel loaded = load(proto, {.keep_unknown = true});
    CHECK(print(loaded.graph.find("w")->meta()) == "i4[2]");
    CHECK(print(loaded.graph.find("v")->meta()) == "string[1]");
    CHECK(print(loaded.graph.find("s")->meta()) == "string[1]");
    CHECK(print(loaded.graph.find("z")->meta()) == "string[1]");  // as the file declares
    CHECK(print(loaded.graph.find("e")->meta()) == "unknown");
    CHECK(unknown_value(loaded.graph) == "the input s holds strings");

    onnx::ModelProto written;
    REQUIRE(written.ParseFromString(to_onnx(loaded.graph)));
    std::map<std::string, std::string> data;
    for (const onnx::TensorProto& tensor : written.graph().initializer())
        data[tensor.name()] = tensor.SerializeAsString();
    CHECK(data.at("w") == w.SerializeAsString());
    CHECK(data.at("v") == v.SerializeAsString());
    CHECK(written.graph().input(0).type().tensor_type().elem_type() == onnx::TensorProto::STRING);
    const LoadedModel again = load(written, {.keep_unknown = true});
    CHECK(same_structure(again.graph, loaded.graph));
}

TEST_CASE("graphs of a node whose operands are not known stay its own", "[onnx]") {
    const onnx::ModelProto proto = model(
        "g (float[2] x) => (float[2] y) { c = Frobnicate(x) r = If(c) <then_branch = a () => (float[2] p) { p = Neg(x) "
        "}, "
        "else_branch = b () => (float[N] q) { q = Relu(x) }> y = Neg(r) }");
    const LoadedModel loaded = load(proto, {.keep_unknown = true});
    CHECK(loaded.graph.subgraphs.size() == 2);
    CHECK(print(loaded.graph.find("r")->meta()) == "unknown");
    CHECK(unknown_value(loaded.graph) == "the type of %c is unknown (the result of onnx.Frobnicate)");
    onnx::ModelProto written;
    REQUIRE(written.ParseFromString(to_onnx(loaded.graph)));
    for (const onnx::NodeProto& node : written.graph().node())
        if (node.op_type() == "If") CHECK(node.attribute_size() == 2);
}

TEST_CASE("a graph that is read several times keeps its constants, and nodes of a file have names of their own",
          "[onnx]") {
    onnx::ModelProto proto = model(
        "g (float[2] x) => (float[4] y) { s = SequenceConstruct(x, x) "
        "t = SequenceMap(s) <body = b (float[2] e) => (float[2] o) <float[2] C = {1, 2}> { o = Add(e, C) }> "
        "y = ConcatFromSequence<axis = 0>(t) }",
        17);
    for (onnx::NodeProto& node :
         *proto.mutable_graph()->mutable_node(1)->mutable_attribute(0)->mutable_g()->mutable_node())
        node.set_name("plus");
    const Graph graph = load(proto).graph;
    CHECK(run(graph, {Tensor::of({1.f, 1.f})}) == std::vector<double>{2, 3, 2, 3});
    onnx::ModelProto written;
    REQUIRE(written.ParseFromString(to_onnx(graph)));
    std::set<std::string> names;
    for (const onnx::NodeProto& node : written.graph().node())
        if (!node.name().empty()) CHECK(names.insert(node.name()).second);
    CHECK(names.count("plus_1") == 1);
}

TEST_CASE("what was rewritten while a file was read is said", "[onnx]") {
    const LoadedModel loaded =
        load(model("g (float[2] x) => (float[2] y) { k = Constant<value = float[2] {1, 2}>() h = Neg(k) s = "
                   "SequenceConstruct(x, h) "
                   "i = Constant<value = int64 {1}>() a = SequenceAt(s, i) y = Add(a, x) }"));
    CHECK(loaded.rewritten == std::vector<std::string>{"onnx.Neg was computed while reading the file (constant)",
                                                       "onnx.SequenceAt was resolved into tensors",
                                                       "onnx.SequenceConstruct was resolved into tensors"});
    CHECK(load(model("g (float[2] x) => (float[2] y) { y = Neg(x) }")).rewritten.empty());
}

TEST_CASE("calls of unknown ops are kept as the file declares them, and written with that", "[onnx]") {
    onnx::ModelProto proto = model(
        "g (float[N,2] x) => (float[N,2] y) { a = Relu(x) s, , t = com.microsoft.Skip<epsilon = 0.5>(a, x) "
        "b = Neg(s) y = Add(b, t) }");
    proto.add_opset_import()->set_domain("com.microsoft");
    proto.mutable_opset_import(1)->set_version(1);
    CHECK_THAT(test::load_error(proto), Contains("found the unknown op com.microsoft.Skip (opset 1 of com.microsoft)"));
    const LoadOptions opaque{.dims = {{"N", 3}}, .opaque = true};
    CHECK_THAT(test::load_error(proto, opaque), Contains("the file does not declare the type of the output 's'"));
    for (const char* name : {"s", "t"}) {
        onnx::ValueInfoProto& info = *proto.mutable_graph()->add_value_info();
        info = proto.graph().input(0);
        info.set_name(name);
    }
    const LoadedModel loaded = load(proto, opaque);
    CHECK(loaded.breaks.empty());
    CHECK(loaded.unknown.empty());
    const Node& call = loaded.graph.node({loaded.graph.calls().at(1)});
    REQUIRE(call.results.size() == 3);
    CHECK(call.results[2].sizes == Sizes{3, 2});
    CHECK(loaded.graph.find("b")->meta().sizes == Sizes{3, 2});
    onnx::ModelProto written;
    REQUIRE(written.ParseFromString(to_onnx(loaded.graph)));
    CHECK(written.graph().value_info_size() == 2);
    CHECK(written.graph().node(1).output(1).empty());  // nobody reads it
    CHECK(same_structure(loaded.graph, load(written, {.opaque = true}).graph));
    CHECK_THAT(test::load_error(model("g (float[2] x) => (float[2] y) { y = Relu<q = 1>(x) }"), {.opaque = true}),
               Contains("unknown attribute 'q'"));
}

const char* const kIf =
    "g (bool c, float[2] x) => (float[2] y) { h = Relu(x) y = If(c) <"
    "then_branch = t () => (float[2] a) { a = Add(h, x) }, else_branch = e () => (float[2] b) { b = Neg(h) }> }";

TEST_CASE("branches get what they read from around them as inputs", "[onnx]") {
    const Graph graph = load(model(kIf)).graph;
    CHECK(targets(graph) == std::vector<std::string>{"onnx.Relu", "onnx.If"});
    CHECK(graph.find("y")->kwarg("captured")->list()->size() == 2);
    const Tensor x = Tensor::of({-1.f, 3.f});
    CHECK(run(graph, {Tensor::of(Scalar(true), DType::boolean), x}) == std::vector<double>{-1, 6});
    CHECK(run(graph, {Tensor::of(Scalar(false), DType::boolean), x}) == std::vector<double>{0, -3});
    CHECK(same_structure(graph, reloaded(graph)));
    CHECK(same_structure(graph, parse(print(graph))));
}

TEST_CASE("an If with a constant condition is its branch", "[onnx]") {
    onnx::ModelProto proto = model(kIf);
    proto.mutable_graph()->mutable_input()->DeleteSubrange(0, 1);
    onnx::TensorProto& c = *proto.mutable_graph()->add_initializer();
    c.set_name("c");
    c.set_data_type(onnx::TensorProto::BOOL);
    c.set_raw_data(std::string(1, '\0'));
    const Graph graph = load(proto).graph;
    CHECK(targets(graph) == std::vector<std::string>{"onnx.Relu", "onnx.Neg"});
    CHECK(graph.subgraphs.empty());
}

TEST_CASE("a Loop of a known length collects and carries", "[onnx]") {
    const Graph graph =
        load(model("g (float[2] x) => (float[2] y, float[3,2] z) <int64 M = {3}> { y, z = Loop(M, , x) <"
                   "body = b (int64 i, bool k, float[2] v) => (bool l, float[2] w, float[2] s) {"
                   "l = Identity(k) w = Add(v, x) s = Neg(w) }> }"))
            .graph;
    const std::vector<Tensor> inputs = {Tensor::of({1.f, 2.f})};
    CHECK(run(graph, inputs, 0) == std::vector<double>{4, 8});
    CHECK(run(graph, inputs, 1) == std::vector<double>{-2, -4, -3, -6, -4, -8});
    CHECK(same_structure(graph, reloaded(graph)));
}

TEST_CASE("a Scan of opset 8 whose sequences have lengths of their own is refused", "[onnx]") {
    // Others are the standard's: test/conformance.
    const std::string scan = R"(g (int64[2] n, float[2,3] s, float[2,4,3] x) => (float[2,3] y) {
        y = Scan<num_scan_inputs = 1, body = b (float[3] a, float[3] e) => (float[3] c) { c = Add(a, e) }>(n, s, x)
    })";
    CHECK_THAT(test::load_error(model(scan, 8)), Contains("found sequence_lens, which Whittle does not support"));
}

TEST_CASE("ops mean what their opset says", "[onnx]") {
    const Tensor x = Tensor::of(std::vector<float>{0, 0, 0, 0}, {1, 2, 2});
    // Softmax: over everything from axis 1 on until opset 12, over the last dimension since 13.
    const std::string softmax = "g (float[1,2,2] x) => (float[1,2,2] y) { y = Softmax(x) }";
    CHECK(run(load(model(softmax, 12)).graph, {x}) == std::vector<double>(4, 0.25));
    CHECK(run(load(model(softmax, 13)).graph, {x}) == std::vector<double>(4, 0.5));
    // Axes and bounds: attributes, later operands.
    CHECK(load(model("g (float[1,2,2] x) => (float[2,2] y) { y = Squeeze<axes = [0]>(x) }", 11))
              .graph.find("y")
              ->meta()
              .sizes == Sizes{2, 2});
    CHECK(load(model("g (float[1,2,2] x) => (float[2,2] y) <int64[1] a = {0}> { y = Squeeze(x, a) }", 13))
              .graph.find("y")
              ->meta()
              .sizes == Sizes{2, 2});
    const Tensor v = Tensor::of({-3.f, 1.f, 9.f});
    CHECK(run(load(model("g (float[3] x) => (float[3] y) { y = Clip<min = 0.0, max = 6.0>(x) }", 10)).graph, {v}) ==
          std::vector<double>{0, 1, 6});
    CHECK(run(load(model("g (float[3] x) => (float[3] y) <float m = {6}> { y = Clip(x, , m) }", 11)).graph, {v}) ==
          std::vector<double>{-3, 1, 6});
    // Integer division and remainder: towards zero, and with the sign of the divisor.
    const Tensor i = Tensor::of<std::int64_t>({-7}), j = Tensor::of<std::int64_t>({2});
    CHECK(run(load(model("g (int64[1] a, int64[1] b) => (int64[1] y) { y = Div(a, b) }")).graph, {i, j}) ==
          std::vector<double>{-3});
    CHECK(run(load(model("g (int64[1] a, int64[1] b) => (int64[1] y) { y = Mod(a, b) }")).graph, {i, j}) ==
          std::vector<double>{1});
}

TEST_CASE("optional results exist when they have names", "[onnx]") {
    const Graph graph =
        load(model("g (float[1,1,2,2] x) => (int64[1,1,1,1] i) { y, i = MaxPool<kernel_shape = [2, 2]>(x) }")).graph;
    CHECK(targets(graph) == std::vector<std::string>{"onnx.MaxPool", "getitem"});
    CHECK(run(graph, {Tensor::of(std::vector<float>{1, 2, 4, 3}, {1, 1, 2, 2})}) == std::vector<double>{2});
    CHECK(same_structure(graph, reloaded(graph)));
}

TEST_CASE("graphs of another dialect are not saved as ONNX", "[onnx]") {
    const Graph graph =
        parse("graph g {\n %x = placeholder[\"x\"] : f32[2]\n %y = aten.relu.default(%x) : f32[2]\n return (%y)\n}\n");
    CHECK_THAT(test::error_of([&] { to_onnx(graph); }),
               Contains("%y (aten.relu.default)") && Contains("which has no ONNX name"));
}

}  // namespace
}  // namespace whittle
