// Every writer of programs × every dtype: what it writes builds or parses, its check passes on the expected values, and
// what it does not write it refuses by the dtype's name.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <optional>

#include "backends/command/short_programs.h"
#include "base/error.h"
#include "base/files.h"
#include "printers/python_script.h"
#include "repro/failing.h"

using namespace whittle;
using namespace whittle::repro;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Numbers at which writers have been wrong: integers beyond double's, ends of ranges, NaN, an infinity, a zero's sign.
Tensor hard_values(DType dtype) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
    using Integers = std::numeric_limits<std::int64_t>;
    if (dtype == DType::i64) return Tensor::of<std::int64_t>({9007199254740993, Integers::max(), Integers::min(), -1});
    if (dtype == DType::u64)
        return Tensor::of<std::uint64_t>({9007199254740993, std::uint64_t{1} << 63, ~std::uint64_t{0}, 0});
    if (is_complex(dtype)) return Tensor::of<Complex128>({{0.1, -0.0}, {kNan, 1}, {-kInf, 0}, {-2.5, 3}}).to(dtype);
    if (is_floating(dtype)) return Tensor::of<double>({0.1, -0.0, kNan, -kInf}).to(dtype);
    return Tensor::of<double>({0, 1, 1, 0}).to(dtype);
}

/// Copies of inputs, one of each dtype.
Graph copies(const std::vector<DType>& dtypes, const std::string& backend) {
    std::string text = "graph copies {\n", calls, results;
    std::vector<Tensor> inputs;
    for (const DType dtype : dtypes) {
        const std::string type = std::string(name(dtype)), x = "x_" + type, y = "y_" + type;
        text += "  %" + x + " = placeholder[\"" + x + "\"] : " + type + "[4]\n";
        calls += "  %" + y + " = aten.clone.default(%" + x + ") : " + type + "[4]\n";
        results += (results.empty() ? "%" : ", %") + y;
        inputs.push_back(hard_values(dtype));
    }
    return failing(text + calls + "  return (" + results + ")\n}\n", std::move(inputs), backend,
                   {"mismatch", "run", "value"});
}

/// Those that `write` takes, one by one; what it refuses, it refuses by name.
std::vector<DType> taken(const std::string& backend, const std::function<void(const Graph&)>& write) {
    std::vector<DType> dtypes;
    for (const DType dtype : kAllDTypes) {
        CAPTURE(name(dtype));
        try {
            write(copies({dtype}, backend));
            dtypes.push_back(dtype);
        } catch (const Error& error) {
            CHECK(holds(error.what(), std::string(name(dtype))));
        }
    }
    return dtypes;
}

const std::string kPlugin = "relu_accuracy_error_TESTING_ONLY";

void check_exits_with_0(const std::filesystem::path& folder, const std::vector<std::string>& command) {
    const ProcessResult ran = run_process(command, {.folder = folder});
    CAPTURE(shell_quote(command), ran.out, ran.err);
    CHECK(ran.exit_code == 0);
}

/// Packages of the compilers' bindings that have nothing but names: no program of these tests runs a compiler.
void write_stubs(const std::filesystem::path& folder) {
    const auto module = folder / "node_modules" / "onnxruntime-node";
    write_file(module / "package.json", R"({"name": "onnxruntime-node", "main": "index.js"})");
    write_file(module / "index.js",
               "module.exports = {Tensor: class {}, InferenceSession: {create: async () => ({})}};\n");
    write_file(folder / "onnxruntime.py",
               "__version__ = 'a stub'\n"
               "class Any:\n"
               "    def __getattr__(self, name): return None\n"
               "GraphOptimizationLevel = Any()\n"
               "class SessionOptions: pass\n"
               "def InferenceSession(*words, **options): return None\n");
}

bool can_run(const std::vector<std::string>& probe) { return run_process(probe).exit_code == 0; }

