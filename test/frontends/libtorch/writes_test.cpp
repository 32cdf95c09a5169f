#include "frontends/libtorch/piece_graph.h"

#include <algorithm>

#include "made_up_program.h"
#include "ops/core/interpreter.h"

using namespace whittle;
using namespace whittle::libtorch;

TEST_CASE("a write through a view stays in the graph, for all that read the memory") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 4};
        const FakeTensor view{.id = 3, .sizes = {}, .storage = 2},
            written{.id = 3, .sizes = {}, .version = 1, .storage = 2};
        const FakeTensor changed{.id = 2, .version = 1};
        w.snapshot(x, {1, 2, 3});
        w.call(kRelu, {x}, {y});
        w.call(kSelect, {y}, {view}, {0, 0});
        w.call(kAddInPlace, {view, view}, {written}, {3});
        w.snapshot(written, {4});
        w.call(kMul, {changed, x}, {z});
        w.snapshot(z, {4, 4, 9});
    });
    const capture::CapturedFrame frame = only_frame(file);
    CHECK(frame.breaks.empty());
    REQUIRE(frame.graphs.size() == 1);
    const capture::CapturedGraph& graph = frame.graphs[0];
    CHECK(graph.updates.empty());
    const std::vector<Tensor> results = evaluate(graph.graph, graph.inputs);
    REQUIRE(graph.outputs.size() == results.size());
    REQUIRE(results.size() == 1);  // the product: the view is read through the whole
    for (std::size_t i = 0; i < results.size(); ++i) CHECK(same_bits(results[i], graph.outputs[i]));
}

TEST_CASE("what an op writes to its `out` is in the graph, and in what shares its memory") {
    constexpr std::uint32_t kMulOut = 100;
    const TempDir folder;
    const auto captured = [&](bool fits) {
        return only_frame(program(folder, [&](EventWriter& w) {
            w.define(kMulOut, "aten::mul", "out",
                     "aten::mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)");
            const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 5};
            const FakeTensor out{.id = 4, .sizes = {fits ? 3 : 0}}, written{.id = 4, .version = 1};
            w.snapshot(x, {1, 2, 3});
            w.call(kRelu, {x}, {y});
            if (fits) w.call(kRelu, {y}, {out});
            w.call(kMulOut, {x, y, out}, {written});
            w.snapshot(written, {1, 4, 9});
            w.call(kMul, {written, y}, {z});
            w.snapshot(z, {1, 8, 27});
        }));
    };
    for (const bool fits : {true, false}) {
        const capture::CapturedFrame frame = captured(fits);
        INFO(fits << (frame.breaks.empty() ? "" : ": " + frame.breaks[0].reason));
        CHECK(frame.breaks.empty());
        REQUIRE(frame.graphs.size() == 1);
        const capture::CapturedGraph& graph = frame.graphs[0];
        CHECK(graph.inputs.size() == 1);
        const std::vector<Tensor> results = evaluate(graph.graph, graph.inputs);
        REQUIRE(!results.empty());
        CHECK(same_bits(results.back(), Tensor::of<float>({1, 8, 27})));
    }
}

TEST_CASE("what indexing's backward issues is index_put, and a check on the host is no operation") {
    constexpr std::uint32_t kIndexPutImpl = 100, kCheck = 101;
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
        w.define(kIndexPutImpl, "aten::_index_put_impl_", "",
                 "aten::_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, "
                 "bool unsafe=False) -> Tensor(a!)");
        w.define(kCheck, "aten::_linalg_check_errors", "",
                 "aten::_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()");
        const FakeTensor x{.id = 1}, y{.id = 2}, at{.id = 3, .dtype = 4}, put{.id = 2, .version = 1}, z{.id = 4};
        w.snapshot(x, {1, 2, 3});
        w.call(kRelu, {x}, {y});
        w.begin(kCheck, 0, {x}, {0, 1});  // which reads an element itself
        w.begin(kLocal, 1, {x});
        w.end(kLocal, 1, {});
        w.end(kCheck, 0, {});
        w.begin_with_list(kIndexPutImpl, y, {at}, x, {1, 1});
        w.end(kIndexPutImpl, 0, {put});
        w.call(kMul, {put, x}, {z});
    }));
    INFO((frame.breaks.empty() ? "" : frame.breaks[0].reason));
    CHECK(frame.breaks.empty());
    REQUIRE(frame.graphs.size() == 1);
    const Graph& graph = frame.graphs[0].graph;
    std::vector<std::string> targets;
    for (const NodeId id : graph.calls()) targets.push_back(graph.node({id}).target);
    CHECK(targets == std::vector<std::string>{"aten.relu.default", "aten.index_put.default", "aten.mul.Tensor"});
    CHECK(graph.node({graph.calls()[1]}).args.back() == Arg(true));  // accumulate
}

