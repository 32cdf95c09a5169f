#include "record/full_code.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "backends/eager/eager.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "graph/text.h"
#include "ops/core/registry.h"
#include "ops/samples/table.h"
#include "printers/cpp_source.h"
#include "record/trace_folder.h"
#include "trace/index.h"
#include "trace/record.h"

using namespace whittle;
namespace fs = std::filesystem;

namespace {

/// What the compiler says of a file against the API's headers; empty when it has nothing to say.
std::string compile(const fs::path& file) {
    const ProcessResult result =
        run_process({WHITTLE_CXX, "-std=c++20", "-Wall", "-fsyntax-only", "-I" WHITTLE_TEST_INCLUDE, file.string()});
    return result.out + result.err;
}

}  // namespace

TEST_CASE("every aten and higher-order op's samples are C++ that the API compiles", "[full_code]") {
    std::string text =
        "#include <whittle/whittle.h>\n#include <cmath>\n#include <map>\n#include <string>\nusing whittle::Tensor;\n"
        "using Values = std::vector<Tensor>;\nusing Parameters = std::map<std::string, Tensor>;\n"
        "Tensor __unsupported(const char*);\n";
    int functions = 0;
    std::set<std::string> unsupported;
    for (const RegisteredOp& op : Registry::instance().all()) {
        if ((!op.name.starts_with("aten.") && !op.def->higher_order) || op.replaces_operand()) continue;
        constexpr DType kTried[] = {DType::f32, DType::i64, DType::boolean, DType::c64, DType::i8};
        const auto tried = std::ranges::find_if(kTried, [&](DType d) { return op.def->dtypes & set_of(d); });
        REQUIRE(tried != std::end(kTried));
        const DType dtype = *tried;
        std::set<std::string> shapes;  // samples whose calls look alike
        for (const Sample& sample : samples_of(op, dtype)) {
            const Graph graph = graph_of(op, sample);
            if (shapes.size() > 3) continue;
            const std::string code = printers::to_cpp(graph, "f" + std::to_string(functions));
            if (!shapes.insert(code.substr(code.find('('))).second) continue;
            ++functions;
            if (code.find("__unsupported") != std::string::npos) unsupported.insert(std::string(op.name));
            text += code;
        }
    }
    CHECK(functions > 300);
    CHECK(unsupported == std::set<std::string>{});
    const Graph own = parse(
        "graph own {\n  %x = placeholder[\"x\"] : f32[2]\n  %a = my.op.default(%x) : f32[2]\n"
        "  %b = aten.relu.default(%a) : f32[2]\n  return (%b)\n}\n");
    CHECK(printers::ops_without_code(own) == std::vector<std::string>{"my.op.default"});
    const TempDir folder;
    write_file(folder.path() / "all.cpp", text);
    CHECK(compile(folder.path() / "all.cpp") == "");
}

