// Sequences and optionals: what is left of them when a model is read. The standard's own models, with values, are in
// test/conformance.
#include <onnx/onnx_pb.h>

#include <onnx/onnx-data.pb.h>  // needs the macros of the one above

#include "base/files.h"
#include "frontends/onnx/save.h"
#include "frontends/onnx/tensor_proto.h"
#include "models.h"
#include "ops/core/interpreter.h"

namespace whittle {
namespace {

using Catch::Contains;
using test::load;
using test::load_error;
using test::model;
using test::run;
using test::targets;

const Tensor kOne = Tensor::of({1.f, 2.f}), kTwo = Tensor::of({3.f, 4.f}), kThree = Tensor::of({5.f, 6.f});

/// A model whose first input is declared as `type` says, which the parser of ONNX's text does not know.
onnx::ModelProto with_input(const std::string& graph, void (*type)(onnx::TypeProto&), int opset = 16) {
    onnx::ModelProto proto = model(graph, opset);
    type(*proto.mutable_graph()->mutable_input(0)->mutable_type());
    return proto;
}
void sequence(onnx::TypeProto& type) {
    const onnx::TypeProto element = type;
    *type.mutable_sequence_type()->mutable_elem_type() = element;
}
void optional(onnx::TypeProto& type) {
    const onnx::TypeProto element = type;
    *type.mutable_optional_type()->mutable_elem_type() = element;
}
void optional_sequence(onnx::TypeProto& type) {
    sequence(type);
    optional(type);
}

TEST_CASE("lists of tensors are no calls", "[onnx]") {
    const Graph graph = load(model("g (float[2] x, float[2] z) => (float[2] y, int64 n) <int64 first = {0}> {"
                                   "e = SequenceEmpty() a = SequenceInsert(e, x) b = SequenceInsert(a, z, first)"
                                   "y = SequenceAt(b, first) n = SequenceLength(b) }"))
                            .graph;
    CHECK(targets(graph).empty());
    CHECK(run(graph, {kOne, kTwo}) == std::vector<double>{3, 4});
    CHECK(run(graph, {kOne, kTwo}, 1) == std::vector<double>{2});
    REQUIRE(graph.find("n"));
    CHECK(graph.find("n")->kind == NodeKind::get_attr);
}

TEST_CASE("positions count from the end, and are checked", "[onnx]") {
    const auto at = [](const std::string& position) {
        return model(
            "g (float[2] x, float[2] z) => (float[2] y) <int64 p = {" + position +
            "}> {"
            "s = SequenceConstruct(x, z) r = SequenceErase(s) t = SequenceInsert(r, z) y = SequenceAt(t, p) }");
    };
    CHECK(run(load(at("-2")).graph, {kOne, kTwo}) == std::vector<double>{1, 2});
    CHECK(run(load(at("1")).graph, {kOne, kTwo}) == std::vector<double>{3, 4});
    CHECK_THAT(load_error(at("2")), Contains("found position 2 in a sequence of 2 elements, expected -2 to 1"));
    CHECK_THAT(load_error(at("-3")), Contains("found position -3"));
}

TEST_CASE("sequences are joined and split by ONNX's ops on tensors", "[onnx]") {
    for (const int opset : {11, 13}) {
        const Graph joined = load(model("g (float[2] x, float[2] z) => (float[2,2] y, float[4] w) {"
                                        "s = SequenceConstruct(x, z) y = ConcatFromSequence<axis = -1, new_axis = 1>(s)"
                                        "w = ConcatFromSequence<axis = 0>(s) }",
                                        opset))
                                 .graph;
        CHECK(run(joined, {kOne, kTwo}) == std::vector<double>{1, 3, 2, 4});
        CHECK(run(joined, {kOne, kTwo}, 1) == std::vector<double>{1, 2, 3, 4});
        const Graph split = load(model("g (float[5] x) => (float[2] y, float z) <int64 two = {2}, int64 last = {-1}> {"
                                       "s = SplitToSequence(x, two) y = SequenceAt(s, last)"
                                       "t = SplitToSequence<keepdims = 0>(x) z = SequenceAt(t, two) }",
                                       opset))
                                .graph;
        const Tensor x = Tensor::of({1.f, 2.f, 3.f, 4.f, 5.f});
        CHECK(run(split, {x}) == std::vector<double>{5});
        CHECK(run(split, {x}, 1) == std::vector<double>{3});
        CHECK(split.node({split.outputs().at(1)}).meta().sizes.empty());
        CHECK(split.calls().size() == 3);  // of the elements that are read: a Slice, and a Slice with its Squeeze
    }
    CHECK_THAT(load_error(model("g (float[5] x) => (float[2] y) <int64[2] p = {2, 2}, int64 i = {0}> {"
                                "s = SplitToSequence(x, p) y = SequenceAt(s, i) }")),
               Contains("found part sizes that sum to 4, expected 5"));
    CHECK_THAT(load_error(model("g (float[5] x) => (float[2] y) <int64[2] p = {3, 3}, int64 i = {0}> {"
                                "s = SplitToSequence(x, p) y = SequenceAt(s, i) }")),
               Contains("found part sizes that sum to more than 5, expected 5"));
    CHECK_THAT(load_error(model("g (float[5] x) => (float[2] y) <int64[2] p = {-1, 6}, int64 i = {0}> {"
                                "s = SplitToSequence(x, p) y = SequenceAt(s, i) }")),
               Contains("found a part of -1 elements, expected 0 or more elements"));
    CHECK_THAT(load_error(model("g (float[1099511627776] x) => (int64 n) { s = SplitToSequence(x) "
                                "n = SequenceLength(s) }")),
               Contains("found a split into 1099511627776 parts"));
}

TEST_CASE("the elements of an input are inputs", "[onnx]") {
    const onnx::ModelProto proto =
        with_input("g (float[N] x, int64 p) => (float[N] y) { s = Identity(x) y = SequenceAt(s, p) }", sequence);
    const Tensor p = Tensor::of(Scalar(1), DType::i64);
    const LoadedModel loaded = load(proto, {.values = {{"x.0", kOne}, {"x.1", Tensor::of({7.f})}, {"p", p}}});
    CHECK(loaded.inputs == std::vector<std::string>{"x.0", "x.1", "p"});
    CHECK(loaded.constants == std::vector<std::string>{"p"});
    CHECK(run(loaded.graph, {kOne, Tensor::of({7.f})}) == std::vector<double>{7});
    CHECK_THAT(load_error(proto), Contains("input 'x': no value is given for this sequence"));
    CHECK_THAT(load_error(proto, {.input_sizes = {{"x.0", {2}}}}),
               Contains("the computed value depends on the value of the input 'p'"));
    CHECK_THAT(load_error(proto, {.values = {{"p", p}}, .lengths = {{"x", 0}}}),
               Contains("found position 1 in a sequence of 0"));
}

TEST_CASE("an element that no result needs is no break", "[onnx]") {
    const onnx::ModelProto proto = model(
        "g (string[2] x) => (string[1] y) <int64 p = {1}> { s = SplitToSequence<axis = 0>(x) y = SequenceAt(s, p) }");
    const LoadedModel loaded = load(proto, {.keep_unknown = true});
    REQUIRE(loaded.breaks.size() == 1);
    CHECK(loaded.graph.find(loaded.breaks[0].node));
}

TEST_CASE("an optional is what it holds", "[onnx]") {
    const onnx::ModelProto proto = with_input("g (float[2] x) => (bool h) { h = OptionalHasElement(x) }", optional);
    CHECK(run(load(proto, {.values = {{"x", kOne}}}).graph, {kOne}) == std::vector<double>{1});
    CHECK(run(load(proto, {.lengths = {{"x", std::nullopt}}}).graph, {}) == std::vector<double>{0});
    const onnx::ModelProto get = with_input(
        "g (float[2] x) => (float[2] y) <int64 p = {-1}> {"
        "s = OptionalGetElement(x) y = SequenceAt(s, p) }",
        optional_sequence);
    CHECK(run(load(get, {.values = {{"x.0", kOne}, {"x.1", kTwo}}}).graph, {kOne, kTwo}) == std::vector<double>{3, 4});
    CHECK_THAT(load_error(get, {.lengths = {{"x", std::nullopt}}}), Contains("found an empty optional"));
}

TEST_CASE("a loop that carries a sequence is written out", "[onnx]") {
    const std::string text =
        "g (int64 n, float[2] x) => (float[M,2] y, int64[M] z) { e = SequenceEmpty() t, z = Loop(n, , e) <body = "
        "b (int64 i, bool k, float[2] v) => (bool l, float[2] w, int64 j) { l = Identity(k) f = Cast<to = 1>(i)"
        "m = Mul(f, x) w = SequenceInsert(v, m) j = Neg(i) }> y = ConcatFromSequence<axis = 0, new_axis = 1>(t) }";
    const LoadedModel loaded = load(model(text), {.values = {{"n", Tensor::of(Scalar(3), DType::i64)}}});
    CHECK(loaded.constants == std::vector<std::string>{"n"});
    CHECK(loaded.graph.subgraphs.empty());
    CHECK(run(loaded.graph, {kOne}) == std::vector<double>{0, 0, 1, 2, 2, 4});
    CHECK(run(loaded.graph, {kOne}, 1) == std::vector<double>{0, -1, -2});
    CHECK_THAT(load_error(model(text)), Contains("the computed value depends on the value of the input 'n'"));
    CHECK_THAT(load_error(model(text), {.values = {{"n", Tensor::of(Scalar(5000), DType::i64)}}}),
               Contains("found more than 1000 iterations of loops"));
}

TEST_CASE("a loop in which sizes change is written out", "[onnx]") {
    const auto loop = [](const std::string& node) {
        return model(
            "g (int64 n, float[3] x) => (float[1] y, float[M] z) <float[1] zero = {0}> { y, z = Loop(n, , zero) "
            "<body = b (int64 i, bool k, float[1] v) => (bool l, float[1] w, float[1] s) { l = Identity(k)"
            "one = Constant<value = int64 {1}>() o = Constant<value = int64[1] {0}>() j = Add(i, one)"
            "from = Unsqueeze(i, o) to = Unsqueeze(j, o) t = Slice(x, from, to) w = Add(v, t) s = " +
            node + "(w) }> }");
    };
    const Tensor x = Tensor::of({1.f, 2.f, 4.f}), n = Tensor::of(Scalar(3), DType::i64);
    const Graph graph = load(loop("Neg"), {.values = {{"n", n}}}).graph;
    CHECK(graph.subgraphs.empty());
    CHECK(run(graph, {x}) == std::vector<double>{7});
    CHECK(run(graph, {x}, 1) == std::vector<double>{-1, -3, -7});
    CHECK_THAT(load_error(loop("Neg")), Contains("the computed value depends on the value of the input 'n'"));
    CHECK_THAT(load_error(loop("Frobnicate"), {.values = {{"n", n}}}), Contains("onnx.Frobnicate"));
}

TEST_CASE("sequences that are not known are named", "[onnx]") {
    CHECK_THAT(load_error(model("g (float[2] x) => (float[2] y) { s = SequenceConstruct(x) y = Relu(s) }")),
               Contains("found a sequence 's' as an input, expected a tensor"));
    CHECK_THAT(load_error(model("g (float[2] x, int64[1] z) => (float[2] y) { y = SequenceConstruct(x, z) }")),
               Contains("found tensors of f32 and of i64 in one sequence, expected equal dtypes"));
    const onnx::ModelProto branches = model(
        "g (bool c, float[2] x) => (float[2] y) <int64 p = {0}> { s = If(c) <"
        "then_branch = t () => (float[2] a) { a = SequenceConstruct(x) }, "
        "else_branch = e () => (float[2] b) { b = SequenceEmpty() }> y = SequenceAt(s, p) }");
    CHECK_THAT(load_error(branches), Contains("the graph 'then_branch' returns a sequence") &&
                                         Contains("the computed value depends on the value of the input 'c'"));
    const Tensor yes = Tensor::of(Scalar(true), DType::boolean);
    CHECK(run(load(branches, {.values = {{"c", yes}}}).graph, {kThree}) == std::vector<double>{5, 6});
    // As a break: what comes behind is unknown.
    const LoadedModel loaded = load(model("g (float[2] x, int64 p) => (float[2] y) { s = SequenceConstruct(x, x)"
                                          "a = SequenceAt(s, p) b = SplitToSequence(a) y = SequenceAt(b, p) }"),
                                    {.keep_unknown = true});
    REQUIRE(loaded.breaks.size() == 1);
    CHECK(loaded.breaks[0].op == "onnx.SequenceAt");
    CHECK_THAT(loaded.breaks[0].reason, Contains("the operand 'position' is computed at run time"));
    // Of a loop that cannot be written out, no iteration is left.
    const LoadedModel loop =
        load(model("g (float[2] x, bool c) => (float[2] y) <int64 p = {0}, int64 n = {3}> { e = SequenceEmpty()"
                   "s = Loop(n, , e) <body = b (int64 i, bool k, float[2] v) => (bool l, float[2] w) {"
                   "l = Not(c) m = Neg(x) w = SequenceInsert(v, m) }> y = SequenceAt(s, p) }"),
             {.keep_unknown = true});
    CHECK(targets(loop.graph) == std::vector<std::string>{"onnx.Loop", "onnx.SequenceAt"});
}

TEST_CASE("test data hold sequences where the model declares them", "[onnx]") {
    const TempDir folder;
    const auto put = [](const Tensor& tensor, onnx::TensorProto& proto) {
        proto.set_data_type(onnx::TensorProto::FLOAT);
        proto.add_dims(tensor.numel());
        for (const double value : tensor.values<double>()) proto.add_float_data(static_cast<float>(value));
    };
    onnx::SequenceProto list;
    list.set_elem_type(onnx::SequenceProto::TENSOR);
    put(kOne, *list.add_tensor_values());
    put(kTwo, *list.add_tensor_values());
    onnx::OptionalProto nothing, some;
    some.set_elem_type(onnx::OptionalProto::SEQUENCE);
    *some.mutable_sequence_value() = list;
    write_file(folder.path() / "input_0.pb", list.SerializeAsString());
    nothing.set_name("nothing");
    write_file(folder.path() / "input_1.pb", nothing.SerializeAsString());
    save_tensor_proto(folder.path() / "input_2.pb", kThree, "z");
    write_file(folder.path() / "output_0.pb", some.SerializeAsString());
    const DeclaredValues declared = {
        .inputs = {{.name = "x", .sequence = true}, {.name = "o", .optional = true}, {"z"}},
        .outputs = {{.name = "y", .optional = true, .sequence = true}}};
    const TestDataSet set = load_test_data_set(folder.path(), declared);
    REQUIRE(set.inputs.size() == 3);
    CHECK(set.inputs[1].name == "x.1");
    CHECK(set.inputs[1].tensor.values<double>() == std::vector<double>{3, 4});
    CHECK(set.inputs[2].name == "z");
    CHECK(set.outputs.size() == 2);
    CHECK(set.lengths == std::map<std::string, std::optional<std::size_t>>{{"x", 2}, {"o", std::nullopt}});
}

}  // namespace
}  // namespace whittle
