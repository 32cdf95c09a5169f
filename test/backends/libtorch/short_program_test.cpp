// The short program of LibTorch's calls, of a graph that LibTorch computes right: it builds without a warning, and says
// so. A number that is changed in it is found. Its message shows that everything before that number is right, so most
// programs are built once, with such a number, and several as one: compiling LibTorch's headers takes most of the time.
#include "backends/libtorch/short_program.h"

#include <catch2/catch.hpp>

#include "base/files.h"
#include "base/subprocess.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "printers/short_program.h"

using namespace whittle;

namespace {

// A function, a method, what writes, lists of tensors, several results, numbers in a tensor's place, none, dtypes,
// texts.
constexpr const char* kCalls = R"(graph calls {
  %x = placeholder["x"] : f32[2, 3]
  %y = placeholder["y"] : f32[2, 3] strides[1, 2]
  %i = placeholder["i"] : i64[2]
  %w = get_attr["w"] : f32[1, 1, 2, 2]
  %add = aten.add.Tensor(%x, %y, alpha=2) : f32[2, 3]
  %view = aten.view.default(%add, [3, 2]) : f32[3, 2]
  %cat = aten.cat.default([%view, %view], 1) : f32[3, 4]
  %max = aten.max.dim(%cat, 1, true) : (f32[3, 1], i64[3, 1])
  %values = getitem(%max, 0) : f32[3, 1]
  %split = aten.split.Tensor(%cat, 3, 1) : (f32[3, 3], f32[3, 1])
  %piece = getitem(%split, 1) : f32[3, 1]
  %mul = aten.mul.Tensor(%values, %piece) : f32[3, 1]
  %relu_ = aten.relu_.default(%mul) : f32[3, 1]
  %image = aten.reshape.default(%cat, [1, 1, 3, 4]) : f32[1, 1, 3, 4]
  %conv = aten.convolution.default(%image, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1) : f32[1, 1, 2, 3]
  %select = aten.index_select.default(%x, 0, %i) : f32[2, 3]
  %div = aten.div.Tensor_mode(%select, 2.5, rounding_mode="floor") : f32[2, 3]
  %to = aten._to_copy.default(%div, dtype=f64) : f64[2, 3]
  return (%relu_, %conv, %to)
}
)";

/// What each of the programs prints, which are functions of one program.
std::vector<ProcessResult> built_and_run(const std::vector<ReproProgram>& programs) {
    std::string text, calls;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        CHECK(programs[i].compile_flags == programs[0].compile_flags);
        const std::string number = std::to_string(i), head = "int main";
        std::string function = programs[i].text;
        const auto at = function.find(head + "(");
        REQUIRE(at != std::string::npos);
        const bool takes = function.substr(at).starts_with(head + "(int argc");
        text += function.replace(at, head.size(), "int program_" + number) + "\n";
        calls += "    if (*argv[1] == '" + number + "') return program_" + number + (takes ? "(1, argv);\n" : "();\n");
    }
    text += "int main(int, char** argv) {\n" + calls + "    return 2;\n}\n";
    const TempDir folder("whittle-test");
    write_file(folder.path() / "repro.cpp", text);
    std::vector<std::string> build = build_words("repro.cpp", programs.at(0).compile_flags);
    build.push_back("-Wall");
    const ProcessResult built = run_process(build, {.folder = folder.path()});
    INFO(text << built.err);
    REQUIRE(built.exit_code == 0);
    std::vector<ProcessResult> results;
    for (std::size_t i = 0; i < programs.size(); ++i)
        results.push_back(
            run_process({(folder.path() / "repro").string(), std::to_string(i)}, {.folder = folder.path()}));
    return results;
}

/// What its script in Python does, where Python has PyTorch.
std::optional<ProcessResult> run_in_python(const ReproProgram& program) {
    REQUIRE(program.others.size() == 1);
    const OtherProgram& script = program.others[0];
    CHECK(script.name == "repro.py");
    const std::vector<std::pair<std::string, std::string>> debian = {
        {"PATH", "/usr/bin:/bin"}, {"PYTHONWARNINGS", "ignore::FutureWarning"}};  // of torch.jit, since Python 3.14
    const TempDir folder("whittle-test");
    if (run_process(script.probe, {.folder = folder.path(), .environment = debian}).exit_code != 0) {
        WARN("not run: python3 has no PyTorch");
        return std::nullopt;
    }
    write_file(folder.path() / script.name, script.text);
    return run_process(script.run, {.folder = folder.path(), .environment = debian});
}