TEST_CASE("full_code.cpp tells graphs, guards, breaks and resume points, and compiles", "[full_code]") {
    const TempDir folder;
    const std::filesystem::path app = "app";
    TraceFolder trace(folder.path() / "t", {&app, 1}, "eager", {});
    const auto eager = make_eager_backend();
    const auto add = [&](const std::string& text, const std::vector<Tensor>& inputs) {
        const Graph graph = parse(text);
        trace.add({.name = "step", .asked = {graph, inputs}}, *eager, RecordPolicy::always);
    };
    const Tensor a = Tensor::of<float>({-1, 2}), b = Tensor::of<float>({3, 4}), relu = Tensor::of<float>({0, 2});
    add(R"(graph first {
  %a = placeholder["L['a']"] : f32[2]
  %double = aten.relu.default(%a) : f32[2]
  return (%double)
}
)",
        {a});
    add(R"(graph second {
  %live = placeholder["___live[0]"] : f32[2]
  %b = placeholder["L['self'].b"] : f32[2]
  %s = aten.split.Tensor(%b, 1) : (f32[1], f32[1])
  %s0 = getitem(%s, 0) : f32[1]
  %sum = aten.add.Tensor(%live, %s0, alpha=2) : f32[2]
  return (%sum)
}
)",
        {relu, b});
    trace.save();
    TraceIndex index = load_index(folder.path() / "t");
    IndexGraph recompiled = index.graphs.at(0);
    recompiled.name = "third";
    recompiled.variant_of = "first";
    recompiled.difference = "L['a'] size 0 == 2, now 3";
    index.graphs.push_back(recompiled);
    const auto print_at = [](int line, std::int64_t order) {
        return IndexBreak{.reason = "print: puts(\"x\")",
                          .id = "WB0001",
                          .frame = "step",
                          .stack = {{"/src/app.cpp", line, 1, "step", "puts(\"x\");"}},
                          .order = order};
    };
    // Without an operation before them: at the beginning, behind another break, and on a path that is not written.
    index.breaks = {print_at(12, 4), print_at(3, 1), print_at(14, 6), print_at(20, 9), print_at(99, 1)};
    index.breaks.back().frame = "other";
    index.graphs.at(0).ended_by_break = 0;
    index.graphs.at(0).order = 2;
    index.graphs.at(0).runs = 5;
    index.breaks.at(0).count = 4;
    index.graphs.at(1).order = 6;
    using capture::Guard, capture::Source, capture::HostValue, capture::SizeCondition;
    const auto local = [](const char* name) { return Source::local(name); };
    const auto tensor = [](Source source, bool strides, bool requires_grad) {
        capture::TensorMatch match = capture::TensorMatch::of(ValueMeta::contiguous(DType::f32, {2}));
        if (!strides) match.strides.clear();
        match.requires_grad = requires_grad;
        return Guard(std::move(source), match);
    };
    capture::TensorMatch any_size{.dtype = DType::f32, .sizes = {{capture::kDynamicSize}, {"s0"}}, .strides = {1}};
    const capture::SizeSymbol s0{"s0", local("a"), 0}, s7{"s7", local("unread"), 0};
    index.graphs.at(0).guards = {Guard::state("grad_mode", true),
                                 Guard::state("default_dtype", std::string("f32")),
                                 Guard(local("a"), any_size),
                                 tensor(local("self").attribute("b"), false, true),
                                 tensor(local("unread"), false, false),
                                 Guard::scalar(local("n"), std::int64_t{3}),
                                 Guard::scalar(local("p").attribute("rate"), 0.5),
                                 Guard::scalar(local("mode"), std::string("a == b: 'c'")),
                                 Guard::scalar(local("x").attribute("has_value()"), false),
                                 Guard(local("self").attribute("b"), capture::SameTensor{local("a")}),
                                 Guard::relation({.left = s0}),
                                 Guard::relation({SizeCondition::Kind::multiple, s0, 2, {}}),
                                 Guard::relation({SizeCondition::Kind::equal, s0, 3, s7}),
                                 IndexGuard("L['old'] == 3")};
    index.graphs.at(0).symbols = {{"s0", "L['a'].size(0)", {2}}};
    save_index(folder.path() / "t", index);

    const std::vector<FullCode::Function> functions = write_full_code(folder.path() / "t").functions;
    REQUIRE(functions.size() == 1);
    CHECK(functions[0].file == folder.path() / "t/code/step/full_code.cpp");
    CHECK(load_index(folder.path() / "t").files == std::vector<fs::path>{"log.jsonl", "code/step/full_code.cpp"});
    const std::string code = read_file(functions[0].file);
    for (const char* line :
         {"// The code that runs in place of step: 2 graphs, 3 graph breaks.",
          "/// first: 1 operation, which the program ran 5 times.\n",
          "    // print: puts(\"x\") (4 times)\n    __break(\"WB0001\", \"app.cpp:12\"",
          "void __run(Frame& frame) {\n    // print: puts(\"x\")\n    __break(\"WB0001\", \"app.cpp:3\"",
          "__break(\"WB0001\", \"app.cpp:14\", \"puts(\\\"x\\\");\");\n    frame.left.push_back(__compiled_fn_1(",
          "// On other paths, the program also stopped at 1 place:\n//   app.cpp:20: print: puts(\"x\")\n",
          "//   third: like first, but L['a'] size 0 == 2, now 3",
          "const Tensor double_ = whittle::relu(a);",
          "std::get<0>(s)",
          "whittle::Scalar(2)",
          "__break(\"WB0001\", \"app.cpp:12\", \"puts(\\\"x\\\");\");",
          "__resume_at_12_1(frame);",
          "frame.left.push_back(__compiled_fn_1(frame.left[0][0], frame.L[\"self.b\"]));",
          "if (!(whittle::grad_enabled() == true)) return false;  // ___grad_mode == true",
          "if (!(whittle::get_default_dtype() == whittle::kFloat)) return false;",
          "__matches(frame.L.at(\"a\"), whittle::kFloat, {-1}, whittle::IntList{1}, false)",
          "__matches(frame.L.at(\"self.b\"), whittle::kFloat, {2}, whittle::IntList(std::nullopt), true)",
          "// L['unread']: f32[2]  (not checked: no graph reads the guarded tensor)",
          "if (!(frame.S.at(\"n\") == Value(std::int64_t{3}))) return false;",
          "frame.S[\"p.rate\"] = Value(double{0.5});",
          "== Value(std::string(\"a == b: 'c'\"))",
          "if (!(frame.L.at(\"self.b\").whittle_identity() == frame.L.at(\"a\").whittle_identity())) return false;",
          "// L['old'] == 3  (not checked: an older version of Whittle wrote this guard only as text)",
          "frame.S.at(\"x.has_value()\") == Value(false)",
          "const std::int64_t s0 = frame.L.at(\"a\").size(0);",
          "if (!(s0 > 1)) return false;",
          "if (!(s0 % 2 == 0)) return false;",
          "// s0 == 3*s7  (not checked: no graph reads the tensors of this condition)"}) {
        INFO(line);
        const bool list = std::string(line) == "std::get<0>(s)";
        CHECK((code.find(list ? "s.at(0)" : line) != std::string::npos));
    }
    CHECK(code.find("app.cpp:99") == std::string::npos);
    CHECK(compile(functions[0].file) == "");
}