/// The short programs of a dtype that `write` makes pass on the expected values, and hold its numbers.
void check_short(const Graph& graph, const std::function<std::optional<ReproProgram>(const ShortRequest&)>& write,
                 bool python) {
    const std::vector<Tensor> expected = evaluate(graph, graph.failure->inputs);
    ShortRequest request{graph, expected, {}, "repro.cpp"};
    request.given_expected = true;
    const std::optional<ReproProgram> program = write(request);
    if (!program) return;
    const TempDir folder;
    write_stubs(folder.path());
    for (const ReproProgram::File& file : program->files) write_file(folder.path() / file.name, file.text);
    const std::string own = program->folder ? program->folder->name : "repro.cpp";
    write_file(folder.path() / own, program->text);
    CAPTURE(program->text);
    if (own.ends_with(".mjs") && can_run({"node", "--version"})) check_exits_with_0(folder.path(), {"node", own});
    if (own.ends_with(".py")) check_exits_with_0(folder.path(), {"python3", own});
    if (own.ends_with(".cpp"))
        check_exits_with_0(folder.path(), {"g++", "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", own});
    for (const OtherProgram& other : program->others) {
        write_file(folder.path() / other.name, other.text);
        if (python) check_exits_with_0(folder.path(), {"python3", other.name});
    }
    if (graph.failure->inputs[0].dtype() == DType::i64) CHECK(holds(program->text, "9007199254740993"));
    if (graph.failure->inputs[0].dtype() == DType::u64) CHECK(holds(program->text, "18446744073709551615"));
}

}  // namespace

TEST_CASE("writers: C++ of every dtype builds, and its check passes on the expected values", "[writers]") {
    const std::vector<DType> dtypes = taken(kPlugin, [](const Graph& graph) { harness_of(graph); });
    CHECK(dtypes.size() == std::size(kAllDTypes));
    const ReproProgram program = harness_of(copies(dtypes, kPlugin));
    const TempDir folder;
    write_file(folder.path() / "repro.cpp", program.text);
    write_file(folder.path() / "whittle_backend.h", "");
    CHECK(holds(program.text, "9007199254740993"));
    CHECK(holds(program.text, "18446744073709551615"));
    const ProcessResult built = build(folder.path(), program);
    CAPTURE(built.err);
    REQUIRE(built.exit_code == 0);
    REQUIRE(program.control_argument == "the recorded outputs instead of the compiler");
    check_exits_with_0(folder.path(), {"./repro", "control"});
}

TEST_CASE("writers: PyTorch in Python computes every dtype that it has as expected", "[writers]") {
    const auto script_of = [](const Graph& graph) {
        return printers::python_script(graph, graph.failure->inputs, evaluate(graph, graph.failure->inputs), {},
                                       "repro");
    };
    const std::vector<DType> dtypes = taken(kPlugin, [&](const Graph& graph) { script_of(graph); });
    for (const DType dtype : {DType::c64, DType::c128, DType::i64, DType::boolean, DType::bf16}) {
        CAPTURE(name(dtype));
        CHECK(std::ranges::find(dtypes, dtype) != dtypes.end());
    }
    const TempDir folder;
    write_file(folder.path() / "repro.py", script_of(copies(dtypes, kPlugin)).text);
    check_exits_with_0(folder.path(), {"python3", "-c", "import ast; ast.parse(open('repro.py').read())"});
    if (can_run({"python3", "-c", "import torch"})) check_exits_with_0(folder.path(), {"python3", "repro.py"});
}

TEST_CASE("writers: short programs of every dtype pass on the expected values", "[writers]") {
    const bool numpy = can_run({"python3", "-c", "import numpy"});
    WorkerHello hello;
    hello.version = "1.30.0", hello.package = "onnxruntime-node@1.30.0";
    for (const DType dtype : kAllDTypes) {
        CAPTURE(name(dtype));
        Graph graph = copies({dtype}, "cmd:false");
        std::string why_not;
        using Written = std::optional<ReproProgram>;
        const auto refused_or = [&](const std::function<Written()>& write) -> Written {
            try {
                Written program = write();
                CHECK((program || !why_not.empty()));
                return program;
            } catch (const Error& error) {
                CHECK(holds(error.what(), std::string(name(dtype))));
                return std::nullopt;
            }
        };
        for (const std::string& backend : {std::string("cmd:false"), kPlugin}) {
            graph.failure->backend = backend;
            const auto made = find_backend(backend);
            const auto write = [&](const ShortRequest& request) {
                return refused_or([&] { return offered<Emitter>(*made)->short_program(request, why_not); });
            };
            check_short(graph, write, false);
        }
        Graph onnx = parse("graph copy opset(\"\": 17) {\n  %x = placeholder[\"x\"] : " + std::string(name(dtype)) +
                           "[4]\n  %y = onnx.Identity(%x) : " + std::string(name(dtype)) + "[4]\n  return (%y)\n}\n");
        onnx.failure = graph.failure;
        const auto write = [&](const ShortRequest& request) {
            return refused_or([&] { return onnxruntime_program(request, hello, why_not); });
        };
        check_short(onnx, write, numpy);
    }
}