/// Of a program that computes what is expected, with the words of the report; `says`: how what it prints begins.
void check_python(const ReproProgram& program, int status, const std::string& says) {
    const auto run = run_in_python(program);
    if (!run) return;
    INFO(program.others[0].text << run->out << run->err);
    CHECK(run->exit_code == status);
    CHECK(run->out.starts_with(says));
    CHECK(run->err.empty());
}

}  // namespace

TEST_CASE("short program: torch:: calls compute what the reference does") {
    Graph graph = parse(kCalls);
    graph.attributes["w"] = Tensor::of<float>({1, -1, 0.5F, 2}, {1, 1, 2, 2});
    graph.failure = Failure{.backend = "libtorch", .signature = {"mismatch", "run", "value"}, .message = ""};
    const Tensor columns = Tensor::of<float>({1, 4, 2, 5, 3, -6}, {3, 2});
    graph.failure->inputs = {Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3}), columns.as_strided({2, 3}, {1, 2}, 0),
                             Tensor::of<std::int64_t>({1, 0})};
    std::vector<Tensor> expected = evaluate(graph, graph.failure->inputs);
    expected.resize(3);
    std::string why_not;
    const auto program = libtorch_program({graph, expected, expected, "repro.cpp"}, why_not);
    INFO(why_not);
    REQUIRE(program);
    check_python(*program, 0, "y0: [[");

    std::vector<Tensor> other = expected;
    other[2] = Tensor::of<double>({1, 1, 2, 0, 0, 9}, {2, 3});
    const auto wrong = libtorch_program({graph, other, expected, "repro.cpp"}, why_not);
    REQUIRE(wrong);
    const ProcessResult said = built_and_run({*wrong}).at(0);
    INFO(wrong->text << said.out << said.err);
    CHECK(said.exit_code == 1);
    CHECK(said.out == "element 1: 2, expected 1\n");
    check_python(*wrong, 1, "y2: [[");
}

TEST_CASE("short program: a tensor that shows an element in many places") {
    Graph graph = parse(R"(graph expanded {
  %x = placeholder["x"] : f32[2, 3] strides[0, 0]
  %y = placeholder["y"] : f32[2, 3] strides[0, 2]
  %t = aten.t.default(%x) : f32[3, 2] strides[0, 0]
  %view = aten.view.default(%t, [6]) : f32[6] strides[0]
  %sum = aten.sum.default(%y) : f32[]
  %add = aten.add.Tensor(%view, %sum) : f32[6]
  return (%add)
}
)");
    graph.failure = Failure{.backend = "libtorch", .signature = {"mismatch", "run", "value"}, .message = ""};
    const Tensor numbers = Tensor::of<float>({1, 2, 3, 4, 5, 6});
    graph.failure->inputs = {numbers.as_strided({2, 3}, {0, 0}, 1), numbers.as_strided({2, 3}, {0, 2}, 0)};
    const std::vector<Tensor> expected = evaluate(graph, graph.failure->inputs);
    CHECK(same_bits(expected.at(0), Tensor::of<float>({20, 20, 20, 20, 20, 20})));
    std::string why_not;
    const auto program = libtorch_program({graph, expected, expected, "repro.cpp"}, why_not);
    INFO(why_not);
    REQUIRE(program);
    const ProcessResult run = built_and_run({*program}).at(0);
    INFO(program->text << run.out << run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.out == "ok\n");
    check_python(*program, 0, "y: [20.0, 20.0, 20.0, 20.0, 20.0, 20.0] expected: [20.0, ");
}

TEST_CASE("short program: in Python a result is computed before what is written behind it") {
    Graph graph = parse(R"(graph writes {
  %x = placeholder["x"] : f32[2]
  %max = aten.max.dim(%x, 0) : (f32[], i64[])
  %add_ = aten.add_.Tensor(%x, 1) : f32[2]
  %values = getitem(%max, 0) : f32[]
  return (%values)
}
)");
    graph.failure = Failure{.backend = "libtorch", .signature = {"mismatch", "run", "value"}, .message = ""};
    graph.failure->inputs = {Tensor::of<float>({1, 2})};
    const std::vector<Tensor> expected = {Tensor::of(Scalar(2.0), DType::f32)};
    std::string why_not;
    const auto program = libtorch_program({graph, expected, expected, "repro.cpp"}, why_not);
    INFO(why_not);
    REQUIRE(program);
    check_python(*program, 0, "y: 2.0 expected: 2.0");
}

