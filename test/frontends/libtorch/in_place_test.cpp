#include "made_up_program.h"
#include "ops/core/interpreter.h"

using namespace whittle;
using namespace whittle::libtorch;

TEST_CASE("what an op writes to several `out` is in the graph, whether they had room or not") {
    constexpr std::uint32_t kSortValues = 100;
    const TempDir folder;
    for (const bool fits : {true, false}) {
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            w.define(kSortValues, "aten::sort", "values",
                     "aten::sort.values(Tensor self, int dim=-1, bool descending=False, *, Tensor(a!) values, "
                     "Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)");
            const std::int64_t size = fits ? 3 : 0;
            const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 6},
                element{.id = 7, .sizes = {}, .version = 1, .storage = 4};
            const FakeTensor values{.id = 4, .sizes = {size}}, indices{.id = 5, .sizes = {size}, .dtype = 4};
            const FakeTensor sorted{.id = 4, .version = 1}, order{.id = 5, .version = 1, .dtype = 4};
            w.snapshot(x, {3, 1, 2});
            w.call(kMul, {x, x}, {y});
            if (fits) w.call(kRelu, {x}, {values});
            w.begin_header(kSortValues, 0, 5);
            w.put_tensor(y);
            w.put_integers({-1, 0});
            w.put_tensor(values);
            w.put_tensor(indices);
            w.commit();
            w.end(kSortValues, 0, {sorted, order});
            w.call(kSelect, {sorted}, {element}, {0, 0});
            w.call(kMul, {element, order}, {z});
            w.snapshot(z, {1, 2, 0});
        }));
        INFO(fits << (frame.breaks.empty() ? "" : ": " + frame.breaks[0].reason));
        CHECK(frame.breaks.empty());
        REQUIRE(frame.graphs.size() == 1);
        const capture::CapturedGraph& graph = frame.graphs[0];
        CHECK(graph.updates.size() == (fits ? 1 : 0));  // the positions: nobody computed what they were
        REQUIRE(graph.inputs.size() <= 1);
        const Tensor x = Tensor::of<float>({3, 1, 2}), positions = Tensor::of<std::int64_t>({0, 0, 0});
        const std::vector<Tensor> results = evaluate(graph.graph, fits ? std::vector{x, positions} : std::vector{x});
        const std::vector<NodeId> outputs = graph.graph.outputs();
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (graph.graph.node({outputs[i]}).target == "aten.mul.Tensor")
                CHECK(same_bits(results[i], Tensor::of<float>({1, 2, 0})));
    }
}

TEST_CASE("ops in place that are called otherwise than what they compute") {
    constexpr std::uint32_t kOp = 100;
    struct Case {
        const char *name, *overload, *schema, *target;
        bool tensor;
    };
    const Case cases[] = {
        {"aten::floor_divide_", "Tensor", "aten::floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
         "aten.floor_divide.default", true},
        {"aten::__ilshift__", "Scalar", "aten::__ilshift__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
         "aten.__lshift__.Scalar", false},
        {"aten::__irshift__", "Tensor", "aten::__irshift__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
         "aten.__rshift__.Tensor", true},
        {"aten::gcd_", "", "aten::gcd_(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten.gcd.default", true},
        {"aten::heaviside_", "", "aten::heaviside_(Tensor(a!) self, Tensor values) -> Tensor(a!)",
         "aten.heaviside.default", true}};
    const TempDir folder;
    for (const Case& one : cases) {
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            w.define(kOp, one.name, one.overload, one.schema);
            const FakeTensor x{.id = 1, .dtype = 4}, y{.id = 2, .dtype = 4}, written{.id = 2, .version = 1, .dtype = 4};
            w.call(kMul, {x, x}, {y});
            if (one.tensor)
                w.call(kOp, {y, x}, {written});
            else
                w.call(kOp, {y}, {written}, {1});
            w.call(kMul, {written, x}, {{.id = 3, .dtype = 4}});
        }));
        INFO(one.name << (frame.breaks.empty() ? "" : ": " + frame.breaks[0].reason));
        CHECK(frame.breaks.empty());
        REQUIRE(frame.graphs.size() == 1);
        const Graph& graph = frame.graphs[0].graph;
        CHECK(graph.node({graph.calls().at(1)}).target == one.target);
    }
}

