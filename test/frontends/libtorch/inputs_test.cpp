#include "made_up_program.h"
#include "ops/core/interpreter.h"

using namespace whittle;
using namespace whittle::libtorch;

namespace {

/// op(self, [sizes]).
void call_with_sizes(EventWriter& w, std::uint32_t op, const FakeTensor& self, const std::vector<std::int64_t>& sizes,
                     const FakeTensor& result) {
    w.begin_header(op, 0, 2);
    w.put_tensor(self);
    w.record.put(ValueTag::list);
    w.record.put(static_cast<std::uint32_t>(sizes.size()));
    w.put_integers(sizes);
    w.commit();
    w.end(op, 0, {result});
}

}  // namespace

TEST_CASE("an input lies as it did in the program: views see through what expand() made, and through columns") {
    constexpr std::uint32_t kView = 100, kTranspose = 101;
    const TempDir folder;
    const auto captured = [&](const Strides& strides, bool named) {
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            w.define(kView, "aten::view", "", "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)");
            w.define(kTranspose, "aten::transpose", "int",
                     "aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)");
            const FakeTensor x{.id = 1, .sizes = {2, 3}, .strides = strides};
            const FakeTensor turned{.id = 2, .sizes = {3, 2}, .storage = 1, .strides = {strides[1], strides[0]}};
            const FakeTensor line{.id = 3, .sizes = {6}, .storage = 1, .strides = {strides[0]}};
            const FakeTensor result{.id = 4, .sizes = {6}};
            if (named) w.name(1, "weight");
            const bool expanded = strides[0] == 0;
            w.snapshot(x, expanded ? std::vector<float>(6, 5) : std::vector<float>{1, 3, 5, 2, 4, 6});
            w.call(kTranspose, {x}, {turned}, {0, 1});
            call_with_sizes(w, kView, turned, {6}, line);
            w.call(kMul, {line, line}, {result});
            w.snapshot(result, expanded ? std::vector<float>(6, 25) : std::vector<float>{1, 4, 9, 16, 25, 36});
        }));
        REQUIRE(frame.graphs.size() == 1);
        return frame.graphs[0];
    };
    for (const Strides& strides : {Strides{0, 0}, Strides{1, 2}})
        for (const bool named : {false, true}) {
            const capture::CapturedGraph graph = captured(strides, named);
            INFO(to_string(strides) << named);
            REQUIRE(graph.inputs.size() == (named ? 0 : 1));
            const Tensor& given = named ? graph.graph.attributes.at("weight") : graph.inputs[0];
            CHECK(given.strides() == strides);
            CHECK(same_bits(evaluate(graph.graph, graph.inputs).at(0), graph.outputs.at(0)));
        }
}

TEST_CASE("an input between wide gaps is kept without them") {
    const TempDir folder;
    for (const std::int64_t row : {6, 1000}) {
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            const FakeTensor x{.id = 1, .sizes = {2, 3}, .strides = {row, 1}};
            w.snapshot(x, {1, 2, 3, 4, 5, 6});
            w.call(kMul, {x, x}, {{.id = 2, .sizes = {2, 3}}});
        }));
        const Tensor& given = frame.graphs.at(0).inputs.at(0);
        CHECK(given.strides() == (row == 6 ? Strides{6, 1} : Strides{3, 1}));
        CHECK(given.values<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});
    }
}