TEST_CASE("short program: in Python an exception is what it says, and a crash what ends it") {
    Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[2, 3]\n  %t = aten.t.default(%x) : f32[3, 2] strides[1, 3]\n"
        "  %y = aten.view.default(%t, [6]) : f32[6]\n  return (%y)\n}\n");
    graph.failure = Failure{.backend = "libtorch", .signature = {"exception", "run", "view size"}, .message = ""};
    graph.failure->inputs = {Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3})};
    const std::vector<Tensor> expected = {Tensor::of<float>({1, 4, 2, 5, 3, 6})};
    std::string why_not;
    const auto program = libtorch_program({graph, expected, {}, "repro.cpp"}, why_not);
    INFO(why_not);
    REQUIRE(program);
    check_python(*program, 1, "view size is not compatible with input tensor's size and stride");

    graph.failure->signature = {"crash", "run", "SIGSEGV"};
    const auto crash = libtorch_program({graph, expected, {}, "repro.cpp"}, why_not);
    REQUIRE(crash);
    CHECK(crash->others.at(0).ends_by == "SIGSEGV");
    graph.failure->signature = {"timeout", "run", ""};
    const auto hang = libtorch_program({graph, expected, {}, "repro.cpp"}, why_not);
    REQUIRE(hang);
    CHECK(hang->others.empty());
}

namespace {

// What TorchScript optimizes: without writes, with a frozen parameter, and two outputs of a tuple.
constexpr const char* kScript = R"(graph script {
  %x = placeholder["x"] : f32[2, 3]
  %y = placeholder["y"] : f32[2, 3] strides[1, 2]
  %w = get_attr["w"] : f32[1, 1, 2, 2]
  %add = aten.add.Tensor(%x, %y, alpha=2) : f32[2, 3]
  %cat = aten.cat.default([%add, %add], 1) : f32[2, 6]
  %max = aten.max.dim(%cat, 1, true) : (f32[2, 1], i64[2, 1])
  %values = getitem(%max, 0) : f32[2, 1]
  %split = aten.split.Tensor(%cat, 4, 1) : (f32[2, 4], f32[2, 2])
  %piece = getitem(%split, 1) : f32[2, 2]
  %mul = aten.mul.Tensor(%values, %piece) : f32[2, 2]
  %image = aten.reshape.default(%cat, [1, 1, 3, 4]) : f32[1, 1, 3, 4]
  %conv = aten.convolution.default(%image, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1) : f32[1, 1, 2, 3]
  %div = aten.div.Tensor_mode(%mul, 2.5, rounding_mode="floor") : f32[2, 2]
  %to = aten._to_copy.default(%div, dtype=f64) : f64[2, 2]
  return (%conv, %to)
}
)";

}  // namespace

TEST_CASE("short program: TorchScript computes what the reference does, and a wrong number is found") {
    Graph graph = parse(kScript);
    graph.attributes["w"] = Tensor::of<float>({1, -1, 0.5F, 2}, {1, 1, 2, 2});
    graph.failure = Failure{.backend = "ts", .signature = {"mismatch", "run", "value"}, .message = ""};
    const Tensor columns = Tensor::of<float>({1, 4, 2, 5, 3, -6}, {3, 2});
    graph.failure->inputs = {Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3}), columns.as_strided({2, 3}, {1, 2}, 0)};
    const std::vector<Tensor> expected = evaluate(graph, graph.failure->inputs);
    const auto program_of = [&](const BackendOptions& options, const std::vector<Tensor>& right) {
        graph.failure->options = options;
        std::string why_not;
        const auto program = torchscript_program({graph, right, expected, "repro.cpp"}, why_not);
        INFO(why_not);
        REQUIRE(program);
        CHECK(program->text.find("optimize_for_inference(module)") ==
              (options.empty() ? std::string::npos : program->text.rfind("optimize_for_inference(module)")));
        return *program;
    };
    const BackendOptions fused = {{"fuser", "nnc"}, {"optimize_for_inference", "on"}};
    std::vector<Tensor> other = expected;
    other[1] = Tensor::of<double>({21, 32, 90, 1}, {2, 2});
    const std::vector<ReproProgram> programs = {program_of({}, expected), program_of(fused, other)};
    check_python(programs[0], 0, "TorchScript: [[");
    check_python(program_of(fused, expected), 0, "TorchScript: [[");
    const std::vector<ProcessResult> runs = built_and_run(programs);
    INFO(programs[0].text << runs[0].out << runs[0].err);
    CHECK(runs[0].exit_code == 0);
    CHECK(runs[0].out == "ok\n");
    INFO(programs[1].text << runs[1].out << runs[1].err);
    CHECK(runs[1].exit_code == 1);
    CHECK(runs[1].out == "element 3: -36, expected 1\n");
}