TEST_CASE("a tensor that is transposed in place shows its memory otherwise from then on") {
    constexpr std::uint32_t kTransposeInPlace = 100, kUnsqueezeInPlace = 101;
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
        w.define(kTransposeInPlace, "aten::transpose_", "",
                 "aten::transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)");
        w.define(kUnsqueezeInPlace, "aten::unsqueeze_", "", "aten::unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)");
        const FakeTensor x{.id = 1}, y{.id = 2}, row{.id = 2, .sizes = {1, 3}, .version = 1},
            column{.id = 2, .sizes = {3, 1}, .version = 2}, z{.id = 3, .sizes = {3, 3}};
        w.snapshot(x, {1, 2, 3});
        w.call(kRelu, {x}, {y});
        w.call(kUnsqueezeInPlace, {y}, {row}, {0});
        w.call(kTransposeInPlace, {row}, {column}, {0, 1});
        w.call(kMul, {column, x}, {z});
        w.snapshot(z, {1, 2, 3, 2, 4, 6, 3, 6, 9});
    }));
    INFO((frame.breaks.empty() ? "" : frame.breaks[0].reason));
    CHECK(frame.breaks.empty());
    REQUIRE(frame.graphs.size() == 1);
    const capture::CapturedGraph& graph = frame.graphs[0];
    const std::vector<Tensor> results = evaluate(graph.graph, graph.inputs);
    CHECK(same_bits(results.back(), Tensor::of(std::vector<float>{1, 2, 3, 2, 4, 6, 3, 6, 9}, {3, 3})));
}

TEST_CASE("an input that is written to, through a view too, has its new value after the graph") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, x1{.id = 1, .version = 1}, x2{.id = 1, .version = 2}, y{.id = 4};
        const FakeTensor view{.id = 3, .sizes = {}, .version = 1, .storage = 1},
            written{.id = 3, .sizes = {}, .version = 2, .storage = 1};
        w.snapshot(x, {1, 2, 3});
        w.call(kAddInPlace, {x, x}, {x1}, {1});
        w.snapshot(x1, {2, 4, 6});
        w.call(kSelect, {x1}, {view}, {0, 0});
        w.call(kAddInPlace, {view, view}, {written}, {1});
        w.snapshot(written, {4});
        w.call(kMul, {x2, x2}, {y});
        w.snapshot(y, {16, 16, 36});
    });
    const capture::CapturedGraph graph = only_frame(file).graphs.at(0);
    REQUIRE(graph.updates.size() == 1);
    CHECK(graph.updates[0].source.text() == "L['arg0']");
    const std::vector<Tensor> results = evaluate(graph.graph, graph.inputs);
    REQUIRE(graph.outputs.size() == results.size());
    for (std::size_t i = 0; i < results.size(); ++i) CHECK(same_bits(results[i], graph.outputs[i]));
    // What nobody wrote down is put together from what was: the first element from the view, the others from before.
    CHECK(same_bits(graph.outputs.at(graph.updates[0].output), Tensor::of(std::vector<float>{4, 4, 6}, {3})));
}

