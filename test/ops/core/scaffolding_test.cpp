// The registry, the builder and the interpreter themselves; and ATen's facts that no sample can show: what is refused.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "ops/core/pointwise.h"
#include "ops/core/schema_forms.h"
#include "ops/samples/run_op.h"
#include "ops/samples/samples.h"

namespace whittle {
namespace {

using samples::run_op;
using samples::t;

std::string error_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("an unknown op is named with close spellings", "[ops]") {
    using Catch::Contains;
    const auto require = [](const char* target) { return error_of([&] { Registry::instance().require(target); }); };
    CHECK_THAT(require("aten.relu"), Contains("unknown op 'aten.relu'") && Contains("aten.relu.default"));
    CHECK_THAT(require("aten.rellu.default"), Contains("aten.relu.default"));
    CHECK_THAT(require("aten.add.default"), Contains("aten.add.Tensor"));
    CHECK(require("mylib.frobnicate.default") ==
          "unknown op 'mylib.frobnicate.default'; hint: if a library registers the op with LibTorch, name the library: "
          "--op-library FILE");
    CHECK(Registry::instance().find("aten.relu") == nullptr);
}

TEST_CASE("one schema may stand for several", "[ops]") {
    using Forms = std::vector<std::string>;
    CHECK(schema_forms("neg(Tensor self) -> Tensor") == Forms{"neg(Tensor self) -> Tensor"});
    CHECK(schema_forms("eq.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor") ==
          Forms{"eq.Tensor(Tensor self, Tensor other) -> Tensor", "eq.Scalar(Tensor self, Scalar other) -> Tensor"});
    CHECK(schema_forms("any{|.dim|.dims}(Tensor self{|, int dim|, int[] dim}) -> Tensor") ==
          Forms{"any(Tensor self) -> Tensor", "any.dim(Tensor self, int dim) -> Tensor",
                "any.dims(Tensor self, int[] dim) -> Tensor"});
    for (const RegisteredOp& op : Registry::instance().all()) {
        INFO(op.name);
        CHECK(op.text.find_first_of("{|}") == std::string::npos);
    }
}

TEST_CASE("ops by other names are what their record is", "[ops]") {
    const Registry& registry = Registry::instance();
    for (const OtherName& row : other_names()) {
        INFO(row.name);
        const std::string name(row.name.substr(0, row.name.find('(')));
        const bool found = std::ranges::any_of(registry.all(), [&](const RegisteredOp& op) {
            return !op.same_as.empty() && (op.schema.name == name || op.schema.name.starts_with(name + "."));
        });
        CHECK((found || registry.in_place("aten." + name)));
    }
    CHECK(registry.require("aten.multiply.Scalar").same_as == "aten.mul.Scalar");
    CHECK(registry.require("aten.squeeze_.dim").replaces_operand());
    CHECK_FALSE(registry.require("aten.__and__.Tensor").replaces_operand());
    CHECK(run_op("aten.absolute.default", {Tensor::of({-1.f, 2.f})}, {t(0)})[0].values<float>() ==
          std::vector<float>{1, 2});
    CHECK(run_op("aten.remainder.Scalar_Tensor", {Tensor::of<std::int64_t>({3, 5})}, {7, t(0)})[0]
              .values<std::int64_t>() == std::vector<std::int64_t>{1, 2});
    CHECK(run_op("aten.linalg_inv.default", {Tensor::of(std::vector<float>{2}, {1, 1})}, {t(0)}).size() == 1);

    const Tensor x = Tensor::of({1.f, 2.f});
    CHECK(run_op("aten.unsqueeze.default", {x}, {t(0), 0})[0].storage() == x.storage());
    CHECK(run_op("aten.unsqueeze_copy.default", {x}, {t(0), 0})[0].storage() != x.storage());
}

TEST_CASE("in-place forms and out variants are derived", "[ops]") {
    const auto functional = [](const char* target) {
        const InPlaceForm* form = Registry::instance().in_place(target);
        return form ? form->functional : "";
    };
    CHECK(functional("aten.dropout_.default") == "aten.dropout.default");
    CHECK(functional("aten.multiply_.Tensor") == "aten.multiply.Tensor");
    CHECK(functional("aten.pow_.Scalar") == "aten.pow.Tensor_Scalar");
    CHECK(functional("aten.__iand__.Tensor") == "aten.bitwise_and.Tensor");
    CHECK(Registry::instance().find("aten.dropout_.default")->params.front().name == "self");

    const Arg x = Arg(NodeRef{0}), a = Arg(NodeRef{1}), b = Arg(NodeRef{2});
    const auto sum = out_variant({.target = "aten.add.out", .args = {x, x}, .kwargs = {{"out", a}}});
    REQUIRE(sum);
    CHECK(sum->functional.target == "aten.add.Tensor");
    CHECK(sum->functional.kwargs.empty());
    CHECK(sum->outs == std::vector<Arg>{a});
    const auto most =
        out_variant({.target = "aten.max.dim_max", .args = {x, 1}, .kwargs = {{"max", a}, {"max_values", b}}});
    REQUIRE(most);
    CHECK(most->functional.target == "aten.max.dim");
    CHECK(most->outs == std::vector<Arg>{a, b});
    CHECK_FALSE(out_variant({.target = "aten.add.out", .args = {x, x}, .kwargs = {{"alpha", 2}}}));
}

TEST_CASE("operands promote as in ATen", "[ops]") {
    const OperandInfo f16{DType::f16, {2}}, f32{DType::f32, {2}}, i8{DType::i8, {2}}, i64{DType::i64, {2}};
    const OperandInfo boolean{DType::boolean, {2}}, u8{DType::u8, {2}}, bf16{DType::bf16, {2}};
    const OperandInfo f64_0d{DType::f64, {}}, i64_0d{DType::i64, {}};
    const OperandInfo number = operand_info(Scalar(1.5)), integer = operand_info(Scalar(1));
    CHECK(result_type({f16, f32}) == DType::f32);
    CHECK(result_type({f16, bf16}) == DType::f32);
    CHECK(result_type({i8, u8}) == DType::i16);
    CHECK(result_type({i64, f16}) == DType::f16);
    CHECK(result_type({f16, f64_0d}) == DType::f16);  // a 0-d tensor only raises the category
    CHECK(result_type({i8, f64_0d}) == DType::f64);
    CHECK(result_type({i8, i64_0d}) == DType::i8);
    CHECK(result_type({i8, number}) == DType::f32);  // torch's default dtype
    CHECK(result_type({boolean, integer}) == DType::i64);
    CHECK(result_type({i64_0d, number}) == DType::f32);
    CHECK(result_type({f64_0d, f32}) == DType::f32);
    CHECK(result_type({f64_0d, OperandInfo{DType::f32, {}}}) == DType::f64);
}

TEST_CASE("what ATen refuses is refused", "[ops]") {
    using Catch::Contains;
    const Tensor f = Tensor::of({1.f, 2.f}), i = Tensor::of<std::int64_t>({1, 0}), b = Tensor::of({true, false});
    const auto refused = [&](std::string_view target, const std::vector<Tensor>& tensors, ArgList args,
                             std::vector<std::pair<std::string, Arg>> kwargs = {}) {
        return error_of([&] { run_op(target, tensors, args, kwargs); });
    };
    CHECK_THAT(refused("aten.sub.Tensor", {b, b}, {t(0), t(1)}), Contains("is not defined for bool"));
    CHECK_THAT(refused("aten.add.Tensor", {i, i}, {t(0), t(1)}, {{"alpha", Arg(0.5)}}), Contains("alpha"));
    CHECK_THAT(refused("aten.mean.default", {i}, {t(0)}), Contains("mean of i64"));
    CHECK_THAT(refused("aten.floor_divide.default", {i, i}, {t(0), t(1)}), Contains("division by zero"));
    CHECK_THAT(refused("aten.remainder.Tensor", {i, i}, {t(0), t(1)}), Contains("by zero"));
    CHECK_THAT(refused("aten.pow.Tensor_Scalar", {i}, {t(0), Arg(-1)}), Contains("exponent=-1"));
    CHECK_THAT(refused("aten.bitwise_and.Tensor", {f, f}, {t(0), t(1)}), Contains("not defined for f32"));
    CHECK_THAT(refused("aten.bitwise_and.Tensor", {i, f}, {t(0), t(1)}), Contains("not defined for"));
    CHECK_THAT(refused("aten.relu.default", {b}, {t(0)}), Contains("not defined for bool") && Contains("f32"));
    CHECK_THAT(refused("aten.relu.default", {f}, {Arg(1.0)}), Contains("expected a tensor"));
    CHECK_THAT(refused("aten.clamp.default", {f}, {t(0)}), Contains("neither min nor max"));
    CHECK_THAT(refused("aten.amax.default", {Tensor(DType::f32, {2, 0})}, {t(0), Arg::ints({1})}),
               Contains("expected at least one element"));
    CHECK_THAT(refused("aten.sum.dim_IntList", {f}, {t(0), Arg::ints({0, -1})}), Contains("twice"));
    CHECK_THAT(refused("aten.sum.dim_IntList", {f}, {t(0), Arg::ints({1})}), Contains("-1") && Contains("0"));
    CHECK_THAT(refused("aten.add.Tensor", {f, Tensor(DType::f32, {3})}, {t(0), t(1)}),
               Contains("[2]") && Contains("[3]"));
    CHECK_THAT(refused("aten.where.self", {f, f, f}, {t(0), t(1), t(2)}), Contains("a condition of dtype f32"));
}

TEST_CASE("NaN and signs of zero follow ATen", "[ops]") {
    const auto one = [&](std::string_view target, std::vector<double> values, ArgList rest = {}) {
        ArgList args = {t(0)};
        args.insert(args.end(), rest.begin(), rest.end());
        return run_op(target, {Tensor::of(values, {static_cast<std::int64_t>(values.size())})}, args)[0]
            .values<double>();
    };
    CHECK(std::isnan(one("aten.relu.default", {kNan})[0]));
    CHECK(std::signbit(one("aten.relu.default", {-0.0})[0]));
    CHECK(one("aten.sign.default", {kNan})[0] == 0);
    CHECK(std::isnan(one("aten.silu.default", {-kInfinity})[0]));
    CHECK(std::isnan(one("aten.amax.default", {1, kNan, 2})[0]));
    CHECK(std::isnan(one("aten.clamp.default", {1}, {Arg(kNan), Arg(3.0)})[0]));
    CHECK(one("aten.clamp.default", {1}, {Arg(3), Arg(2)})[0] == 2);                // crossed bounds: max wins
    CHECK(one("aten.round.default", {2.5})[0] == 2);                                // ties to even
    CHECK(std::isnan(one("aten.pow.Tensor_Scalar", {-kInfinity}, {Arg(0.5)})[0]));  // sqrt, not pow
    CHECK(one("aten.logsumexp.default", {-kInfinity, -kInfinity}, {Arg::ints({0})})[0] == -kInfinity);
    CHECK(one("aten.argmax.default", {1, 3, 3})[0] == 1);
    CHECK(one("aten.argmin.default", {kNan, -1, kNan})[0] == 0);
    CHECK(std::isnan(one("aten.mean.default", {})[0]));
    CHECK(std::isnan(one("aten.var.default", {1})[0]));
    CHECK(one("aten.prod.default", {})[0] == 1);
}

TEST_CASE("integers wrap and round as in ATen", "[ops]") {
    const auto two = [&](std::string_view target, DType dtype, std::int64_t a, std::int64_t b) {
        return run_op(target, {Tensor::of(Scalar(a), dtype), Tensor::of(Scalar(b), dtype)}, {t(0), t(1)})[0]
            .item()
            .to_integer();
    };
    CHECK(two("aten.add.Tensor", DType::i8, 127, 1) == -128);
    CHECK(two("aten.mul.Tensor", DType::u8, 200, 2) == 144);
    CHECK(two("aten.floor_divide.default", DType::i32, -7, 2) == -4);
    CHECK(two("aten.floor_divide.default", DType::i8, -128, -1) == -128);
    CHECK(two("aten.remainder.Tensor", DType::i32, -7, 2) == 1);
    CHECK(two("aten.fmod.Tensor", DType::i32, -7, 2) == -1);
    CHECK(two("aten.pow.Tensor_Tensor", DType::i32, -1, -3) == -1);
    CHECK(two("aten.pow.Tensor_Tensor", DType::i64, 3, 41) == -420491770248316829);
    CHECK(two("aten.bitwise_right_shift.Tensor", DType::i8, -128, 9) == -1);
    CHECK(two("aten.bitwise_left_shift.Tensor", DType::i32, 1, 32) == 0);
    const Tensor sum = run_op("aten.sum.default", {Tensor::of<std::int64_t>({100, 100}).to(DType::i8)}, {t(0)})[0];
    CHECK(sum.dtype() == DType::i64);
    CHECK(sum.item().to_integer() == 200);
}

// --- Interpreter ---

/// Counts steps, and replaces relu by the identity.
class Overriding : public Interpreter {
  public:
    int steps = 0;
    std::vector<std::string> seen = {};

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        ++steps;
        if (call.target == "aten.relu.default") return {arguments.tensor("self")};
        return Interpreter::step(graph, call, op, arguments);
    }
    void observe(const Graph& graph, NodeId node, std::span<const Tensor> results) override {
        if (!results.empty()) seen.push_back(graph.nodes[static_cast<std::size_t>(node)].name);
    }
};

TEST_CASE("the interpreter's step can be overridden and every node observed", "[ops]") {
    Graph graph;
    GraphBuilder builder(graph);
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {2, 2}));
    const V scale = builder.constant(Tensor::of({2.f, 3.f}), "scale");
    const V product = builder.call("aten.mul.Tensor", {x, scale.ref});
    const V relu = builder.call("aten.relu.default", {product.ref});
    const std::vector<V> both = builder.call_multi("aten.max.dim", {relu.ref, Arg(1)});
    graph.output({both[0].ref, both[1].ref});
    infer_all(graph);

    const Tensor input = Tensor::of(std::vector<float>{-1, -2, 3, 1}, {2, 2});
    const std::vector<Tensor> outputs = evaluate(graph, std::vector{input});
    CHECK(outputs.at(0).values<float>() == std::vector<float>{0, 6});
    CHECK(outputs.at(1).values<std::int64_t>() == std::vector<std::int64_t>{0, 0});

    Overriding overriding;
    CHECK(overriding.run(graph, std::vector{input}).at(0).values<float>() == std::vector<float>{-2, 6});
    CHECK(overriding.steps == 3);
    CHECK(overriding.seen.size() == 7);

    CHECK(error_of([&] { evaluate(graph, std::vector<Tensor>{}); }) == "graph graph: found 0 inputs, expected 1");
    CHECK(error_of([&] { evaluate(graph, std::vector{input.to(DType::f64)}); }) ==
          "graph graph: input %x is f64[2, 2], expected f32[2, 2]");
}

