// What a title says of a failing graph (test/backends/short_programs_test.cpp has whole titles).
#include "printers/formula.h"

#include <catch2/catch.hpp>

#include "graph/text.h"

using namespace whittle;

namespace {

/// Of one op, whose operands have names.
class PadSchema final : public SchemaSource {
  public:
    const Schema* find(std::string_view target) const override { return target == "onnx.Pad" ? &schema_ : nullptr; }

  private:
    Schema schema_ = Schema::parse(
        "Pad(Tensor data, Tensor? pads_value=None, Tensor? constant_value=None, Tensor? axes=None, *, int[]? "
        "pads=None) "
        "-> Tensor");
};

Graph with_constant(const char* text, const std::string& name, const Tensor& value) {
    Graph graph = parse(text);
    graph.attributes[name] = value;
    return graph;
}

constexpr const char* kPad = R"(graph g opset("": 18) {
  %x = placeholder["x"] : f32[2, 1]
  %w0 = get_attr["w0"] : i64[2]
  %t = onnx.Transpose(%x, perm=[1, 0]) : f32[1, 2]
  %y = onnx.Pad(%t, %w0, none, %w0) : f32[1, 4]
  return (%y)
}
)";

constexpr const char* kNormalize = R"(graph g opset("": 17) {
  %x = placeholder["x"] : f32[4]
  %w0 = get_attr["w0"] : f32[2, 2]
  %mean = onnx.ReduceMean(%x, axes=[-1]) : f32[1]
  %sub = onnx.Sub(%mean, %x) : f32[4]
  %neg = onnx.Neg(%x) : f32[4]
  %add = onnx.Add(%neg, %neg, %w0) : f32[4]
  %y = onnx.Div(%sub, %sub, %add) : f32[4]
  return (%y)
}
)";

constexpr const char* kTwo = R"(graph g {
  %x0 = placeholder["x0"] : i64[1]
  %x1 = placeholder["x1"] : f32[2, 3]
  %y1 = aten.sum.dim_IntList(%x1, [0, 1], true) : f32[1, 1]
  %y0 = aten.add.Tensor(%x0, %y1, alpha=2) : f32[1, 1]
  return (%y0, %y1)
}
)";

constexpr const char* kScan = R"(graph g opset("": 17) {
  @body = graph body opset("": 17) {
    %x0 = placeholder["x0"] : f32[2]
    %x1 = placeholder["x1"] : f32[2]
    %mul = onnx.Mul(%x1, %x0) : f32[2]
    return (%x0, %mul)
  }
  %x0 = placeholder["x0"] : f32[2]
  %x1 = placeholder["x1"] : f32[3, 2]
  %scan = onnx.Scan([%x0, %x1], num_scan_inputs=1, body=@body) : (f32[2], f32[3, 2])
  %y = getitem(%scan, 0) : f32[2]
  return (%y)
}
)";

}  // namespace

TEST_CASE("formula: constants of few elements under the names of their parameters, missing ones left out") {
    const Graph graph = with_constant(kPad, "w0", Tensor::of<std::int64_t>({0, 2}, {2}));
    const PadSchema schemas;
    CHECK(formula_of(graph, &schemas) == "Pad(Transpose<perm=[1, 0]>(x), pads=[0, 2], axes=[0, 2])");
    CHECK(formula_of(graph) == "Pad(Transpose<perm=[1, 0]>(x), [0, 2], , [0, 2])");
    const Graph many = with_constant(kPad, "w0", Tensor(DType::i64, {9}));
    CHECK(formula_of(many, &schemas) == "Pad(Transpose<perm=[1, 0]>(x), w0[9], axes=w0[9])");
}

TEST_CASE("formula: a long value that is read twice is written once, a short one twice") {
    const Graph graph = with_constant(kNormalize, "w0", Tensor(DType::f32, {2, 2}));
    CHECK(formula_of(graph) ==
          "Div(sub, sub, Add(Neg(x), Neg(x), w0[2, 2])) with sub = Sub(ReduceMean<axes=[-1]>(x), x)");
}

TEST_CASE("formula: a nested graph is what it gives") {
    CHECK(formula_of(parse(kScan)) == "Scan<num_scan_inputs=1, body=(x0, x1) -> (x0, Mul(x1, x0))>(x0, x1)");
}

TEST_CASE("formula: an element type has ONNX's name, not its code in the file") {
    CHECK(formula_of(parse("graph g opset(\"\": 17) {\n  %x = placeholder[\"x\"] : f32[2]\n"
                           "  %y = onnx.Cast(%x, to=9) : bool[2]\n  return (%y)\n}\n")) == "Cast<to=BOOL>(x)");
}

TEST_CASE("formula: several outputs have names") {
    CHECK(formula_of(parse(kTwo)) == "y0 = add(x0, y1, alpha=2), y1 = sum(x1, [0, 1], true)");
}

TEST_CASE("formula: what is long loses sizes, then attributes, and is the list of its ops in the end") {
    std::string text = "graph g opset(\"\": 17) {\n  %x = placeholder[\"x\"] : f32[1]\n";
    const auto chain = [&](int calls) {
        std::string graph = text, last = "x";
        for (int i = 0; i < calls; i++) {
            const std::string name = "v" + std::to_string(i);
            graph += "  %" + name + " = onnx.Transpose(%" + last + ", perm=[0, 1, 2, 3]) : f32[1]\n";
            last = name;
        }
        return parse(graph + "  return (%" + last + ")\n}\n");
    };
    CHECK(formula_of(chain(2)) == "Transpose<perm=[0, 1, 2, 3]>(Transpose<perm=[0, 1, 2, 3]>(x))");
    CHECK(formula_of(chain(5)) == "Transpose(Transpose(Transpose(Transpose(Transpose(x)))))");
    CHECK(formula_of(chain(11)) == "Transpose");
}

TEST_CASE("formula: types and values of the inputs") {
    const Graph one = parse(kPad), two = parse(kTwo);
    CHECK(types_of(one, true) == " of float[2, 1]");
    CHECK(where_of(one, std::vector{Tensor(DType::f32, {2, 1})}, true).empty());
    CHECK(types_of(two, false) == " of int64[1] x0, float[2, 3] x1");
    CHECK(types_of(two, true) == " of float[2, 3] x1");  // the other one is given by value
    const Tensor transposed = Tensor(DType::f32, {6}).as_strided({2, 3}, {1, 2}, 0);
    const std::vector<Tensor> inputs = {Tensor::of<std::int64_t>({3}), transposed};
    CHECK(where_of(two, inputs, true) == ", where x0 = 3, x1[2, 3] has strides [1, 2]");
    CHECK(where_of(two, inputs, false) == ", where x1[2, 3] has strides [1, 2]");
}