TEST_CASE("inputs that share memory: one is the other's view, and a write to one is seen in both") {
    const TempDir folder;
    for (const bool view_first : {false, true}) {
        const EventFile file = program(folder, [&](EventWriter& w) {
            const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 4, .sizes = {2}}, x1{.id = 1, .version = 1},
                x2{.id = 1, .version = 2};
            const FakeTensor view{.id = 3, .sizes = {2}, .storage = 1},
                v1{.id = 3, .sizes = {2}, .version = 1, .storage = 1},
                v2{.id = 3, .sizes = {2}, .version = 2, .storage = 1};
            w.probe_enter("main");
            w.probe_name(x, "x");
            w.snapshot(x, {1, 2, 3});
            w.snapshot(view, {1, 2});
            if (!view_first) w.call(kRelu, {x}, {y});
            w.call(kAddInPlace, {view, view}, {v1}, {1});
            w.snapshot(v1, {2, 4});
            w.call(kAddInPlace, {x1, x1}, {x2}, {1});
            w.snapshot(x2, {4, 8, 6});
            w.call(kMul, {v2, v2}, {z});
        });
        const capture::CapturedFrame frame = only_frame(file);
        INFO(view_first << (frame.breaks.empty() ? "" : ": " + frame.breaks[0].reason));
        // Of what was written before anything read it whole, nobody knows what it was.
        if (view_first) {
            CHECK(frame.breaks.size() == 1);
            continue;
        }
        CHECK(frame.breaks.empty());
        REQUIRE(frame.graphs.size() == 1);
        const capture::CapturedGraph& graph = frame.graphs[0];
        REQUIRE(graph.sources.size() == 1);
        CHECK(graph.sources[0].text() == "L['x']");
        REQUIRE(graph.updates.size() == 1);
        CHECK(graph.updates[0].source.text() == "L['x']");
        REQUIRE(graph.inputs.size() == 1);
        const std::vector<Tensor> results = evaluate(graph.graph, graph.inputs);
        CHECK(same_bits(results.at(graph.updates[0].output), Tensor::of(std::vector<float>{4, 8, 6}, {3})));
        CHECK(graph.outputs.empty() == !graph.unrecorded.empty());
    }
}

TEST_CASE("a write that was not seen as one is a break") {
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2}, view{.id = 3, .sizes = {}, .storage = 1};
        w.call(kRelu, {x}, {y});
        w.call(kAddInPlace, {view, view}, {{.id = 3, .sizes = {}, .version = 1, .storage = 1}}, {1});
        w.call(kRelu, {{.id = 1, .version = 2}}, {{.id = 4}});
    }));
    REQUIRE(frame.breaks.size() == 1);
    CHECK(frame.breaks[0].kind == capture::BreakKind::mutation);
    CHECK(frame.breaks[0].reason.find("aten.add_.Tensor") != std::string::npos);
    REQUIRE(frame.graphs.size() == 2);
    CHECK(frame.graphs[1].graph.placeholders().size() == 1);
}

TEST_CASE("a graph ends before it would read what a write that was counted apart left in memory") {
    const TempDir folder;
    for (const std::int64_t at : {0, 2}) {
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            const FakeTensor x{.id = 1, .sizes = {2}};
            const auto part = [&](std::uint32_t version) {  // of data(), whose versions are its own
                return FakeTensor{.id = 3, .sizes = {}, .version = version, .storage = 1, .offset = at};
            };
            w.call(kRelu, {x}, {{.id = 2, .sizes = {2}}});
            w.call(kAddInPlace, {part(0), part(0)}, {part(1)}, {1});
            w.call(kMul, {x, x}, {{.id = 4, .sizes = {2}}});
        }));
        const bool apart = at == 2;
        CHECK(frame.graphs.size() == (apart ? 1 : 2));
        REQUIRE(frame.breaks.size() == (apart ? 0 : 1));
        if (apart) continue;
        CHECK(frame.breaks[0].kind == capture::BreakKind::mutation);
        CHECK(frame.breaks[0].op == "aten.add_.Tensor");
        CHECK(frame.graphs[0].updates.size() == 1);
        CHECK(frame.graphs[1].graph.calls().size() == 1);
    }
}

