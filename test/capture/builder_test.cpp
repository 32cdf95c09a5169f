#include "capture/builder.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "graph/text.h"

using namespace whittle;
using namespace whittle::capture;

namespace {

/// A program's tensors: what it has of each, as a frontend would tell it.
class Program {
  public:
    explicit Program(Builder& to) : builder(to) {}

    struct Value {
        ValueMeta meta;
        NodeRef node = {};
        Place place = {};
        TensorKey key = 0;
        StorageKey storage = 0;
        std::int64_t offset = 0;
        bool writable = true;
    };
    static Operand operand(const Value& value) {
        return {.key = value.key,
                .meta = &value.meta,
                .node = value.node,
                .place = value.place,
                .storage = value.storage,
                .offset = value.offset,
                .writable = value.writable};
    }
    /// From outside, in this memory.
    Value outside(Sizes sizes, StorageKey storage) {
        return {.meta = ValueMeta::contiguous(DType::f32, std::move(sizes)), .key = ++last_key, .storage = storage};
    }
    std::variant<Placed, GraphBreak> issue(const std::string& target, const std::vector<Value>& values,
                                           const std::vector<Arg>& more = {}, const std::string& functional = {},
                                           const NestedGraphs& nested = {}) {
        Node call{.target = target};
        std::vector<Operand> operands;
        for (const Value& value : values) {
            call.args.emplace_back(NodeRef{static_cast<NodeId>(operands.size())});
            operands.push_back(operand(value));
        }
        call.args.insert(call.args.end(), more.begin(), more.end());
        return builder.issue({call, functional, operands, nested});
    }
    Value call(const std::string& target, const std::vector<Value>& values, const std::vector<Arg>& more = {}) {
        const auto outcome = issue(target, values, more);
        const Placed::Result& result = std::get<Placed>(outcome).results.at(0);
        Value made{.meta = result.meta, .node = result.node, .key = ++last_key};
        if (result.view) {
            made.place = builder.view(operand(values.at(0)), *result.view, result.meta.dtype);
        }
        return made;
    }
    std::variant<Placed, GraphBreak> add_in_place(const Value& to) {
        return issue("aten.add_.Tensor", {to, to}, {}, "aten.add.Tensor");
    }

    Builder& builder;
    TensorKey last_key = 0;
};

}  // namespace

TEST_CASE("operations make a graph of the inputs that they need") {
    Builder builder("g");
    Program program(builder);
    const auto x = program.outside({2, 3}, 1), y = program.outside({2, 3}, 2);
    builder.naming().know(x.key, Source::local("x"));
    builder.naming().know_origin(y.key, Origin::live);
    const auto sum = program.call("aten.add.Tensor", {x, y}), twice = program.call("aten.add.Tensor", {sum, x});
    CHECK(builder.inputs().size() == 2);
    const Held held[] = {{twice.node, twice.place}};
    const auto captured = builder.close(builder.outputs(held).nodes, std::nullopt);
    REQUIRE(captured);
    CHECK(print(captured->graph) ==
          "graph g {\n"
          "  %l_x = placeholder[\"L['x']\"] : f32[2, 3]\n"
          "  %live_0 = placeholder[\"___live[0]\"] : f32[2, 3]\n"
          "  %add = aten.add.Tensor(%l_x, %live_0) : f32[2, 3]\n"
          "  %add_1 = aten.add.Tensor(%add, %l_x) : f32[2, 3]\n"
          "  return (%add_1)\n"
          "}\n");
}

TEST_CASE("nothing is left of an operation that cannot be inferred") {
    Builder builder("g");
    Program program(builder);
    const auto x = program.outside({2}, 1), wide = program.outside({7}, 2);
    const auto y = program.call("aten.relu.default", {x});
    const std::string before = print(builder.graph().graph());
    const NestedGraphs nested = {{"body", std::make_shared<const Graph>()}};
    CHECK_THROWS_AS(program.issue("aten.add.Tensor", {y, wide}, {Arg(GraphRef{"body"})}, {}, nested), Error);
    CHECK(print(builder.graph().graph()) == before);
    CHECK(builder.graph().graph().subgraphs.empty());
    CHECK(builder.graph().guards().size() == 1);
    CHECK(builder.inputs().size() == 1);
    CHECK_FALSE(builder.input(wide.key));
    program.call("aten.relu.default", {wide});
    CHECK(builder.graph().source_of(*builder.input(wide.key))->text() == "G['tensor_1']");  // its number is free again

    // Unless somebody keeps a record of what failed, and on what.
    const auto other = program.outside({9}, 3);
    std::string failed;
    builder.on_failure = [&](const Node& call, const std::exception&) {
        failed = call.target;
        return true;
    };
    CHECK_THROWS_AS(program.issue("aten.add.Tensor", {y, other}), Error);
    CHECK(failed == "aten.add.Tensor");
    CHECK(builder.input(other.key));
}