TEST_CASE("what a write between two graphs changes in part is an output of the first, where it is read then") {
    constexpr std::uint32_t kAsReal = 100;
    const TempDir folder;
    for (const bool read : {true, false}) {
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            w.define(kAsReal, "aten::view_as_real", "", "aten::view_as_real(Tensor(a) self) -> Tensor(a)");
            constexpr std::int8_t kComplexFloat = 9;
            const FakeTensor x{.id = 1, .dtype = kComplexFloat};
            const auto whole = [](std::uint32_t version) {
                return FakeTensor{.id = 2, .version = version, .dtype = kComplexFloat};
            };
            const auto parts = [](std::uint32_t version) {
                return FakeTensor{.id = 3, .sizes = {3, 2}, .version = version, .storage = 2};
            };
            w.call(kMul, {x, x}, {whole(0)});
            w.call(kAsReal, {whole(0)}, {parts(0)});
            w.call(kAddInPlace, {parts(0), parts(0)}, {parts(1)}, {1});
            if (read) w.call(kMul, {whole(1), x}, {{.id = 4, .dtype = kComplexFloat}});
            w.call(kMul, {parts(1), parts(1)}, {{.id = 5, .sizes = {3, 2}}});
        }));
        REQUIRE(frame.graphs.size() == 2);
        REQUIRE(frame.breaks.size() == 1);
        CHECK(frame.breaks[0].op == "aten.add_.Tensor");
        std::vector<std::string> outputs;
        const Graph& graph = frame.graphs[0].graph;
        for (const NodeId id : graph.outputs()) outputs.push_back(graph.node({id}).target);
        CHECK(outputs == (read ? std::vector<std::string>{"aten.mul.Tensor", "aten.view_as_real.default"}
                               : std::vector<std::string>{"aten.view_as_real.default"}));
    }
}

TEST_CASE("a write to a sparse tensor is none to another one: they have no memory that is known") {
    constexpr std::uint32_t kMulInPlace = 100, kToDense = 101;
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
        w.define(kMulInPlace, "aten::mul_", "Tensor", "aten::mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                 kHasFunctional);
        w.define(kToDense, "aten::to_dense", "", "aten::to_dense(Tensor self, ScalarType? dtype=None) -> Tensor");
        const FakeTensor a{.id = 1, .sparse = true}, a1{.id = 1, .version = 1, .sparse = true},
            b{.id = 2, .sparse = true}, dense{.id = 4}, result{.id = 5};
        w.call(kMulInPlace, {a, {.id = 3}}, {a1});
        w.call(kToDense, {b}, {dense});
        w.call(kMul, {dense, dense}, {result});
    }));
    INFO((frame.breaks.empty() ? "" : frame.breaks[0].reason));
    CHECK(frame.breaks.empty());
    REQUIRE(frame.graphs.size() == 1);
    CHECK(frame.graphs[0].updates.size() == 1);
}

TEST_CASE("a write to the elements of a sparse tensor is one to that tensor") {
    constexpr std::uint32_t kValues = 100, kToDense = 101;
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
        w.define(kValues, "aten::_values", "", "aten::_values(Tensor(a) self) -> Tensor(a)");
        w.define(kToDense, "aten::to_dense", "", "aten::to_dense(Tensor self, ScalarType? dtype=None) -> Tensor");
        const FakeTensor before{.id = 1, .sparse = true}, after{.id = 1, .version = 1, .sparse = true};
        const FakeTensor values{.id = 2}, written{.id = 2, .version = 1};
        w.call(kValues, {before}, {values});
        w.call(kAddInPlace, {values, values}, {written}, {1});
        w.call(kFill, {{.id = 3, .version = 3}}, {{.id = 3, .version = 4}}, {7});
        w.call(kToDense, {after}, {{.id = 4}});
    }));
    REQUIRE(frame.breaks.size() == 1);
    CHECK(frame.breaks[0].op == "aten.add_.Tensor");
    CHECK(frame.breaks[0].reason.ends_with("aten.to_dense.default then reads that tensor"));
    CHECK(frame.graphs.size() == 2);
}
