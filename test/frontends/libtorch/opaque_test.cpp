// Ops that only LibTorch knows, in captured programs: opaque calls, as their schemas describe them.
#include <algorithm>

#include "made_up_program.h"

using namespace whittle;
using namespace whittle::libtorch;

namespace {

std::vector<std::string> targets(const Graph& graph) {
    std::vector<std::string> found;
    for (const NodeId id : graph.calls()) found.push_back(graph.node({id}).target);
    return found;
}

/// The place of `target` in what targets() gives.
std::ptrdiff_t place(const std::vector<std::string>& found, const char* target) {
    const auto at = std::ranges::find(found, target);
    REQUIRE(at != found.end());
    return at - found.begin();
}

}  // namespace

TEST_CASE("an op that only LibTorch knows is a call of the graph like others") {
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 3, .sizes = {5}}, last{.id = 4, .sizes = {5}};
        w.snapshot(x, {1, 2, 3});
        w.call(kRelu, {x}, {y});
        w.call(kUnknown, {y}, {z});
        w.call(kRelu, {z}, {last});
    }));
    CHECK(frame.breaks.empty());
    REQUIRE(frame.graphs.size() == 1);
    const Graph& graph = frame.graphs[0].graph;
    CHECK(targets(graph) == std::vector<std::string>{"aten.relu.default", "my.mystery.default", "aten.relu.default"});
    CHECK(graph.node({graph.calls()[1]}).meta().sizes == Sizes{5});
}

TEST_CASE("enumerations among the arguments of an opaque call are data types and words") {
    constexpr std::uint32_t kCast = 100;
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [](EventWriter& w) {
        w.define(kCast, "my::cast", "",
                 "my::cast(Tensor self, ScalarType dtype, *, MemoryFormat? memory_format=None) -> Tensor");
        w.call(kCast, {{.id = 1}}, {{.id = 2, .dtype = 7}}, {7, 0});
    }));
    CHECK(frame.breaks.empty());
    REQUIRE(frame.graphs.size() == 1);
    const Node& call = frame.graphs[0].graph.node({frame.graphs[0].graph.calls().at(0)});
    REQUIRE(call.args.size() == 2);
    CHECK(call.args[1] == Arg(DType::f64));
    REQUIRE(call.kwargs.size() == 1);
    CHECK(call.kwargs[0].second == Arg("contiguous_format"));
}

TEST_CASE("an opaque call that writes gets a copy, and what it returns is the tensor's new value") {
    constexpr std::uint32_t kScale = 100, kScaleOut = 101;
    const TempDir folder;
    for (const bool out : {false, true}) {
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            w.define(kScale, "my::scale_", "", "my::scale_(Tensor(a!) self, int by) -> Tensor(a!)");
            w.define(kScaleOut, "my::scaled", "out", "my::scaled.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
            const FakeTensor x{.id = 1}, y{.id = 2}, written{.id = 2, .version = 1}, z{.id = 3};
            w.snapshot(x, {1, 2, 3});
            w.call(kRelu, {x}, {y});
            if (out)
                w.call(kScaleOut, {x, y}, {written});
            else
                w.call(kScale, {y}, {written}, {2});
            w.call(kMul, {written, x}, {z});
        }));
        INFO(out << (frame.breaks.empty() ? "" : ": " + frame.breaks[0].reason));
        CHECK(frame.breaks.empty());
        REQUIRE(frame.graphs.size() == 1);
        const Graph& graph = frame.graphs[0].graph;
        const std::vector<std::string> found = targets(graph);
        const std::ptrdiff_t copied = place(found, "aten.clone.default"),
                             called = place(found, out ? "my.scaled.out" : "my.scale_.default"),
                             read = place(found, "aten.mul.Tensor");
        CHECK((copied < called && called < read));
        bool reads_result = false;  // through a copy_ that only computes, or not
        for (const NodeId id : graph.calls())
            if (id > graph.calls()[static_cast<std::size_t>(called)])
                for_each_input(graph.node({id}), [&](NodeRef ref) {
                    reads_result |= ref.id == graph.calls()[static_cast<std::size_t>(called)];
                });
        CHECK(reads_result);
    }
}

TEST_CASE("what the schema of an unknown op does not describe is a break") {
    constexpr std::uint32_t kOp = 100;
    struct Case {
        const char* schema;
        bool shares, returns;
    };
    const TempDir folder;
    for (const Case& one : {Case{"", false, true}, Case{"my::op(Tensor(a) x, Tensor y) -> Tensor(a)", true, true},
                            Case{"my::op(Tensor x, Tensor(a!) y) -> Tensor", false, true},
                            Case{"my::op(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)", true, true},
                            Case{"my::op(Tensor(a!) x, Tensor y) -> ()", false, false}}) {
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            w.define(kOp, "my::op", "", one.schema);
            const FakeTensor x{.id = 1}, y{.id = 2},
                z = one.shares ? FakeTensor{.id = 3, .storage = 2} : FakeTensor{.id = 3};
            w.call(kRelu, {x}, {y});
            w.call(kOp, {y, x}, one.returns ? std::vector{z} : std::vector<FakeTensor>());
            w.call(kMul, {y, x}, {{.id = 5}});
        }));
        INFO(one.schema);
        REQUIRE(frame.breaks.size() == 1);
        CHECK(frame.breaks[0].reason == "unknown op my.op.default");
        CHECK(frame.breaks[0].kind == capture::BreakKind::unregistered_op);
    }
}