TEST_CASE("errors of a run and of inference name the node", "[ops]") {
    using Catch::Contains;
    Graph graph;
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::i64, {}));
    const V quotient = GraphBuilder(graph).call("aten.floor_divide.default", {x, x});
    graph.output({quotient.ref});
    CHECK_THAT(error_of([&] { evaluate(graph, std::vector{Tensor(DType::i64, {})}); }),
               Contains("%floor_divide") && Contains("aten.floor_divide.default") && Contains("division by zero"));
    graph.nodes[0].results = {ValueMeta::contiguous(DType::boolean, {})};
    CHECK_THAT(error_of([&] { infer_all(graph); }), Contains("%floor_divide") && Contains("not defined for bool"));
}

TEST_CASE("a composite expands with its constants as constants", "[ops]") {
    Graph graph;
    GraphBuilder builder(graph);
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {2, 3}));
    const V weight = builder.constant(Tensor(DType::f32, {3}), "weight");
    const V norm = builder.call("aten.layer_norm.default", {x, Arg::ints({3}), weight.ref, weight.ref});
    const Expansion expansion = expand(graph, graph.node(norm.ref));
    CHECK(expansion.operands == std::vector{x});
    CHECK(expansion.graph.attributes.size() == 1);
    CHECK(expansion.graph.placeholders().size() == 1);
    CHECK(expansion.graph.node({expansion.graph.outputs()[0]}).meta() == norm.meta);
}

}  // namespace
}  // namespace whittle
