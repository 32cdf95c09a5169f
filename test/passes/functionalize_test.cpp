#include "passes/functionalize.h"

#include <catch2/catch.hpp>
#include <random>

#include "base/error.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"

using namespace whittle;
using Catch::Contains;

namespace {

Functionalized functional(const std::string& text) {
    Functionalized result = functionalize(parse(text));
    verify(result.graph, Stage::functional, Registry::instance());
    return result;
}

std::string body(const std::string& text) { return print(functional(text).graph); }

/// A random program of views and writes on two inputs.
class RandomProgram {
  public:
    explicit RandomProgram(unsigned seed) : random_(seed) {
        graph_.name = "random";
        for (const char* name : {"x", "y"}) add(graph_.placeholder(name, ValueMeta::contiguous(DType::f32, {4, 6})));
    }

    Graph make() {
        for (int i = 0; i < 12; ++i) pick(2) == 0 ? write() : view();
        std::vector<NodeRef> outputs;
        for (const NodeRef ref : values_) outputs.push_back(ref);
        graph_.output(outputs);
        return graph_;
    }

  private:
    std::int64_t pick(std::int64_t below) { return std::uniform_int_distribution<std::int64_t>(0, below - 1)(random_); }
    void add(NodeRef ref) { values_.push_back(ref); }
    const ValueMeta& meta(NodeRef ref) const { return graph_.node(ref).meta(); }

    void call(const std::string& target, ArgList args) {
        Node node{.target = target, .args = std::move(args)};
        node.results = infer(graph_, node);
        const NodeRef made = graph_.add(node);
        if (node.results.size() == 1 && target != "aten.split.Tensor") return add(made);
        for (std::size_t i = 0; i < node.results.size(); ++i)
            add(graph_.add({.target = std::string(kGetItem),
                            .args = {Arg(made), Arg(static_cast<std::int64_t>(i))},
                            .results = {node.results[i]}}));
    }

    void view() {
        const NodeRef of = values_[static_cast<std::size_t>(pick(static_cast<std::int64_t>(values_.size())))];
        const Sizes& sizes = meta(of).sizes;
        const std::int64_t rank = static_cast<std::int64_t>(sizes.size());
        if (rank == 0) return call("aten.unsqueeze.default", {Arg(of), 0});
        const std::int64_t dim = pick(rank), size = sizes[static_cast<std::size_t>(dim)];
        switch (pick(7)) {
            case 0:
                return call("aten.select.int", {Arg(of), dim, pick(size)});
            case 1:
                return call("aten.slice.Tensor", {Arg(of), dim, pick(size), size, 1 + pick(2)});
            case 2:
                return call("aten.transpose.int", {Arg(of), dim, pick(rank)});
            case 3:
                return call("aten.reshape.default", {Arg(of), Arg::ints({-1})});
            case 4:
                return call("aten.unsqueeze.default", {Arg(of), pick(rank + 1)});
            case 5:
                return call("aten.split.Tensor", {Arg(of), 1 + pick(size), dim});
            default:
                return call("aten.diagonal.default", rank < 2 ? ArgList{} : ArgList{Arg(of), pick(2), 0, 1});
        }
    }

    void write() {
        const auto any = [&] {
            return values_[static_cast<std::size_t>(pick(static_cast<std::int64_t>(values_.size())))];
        };
        const NodeRef of = any();
        switch (pick(4)) {
            case 0:
                return call("aten.add_.Scalar", {Arg(of), 1.5});
            case 1:
                return call("aten.mul_.Tensor", {Arg(of), Arg(of)});
            case 2:
                return call("aten.fill_.Scalar", {Arg(of), 3.0});
            default:
                return call("aten.relu_.default", {Arg(of)});
        }
    }

    std::mt19937 random_;
    Graph graph_;
    std::vector<NodeRef> values_;
};

}  // namespace

TEST_CASE("every aten op that returns one fresh tensor has an in-place form", "[inplace]") {
    const Schema* schema = Registry::instance().find("aten.add_.Tensor");
    REQUIRE(schema);
    CHECK(schema->params.front().mutates);
    CHECK(schema->params.front().alias == "a");
    REQUIRE(Registry::instance().in_place("aten.add_.Tensor"));
    CHECK(Registry::instance().in_place("aten.add_.Tensor")->functional == "aten.add.Tensor");
    CHECK_FALSE(Registry::instance().find("aten.view_.default"));
    CHECK_FALSE(Registry::instance().find("onnx.Add_"));
    CHECK_FALSE(Registry::instance().op("aten.add_.Tensor"));
}