TEST_CASE("columns beside each other have no element in common, though their rows are between each other") {
    // The gates of an LSTM: unsafe_chunk() gives views that count their writes by themselves.
    const TempDir folder;
    const auto columns = [](std::uint64_t id, std::int64_t first, std::uint32_t version) {
        FakeTensor part{.id = id, .sizes = {2, 2}, .version = version, .storage = 9, .offset = first};
        part.strides = {8, 1};
        return part;
    };
    for (const std::int64_t first : {1, 2}) {
        const EventFile file = program(folder, [&](EventWriter& w) {
            const FakeTensor a0 = columns(1, 0, 0), a1 = columns(1, 0, 1), b = columns(2, first, 0);
            w.call(kRelu, {b}, {{.id = 3, .sizes = {2, 2}}});
            w.call(kAddInPlace, {a0, a0}, {a1}, {1});
            w.call(kMul, {b, b}, {{.id = 4, .sizes = {2, 2}}});
        });
        const std::vector<Step> steps = steps_of(file, Level::core);
        const Values values = trace_values(file, steps);
        CHECK((values.inputs.at(2).at(0) == values.inputs.at(0).at(0)) == (first == 2));
    }
}

TEST_CASE("a write that no graph can tell is a break, and what is before and behind it is in graphs") {
    constexpr std::uint32_t kUnfold = 100;
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
        w.define(kUnfold, "aten::unfold", "",
                 "aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)");
        const FakeTensor x{.id = 1}, y{.id = 2}, y1{.id = 2, .version = 1}, z{.id = 4, .sizes = {2, 2}};
        const auto twice = [](std::uint32_t version) {  // the element in the middle
            return FakeTensor{.id = 3, .sizes = {2, 2}, .version = version, .storage = 2};
        };
        w.call(kRelu, {x}, {y});
        w.call(kAddInPlace, {y, y}, {y1}, {1});
        w.call(kUnfold, {y1}, {twice(1)}, {0, 2, 1});
        w.call(kAddInPlace, {twice(1), twice(1)}, {twice(2)}, {1});
        w.call(kMul, {twice(2), twice(2)}, {z});
    }));
    REQUIRE(frame.breaks.size() == 1);
    CHECK(frame.breaks[0].kind == capture::BreakKind::mutation);
    CHECK(frame.breaks[0].op == "aten.add_.Tensor");
    CHECK(frame.breaks[0].reason.starts_with("aten.add_.Tensor: "));
    REQUIRE(frame.graphs.size() == 2);
    CHECK(frame.graphs[0].graph.calls().size() == 3);  // with the write that a graph can tell
    CHECK(frame.graphs[1].graph.calls().size() == 1);
}