TEST_CASE("a graph ends where it would read what another input wrote, or where inputs share what is written") {
    Builder builder("g");
    Program program(builder);
    const auto x = program.outside({2}, 1), alias = program.outside({2}, 1);
    CHECK_FALSE(std::get<Placed>(program.add_in_place(x)).ended_by);
    CHECK(builder.memories().is_written(1));
    CHECK(std::holds_alternative<Placed>(program.issue("aten.relu.default", {x})));  // it sees its own write
    const auto stale = program.issue("aten.relu.default", {alias});
    REQUIRE(std::holds_alternative<GraphBreak>(stale));
    CHECK(std::get<GraphBreak>(stale).kind == BreakKind::mutation);
    CHECK(builder.inputs().size() == 1);

    builder.begin("next");
    program.call("aten.add.Tensor", {x, alias});
    const auto view = program.call("aten.view.default", {x}, {Arg::ints({2, 1})});
    const auto shared = program.add_in_place(view);
    REQUIRE(std::get<Placed>(shared).ended_by);
    CHECK(std::get<Placed>(shared).ended_by->op == "aten.add_.Tensor");

    builder.begin("last");
    auto constant = program.outside({2}, 2);
    constant.writable = false;
    CHECK_THROWS_WITH(program.add_in_place(constant), Catch::Contains("read-only memory"));
    const auto row = program.call("aten.select.int", {constant}, {Arg(0), Arg(0)});
    CHECK_THROWS_WITH(program.add_in_place(row), Catch::Contains("read-only memory"));
}

TEST_CASE("what a write does not touch can be read") {
    Builder builder("g");
    Program program(builder);
    const auto x = program.outside({4}, 1);
    auto near = program.outside({2}, 1), far = program.outside({2}, 1);
    near.offset = 3;
    far.offset = 4;
    const auto last = program.call("aten.select.int", {x}, {Arg(0), Arg(3)});
    CHECK_FALSE(std::get<Placed>(program.add_in_place(last)).ended_by);
    CHECK(std::holds_alternative<GraphBreak>(program.issue("aten.relu.default", {near})));
    CHECK(std::holds_alternative<Placed>(program.issue("aten.relu.default", {far})));
    CHECK(std::holds_alternative<Placed>(program.issue("aten.relu.default", {x})));
}

TEST_CASE("memory that is held in parts is an output as a whole") {
    Builder builder("g");
    Program program(builder);
    const auto x = program.outside({4, 6}, 1);
    const auto made = program.call("aten.relu.default", {x});
    const auto row = program.call("aten.select.int", {made}, {Arg(0), Arg(2)});
    const auto element = program.call("aten.select.int", {row}, {Arg(0), Arg(3)});
    const auto of_input = program.call("aten.select.int", {x}, {Arg(0), Arg(1)});
    CHECK(row.place.offset == 12);
    CHECK(element.place == Place{row.place.memory, 15});
    CHECK(of_input.place.offset == 6);
    CHECK(builder.memories().at(of_input.place.memory).storage == 1);
    const auto outputs = [&](const std::vector<Program::Value>& values) {
        std::vector<Held> held;
        for (const Program::Value& value : values) held.push_back({value.node, value.place});
        return builder.outputs(held);
    };
    CHECK(outputs({row}).whole.empty());
    CHECK(outputs({made}).whole.empty());
    CHECK(outputs({row, of_input}).whole.empty());
    const HeldOutputs parts = outputs({row, element});
    REQUIRE(parts.nodes.size() == 3);
    CHECK(parts.nodes[2] == made.node);
    CHECK(parts.whole.at(row.place.memory) == 2);
    const HeldOutputs with_root = outputs({made, element});
    CHECK(with_root.nodes.size() == 2);
    CHECK(with_root.whole.at(row.place.memory) == 0);
}

TEST_CASE("a body only reads what is around it, and nothing is left of it") {
    Builder builder("g");
    Program program(builder);
    const auto x = program.outside({2}, 1), table = program.outside({2}, 2);
    const auto y = program.call("aten.relu.default", {x});
    const std::string graph = print(builder.graph().graph());
    const Builder::Checkpoint before = builder.checkpoint();
    builder.begin_body();
    for (const auto& around : {x, y, table}) {
        const auto view = program.call("aten.select.int", {around}, {Arg(0), Arg(0)});
        for (const auto& written : {around, view}) {
            const auto outcome = program.add_in_place(written);
            REQUIRE(std::holds_alternative<GraphBreak>(outcome));
            CHECK(std::get<GraphBreak>(outcome).reason == "a write to an outside tensor");
        }
    }
    const auto own = program.call("aten.add.Tensor", {y, table});
    CHECK_FALSE(std::get<Placed>(program.add_in_place(own)).ended_by);
    CHECK_FALSE(
        std::get<Placed>(program.add_in_place(program.call("aten.select.int", {own}, {Arg(0), Arg(0)}))).ended_by);
    program.issue("aten.relu.default", {own}, {}, {}, {{"inner", std::make_shared<const Graph>()}});
    builder.end_body();
    builder.roll_back(before);
    CHECK(print(builder.graph().graph()) == graph);
    CHECK(builder.graph().guards().size() == 1);
    CHECK(builder.inputs().size() == 1);
    CHECK(builder.memories().size() == 0);
    CHECK(builder.graph().graph().subgraphs.empty());
    // What comes next is what would have come.
    const auto other = program.outside({2}, 3);
    program.call("aten.relu.default", {other});
    CHECK(builder.graph().source_of(*builder.input(other.key))->text() == "G['tensor_1']");
    CHECK(builder.graph().graph().nodes.back().name == "relu_1");
}