TEST_CASE("a write to an input becomes an operation and an update") {
    const Functionalized result = functional(R"(graph g {
  %x = placeholder["x"] : f32[2]
  %a = aten.add_.Scalar(%x, 1.0) : f32[2]
  %b = aten.mul.Tensor(%x, %a) : f32[2]
  return (%b)
}
)");
    CHECK(print(result.graph) == R"(graph g {
  %x = placeholder["x"] : f32[2]
  %a = aten.add.Scalar(%x, 1.0) : f32[2]
  %b = aten.mul.Tensor(%a, %a) : f32[2]
  return (%b, %a)
}
)");
    CHECK(result.updates == std::vector<MemoryUpdate>{{"x", 1}});
}

TEST_CASE("a write through a view is a write to its base, told by the view's geometry") {
    const auto program = [](const std::string& view, const std::string& sizes) {
        return body(
            "graph g {\n  %x = placeholder[\"x\"] : f32[4, 6]\n  %c = aten.clone.default(%x) : f32[4, 6]\n  %v = " +
            view + " : f32" + sizes + "\n  %w = aten.relu_.default(%v) : f32" + sizes + "\n  return (%c)\n}\n");
    };
    CHECK_THAT(program("aten.select.int(%c, 1, 2)", "[4]"), Contains("aten.select_scatter.default(%c, %w, 1, 2)"));
    CHECK_THAT(program("aten.slice.Tensor(%c, 0, 1, 4, 2)", "[2, 6]"),
               Contains("aten.slice_scatter.default(%c, %w, 0, 1, 4, 2)"));
    CHECK_THAT(program("aten.transpose.int(%c, 0, 1)", "[6, 4]"), Contains("aten.permute.default(%w, [1, 0])"));
    CHECK_THAT(program("aten.view.default(%c, [24])", "[24]"), Contains("aten.reshape.default(%w, [4, 6])"));
    CHECK_THAT(program("aten.diagonal.default(%c)", "[4]"), Contains("aten.scatter.src"));
    CHECK_THAT(program("aten.swapaxes.default(%c, 0, 1)", "[6, 4]"), Contains("aten.permute.default(%w, [1, 0])"));
}

TEST_CASE("a call keeps its name, also one like those of what writes through views add") {
    const Graph graph =
        functional(
            "graph g {\n  %x = placeholder[\"x\"] : f32[4, 6]\n  %c = aten.clone.default(%x) : f32[4, 6]\n"
            "  %select = aten.select.int(%c, 1, 2) : f32[4]\n"
            "  %mul_ = aten.mul_.Tensor(%select, 2) : f32[4]\n"
            "  %mul__1 = aten.mul_.Tensor(%select, 3) : f32[4]\n"
            "  %select_1 = aten.select.int(%c, 0, 1) : f32[6]\n"
            "  return (%c, %select_1)\n}\n")
            .graph;
    CHECK(graph.find("mul_")->target == "aten.mul.Tensor");
    CHECK(graph.find("mul_")->args.at(1) == Arg(std::int64_t{2}));
    CHECK(graph.find("mul__1")->target == "aten.mul.Tensor");
    CHECK(graph.find("mul__1")->args.at(1) == Arg(std::int64_t{3}));
    CHECK(graph.find("select_1")->args.at(1) == Arg(std::int64_t{0}));
}

TEST_CASE("composites of views are views, also those that take the sizes of another tensor") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %y = placeholder["y"] : f32[3, 2]
  %c = aten.clone.default(%x) : f32[2, 3]
  %v = aten.view_as.default(%c, %y) : f32[3, 2]
  %p = aten.tensor_split.sections(%v, 2) : (f32[2, 2], f32[1, 2])
  %last = getitem(%p, 1) : f32[1, 2]
  %w = aten.mul_.Scalar(%last, 2) : f32[1, 2]
  return (%c)
}
)");
    const std::vector<Tensor> inputs = {Tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}),
                                        Tensor(DType::f32, {3, 2})};
    const std::vector<float> wanted = {1, 2, 3, 4, 10, 12};
    CHECK(evaluate(graph, inputs).at(0).values<float>() == wanted);
    CHECK(evaluate(functionalize(graph).graph, inputs).at(0).values<float>() == wanted);
}

TEST_CASE("a value that is written keeps its requires_grad, and so does what the write makes of its base") {
    CHECK_THAT(body(R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %w = placeholder["w"] : f32[2, 3] grad
  %h = aten.mul.Tensor(%x, %w) : f32[2, 3] grad
  %all = aten.mul_.Tensor(%h, 2.0) : f32[2, 3] grad
  %row = aten.select.int(%h, 0, 0) : f32[3] grad
  %one = aten.add_.Tensor(%row, 1.0) : f32[3] grad
  return (%h)
}
)"),
               Contains("aten.mul.Tensor(%h, 2.0) : f32[2, 3] grad") &&
                   Contains("aten.add.Tensor(%row, 1.0) : f32[3] grad") &&
                   Contains("aten.select_scatter.default(%all, %one, 0, 0) : f32[2, 3] grad"));
    CHECK_THAT(body(R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %w = placeholder["w"] : f32[2, 3] grad
  %e = aten.exp.default(%w) : f32[2, 3]
  %y = aten.mul.Tensor(%x, 2.0) : f32[2, 3]
  %all = aten.mul_.Tensor(%y, %w) : f32[2, 3]
  return (%y, %e)
}
)"),
               Contains("aten.mul.Tensor(%y, %w) : f32[2, 3]\n"));  // without gradients, as it was recorded
}