TEST_CASE("each of two writes that no graph can tell is one break, and the write between them is in a graph") {
    constexpr std::uint32_t kUnfold = 100;
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
        w.define(kUnfold, "aten::unfold", "",
                 "aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)");
        const FakeTensor x{.id = 1};
        const auto whole = [](std::uint64_t id, std::uint32_t version) {
            return FakeTensor{.id = id, .sizes = {3}, .version = version};
        };
        const auto twice = [](std::uint64_t id, std::uint64_t of, std::uint32_t version) {  // the element in the middle
            return FakeTensor{.id = id, .sizes = {2, 2}, .version = version, .storage = of};
        };
        // What the first piece is refused for ends it there: behind that, its last write is as good as any.
        w.call(kRelu, {x}, {whole(2, 0)});
        w.call(kUnfold, {whole(2, 0)}, {twice(3, 2, 0)}, {0, 2, 1});
        w.call(kAddInPlace, {twice(3, 2, 0), twice(3, 2, 0)}, {twice(3, 2, 1)}, {1});
        w.call(kAddInPlace, {whole(2, 1), x}, {whole(2, 2)}, {1});
        const FakeTensor one{.id = 9, .sizes = {}};
        w.call(kSelect, {whole(2, 2)}, {{.id = 9, .sizes = {}, .version = 2, .storage = 2}}, {0, 0});
        w.begin(kItem, 0, {one});
        w.begin(kLocal, 1, {one});
        w.end(kLocal, 1, {});
        w.end(kItem, 0, {});
        // The second piece of the same plan is refused, too.
        w.call(kMul, {x, x}, {whole(5, 0)});
        w.call(kUnfold, {whole(5, 0)}, {twice(6, 5, 0)}, {0, 2, 1});
        w.call(kFill, {twice(6, 5, 0)}, {twice(6, 5, 1)}, {7});
        w.call(kMul, {twice(6, 5, 1), twice(6, 5, 1)}, {{.id = 7, .sizes = {2, 2}}});
    }));
    std::vector<capture::BreakKind> kinds;
    for (const capture::GraphBreak& one : frame.breaks) kinds.push_back(one.kind);
    CHECK(kinds == std::vector<capture::BreakKind>{capture::BreakKind::mutation, capture::BreakKind::item,
                                                   capture::BreakKind::mutation});
    CHECK(frame.breaks.back().op == "aten.fill_.Scalar");
    std::vector<std::vector<std::string>> targets;
    for (const capture::CapturedGraph& graph : frame.graphs) {
        targets.emplace_back();
        for (const NodeId id : graph.graph.calls()) targets.back().push_back(graph.graph.node({id}).target);
    }
    CHECK(targets == std::vector<std::vector<std::string>>{{"aten.relu.default", "aten.unfold.default"},
                                                           {"aten.add.Tensor", "aten.select.int"},
                                                           {"aten.mul.Tensor", "aten.unfold.default"},
                                                           {"aten.mul.Tensor"}});
}

TEST_CASE("what the program wrote through a pointer is an input of the next graph") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 3};
        w.snapshot(x, {1, 2, 3});
        w.call(kRelu, {x}, {y});
        w.snapshot(y, {1, 2, 3});
        w.unseen_write(y);
        w.snapshot(y, {7, 2, 3});
        w.call(kMul, {y, x}, {z});
        w.snapshot(z, {7, 4, 9});
    });
    const CapturedProgram captured = build_frames(file, {});
    REQUIRE(captured.frames.size() == 1);
    const capture::CapturedFrame& frame = captured.frames[0];
    REQUIRE(frame.breaks.size() == 1);
    CHECK(frame.breaks[0].kind == capture::BreakKind::data_pointer);
    REQUIRE(frame.graphs.size() == 2);
    for (const capture::CapturedGraph& graph : frame.graphs)
        CHECK(same_bits(evaluate(graph.graph, graph.inputs).at(0), graph.outputs.at(0)));
    CHECK(std::ranges::any_of(captured.notes,
                              [](const std::string& note) { return note.starts_with("untracked mutation: 1 time"); }));
}

TEST_CASE("each of two threads that make the same view of one tensor uses its own") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor shared{.id = 1};
        const auto view = [](std::uint64_t id) { return FakeTensor{.id = id, .sizes = {1, 3}, .storage = 1}; };
        const auto result = [](std::uint64_t id) { return FakeTensor{.id = id, .sizes = {1, 3}}; };
        ThreadChunk other;
        const auto on_other = [&](auto&& body) {
            std::swap(w.chunk, other);
            body();
            std::swap(w.chunk, other);
        };
        w.snapshot(shared, {1, 2, 3});
        w.call(kUnsqueeze, {shared}, {view(2)}, {0});
        on_other([&] { w.call(kUnsqueeze, {shared}, {view(3)}, {0}); });
        w.call(kRelu, {view(2)}, {result(4)});
        on_other([&] { w.call(kRelu, {view(3)}, {result(5)}); });
        other.unmap();
    });
    const capture::CapturedFrame frame = only_frame(file);
    REQUIRE(frame.graphs.size() == 1);
    CHECK(frame.graphs[0].runs == 2);
    CHECK(frame.graphs[0].graph.calls().size() == 2);
    CHECK(frame.graphs[0].graph.placeholders().size() == 1);
    CHECK(frame.graphs[0].graph.outputs().size() == 1);
}