TEST_CASE("short program: what TorchScript is not shown of is said") {
    Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = aten.relu_.default(%x) : f32[2]\n  return (%y)\n}\n");
    graph.failure = Failure{.backend = "ts", .signature = {"mismatch", "run", "value"}, .message = ""};
    graph.failure->inputs = {Tensor::of<float>({1, 2})};
    const std::vector<Tensor> expected = {Tensor::of<float>({1, 2})};
    std::string why_not;
    CHECK_FALSE(torchscript_program({graph, expected, expected, "repro.cpp"}, why_not));
    CHECK(why_not == "a short program cannot have in-place writes");
    graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = aten.relu.default(%x) : f32[2]\n  return (%y)\n}\n");
    graph.failure = Failure{.backend = "ts", .signature = {"mismatch", "run", "value"}, .message = ""};
    graph.failure->inputs = {Tensor::of<float>({1, 2})};
    graph.failure->options = {{"fuser", "onednn"}};
    CHECK_FALSE(torchscript_program({graph, expected, expected, "repro.cpp"}, why_not));
    CHECK(why_not == "a short program cannot set the backend option fuser=onednn");
}

TEST_CASE("short program: sizes and dtypes that are wrong") {
    Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : bool[1]\n  %y = aten.mul.Tensor(%x, 1) : i64[1]\n  return (%y)\n}\n");
    const std::vector<Tensor> right = {Tensor::of<std::int64_t>({1})}, two = {Tensor::of<std::int64_t>({1, 1})},
                              truth = {Tensor::of<bool>({true})};
    std::vector<ReproProgram> programs;
    for (const bool of_sizes : {false, true}) {
        graph.failure = Failure{
            .backend = "libtorch", .signature = {"mismatch", "run", of_sizes ? "sizes" : "dtype"}, .message = ""};
        graph.failure->inputs = {Tensor::of<bool>({true})};
        std::string why_not;
        const auto program = libtorch_program({graph, right, of_sizes ? two : truth, "repro.cpp"}, why_not);
        INFO(why_not);
        REQUIRE(program);
        CHECK(program->summary == (of_sizes ? "mul(x, 1) of bool[1] gives shape [2], expected [1]"
                                            : "mul(x, 1) of bool[1] gives bool, expected int64"));
        check_python(*program, 0, of_sizes ? "y: (1,) expected: (1,)" : "y: torch.int64 expected: torch.int64");
        programs.push_back(*program);

        // LibTorch is right, and so does not what is expected here.
        const auto wrong = libtorch_program({graph, of_sizes ? two : truth, right, "repro.cpp"}, why_not);
        REQUIRE(wrong);
        check_python(*wrong, 1, of_sizes ? "y: (1,) expected: (2,)" : "y: torch.int64 expected: torch.bool");
        programs.push_back(*wrong);
    }
    const std::vector<ProcessResult> runs = built_and_run(programs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        INFO(programs[i].text << runs[i].out << runs[i].err);
        CHECK(runs[i].exit_code == static_cast<int>(i % 2));
    }
    CHECK(runs[0].out == "ok\n");
    CHECK(runs[1].out == "Long, expected Bool\n");
    CHECK(runs[2].out == "ok\n");
    CHECK(runs[3].out == "sizes [1], expected [2]\n");
}

TEST_CASE("short program: what there is none of is said") {
    Graph graph =
        parse("graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = mylib.scale(%x) : f32[2]\n  return (%y)\n}\n");
    graph.failure = Failure{.backend = "libtorch", .signature = {"mismatch", "run", "strides"}, .message = ""};
    graph.failure->inputs = {Tensor::of<float>({1, 2})};
    const std::vector<Tensor> expected = {Tensor::of<float>({1, 2})};
    std::string why_not;
    CHECK_FALSE(libtorch_program({graph, expected, expected, "repro.cpp"}, why_not));
    CHECK(why_not == "a short program compares values and sizes, which do not differ");
}