TEST_CASE("what cannot be told functionally is an error that names the node") {
    const auto message = [](const std::string& text) {
        try {
            functionalize(parse(text));
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK_THAT(message(R"(graph g {
  %x = placeholder["x"] : f32[1]
  %e = aten.expand.default(%x, [3]) : f32[3]
  %a = aten.relu_.default(%e) : f32[3]
  return (%a)
}
)"),
               Contains("%a (aten.relu_.default)") && Contains("repeats elements"));
    CHECK_THAT(message(R"(graph g {
  %x = placeholder["x"] : f32[1]
  %y = placeholder["y"] : f32[3]
  %a = aten.add_.Tensor(%x, %y) : f32[1]
  return (%a)
}
)"),
               Contains("sizes [3]"));
}

TEST_CASE("a write to an input whose elements share memory is refused, one whose strides lie apart is not") {
    const auto refused = [](const Strides& strides) {
        Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[3, 4]
  %s = aten.select.int(%x, 0, 1) : f32[4]
  %a = aten.relu_.default(%s) : f32[4]
  return (%x)
}
)");
        graph.nodes[0].results[0].strides = strides;
        try {
            functionalize(graph);
        } catch (const FunctionalizeError& error) {
            CHECK(error.node == 2);
            return std::string(error.what()).find("overlap") != std::string::npos;
        }
        return false;
    };
    for (const Strides& overlapping : {Strides{2, 1}, Strides{0, 1}, Strides{1, 1}}) CHECK(refused(overlapping));
    for (const Strides& apart : {Strides{4, 1}, Strides{1, 3}, Strides{8, 2}}) CHECK_FALSE(refused(apart));
}

TEST_CASE("random programs of views and writes give what memory gives") {
    std::size_t programs = 0, with_writes = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        Graph graph;
        try {
            graph = RandomProgram(seed).make();
        } catch (const Error&) {
            continue;  // a view that the sizes do not allow
        }
        ++programs;
        with_writes += has_writes(graph);
        INFO("seed " << seed << "\n" << print(graph));
        std::vector<Tensor> inputs;
        for (int input = 0; input < 2; ++input) {
            std::vector<float> numbers;
            for (int i = 0; i < 24; ++i) numbers.push_back(static_cast<float>((i * 7 + input * 5) % 13 - 6) / 4);
            inputs.push_back(Tensor::of(numbers, {4, 6}));
        }
        const Functionalized result = functionalize(graph);
        verify(result.graph, Stage::functional, Registry::instance());
        INFO(print(result.graph));
        const std::vector<Tensor> found = evaluate(result.graph, inputs),
                                  before = {inputs[0].clone(), inputs[1].clone()};
        const std::vector<Tensor> wanted = evaluate(graph, inputs);  // in memory, what is written to inputs at the end
        CHECK((same_bits(inputs[0], before[0]) && same_bits(inputs[1], before[1])));
        REQUIRE(found.size() == wanted.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            INFO("value " << i);
            REQUIRE(same_bits(found[i], wanted[i]));
        }
    }
    CHECK(programs > 100);
    CHECK(with_writes > 100);
}

TEST_CASE("batch norm in training updates its running statistics, though its schema does not say so",
          "[functionalize]") {
    Origins origins;
    const Graph captured = parse(R"(graph step {
  %x = placeholder["x"] : f32[4, 2]
  %mean = get_attr["mean"] : f32[2]
  %var = get_attr["var"] : f32[2]
  %norm = aten.native_batch_norm.default(%x, none, none, %mean, %var, true, 0.25, 1e-05) : (f32[4, 2], f32[2], f32[2])
  %y = getitem(%norm, 0) : f32[4, 2]
  return (%y)
}
)");
    const Functionalized result = functionalize(captured, {}, &origins);
    verify(result.graph, Stage::functional, Registry::instance());
    CHECK(result.updates == std::vector<MemoryUpdate>{{"mean", 1}, {"var", 2}});
    REQUIRE(origins.size() == result.graph.nodes.size());
    for (const std::vector<NodeId>& origin : origins) CHECK(origin.size() == 1);
}