TEST_CASE("memory without contents holds what it held when it was first read") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor made{.id = 1}, y{.id = 2};
        w.begin(kEmpty, 0, {}, {3});
        w.snapshot(made, {7, 7, 7});
        w.end(kEmpty, 0, {made});
        w.snapshot(made, {1, 2, 3});  // filled through a pointer
        w.call(kRelu, {made}, {y});
        w.snapshot(y, {1, 2, 3});
    });
    const capture::CapturedFrame frame = only_frame(file);
    CHECK(frame.breaks.empty());
    REQUIRE(frame.graphs.size() == 1);
    REQUIRE(frame.graphs[0].inputs.size() == 1);
    CHECK(frame.graphs[0].inputs[0].values<float>() == std::vector<float>{1, 2, 3});
}

TEST_CASE("batch norms that evaluate, and gradients of ones that trained, leave the running statistics alone") {
    constexpr std::uint32_t kNorm = 100, kNormBackward = 101;
    const FakeTensor x{.id = 1, .sizes = {2, 3}}, y{.id = 2, .sizes = {2, 3}}, mean{.id = 3}, variance{.id = 4};
    const TempDir folder;
    const auto captured = [&](bool trains, bool gradients) {
        return only_frame(program(folder, [&](EventWriter& w) {
            w.define(kNorm, "aten::native_batch_norm", "",
                     "aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
                     "Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)");
            w.define(
                kNormBackward, "aten::native_batch_norm_backward", "",
                "aten::native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? "
                "running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, "
                "bool[3] output_mask) -> (Tensor, Tensor, Tensor)");
            const auto put_flag = [&](bool flag) {
                w.record.put(ValueTag::boolean);
                w.record.put(static_cast<std::uint8_t>(flag));
            };
            const auto put_real = [&](double real) {
                w.record.put(ValueTag::real);
                w.record.put(real);
            };
            const auto norm = [&](const FakeTensor& input, std::uint64_t first) {
                w.begin_header(kNorm, 0, 8);
                w.put_tensor(input);
                w.record.put(ValueTag::none);
                w.record.put(ValueTag::none);
                w.put_tensor(mean);
                w.put_tensor(variance);
                put_flag(trains);
                put_real(0.1);
                put_real(1e-5);
                w.commit();
                const std::int64_t saved = trains ? 3 : 0;
                w.end(kNorm, 0,
                      {{.id = first, .sizes = {2, 3}},
                       {.id = first + 1, .sizes = {saved}},
                       {.id = first + 2, .sizes = {saved}}});
            };
            const auto gradient = [&](const FakeTensor& input, std::uint64_t saved, std::uint64_t first) {
                w.begin_header(kNormBackward, 0, 10);
                w.put_tensor(input);
                w.put_tensor(input);
                w.record.put(ValueTag::none);
                w.put_tensor(mean);
                w.put_tensor(variance);
                w.put_tensor({.id = saved});
                w.put_tensor({.id = saved + 1});
                put_flag(trains);
                put_real(1e-5);
                w.record.put(ValueTag::list);
                w.record.put(std::uint32_t{3});
                for (int i = 0; i < 3; ++i) put_flag(true);
                w.commit();
                w.end(kNormBackward, 0, {{.id = first, .sizes = {2, 3}}, {.id = first + 1}, {.id = first + 2}});
            };
            norm(x, 10);
            norm(y, 20);
            if (!gradients) return;
            gradient(y, 21, 30);
            gradient(x, 11, 40);
        }));
    };
    for (const auto& [trains, gradients] : {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
        const capture::CapturedFrame frame = captured(trains, gradients);
        INFO(trains << gradients << (frame.breaks.empty() ? "" : ": " + frame.breaks[0].reason));
        CHECK(frame.breaks.empty());
        REQUIRE(frame.graphs.size() == 1);
        CHECK(frame.graphs[0].updates.size() == (trains ? 2 : 0));
    }
}
