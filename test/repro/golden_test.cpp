// Whole repros as text, as who gets one reads it, one of a plug-in, of a command and of Halide. Rewritten with
// WHITTLE_UPDATE_GOLDENS=1 (scripts/update goldens does); review with `git diff`. Each is built and run, too.
#include <catch2/catch.hpp>
#include <limits>

#include "backends/halide/build_info.h"
#include "backends/halide/definitions.h"
#include "base/files.h"
#include "base/sanitizer.h"
#include "golden.h"
#include "judge/normalize.h"
#include "repro/failing.h"

using namespace whittle;
using namespace whittle::repro;

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}

struct Ending {
    int exit;
    std::string last_line;
};

/// Built without a warning it shows what it should, and its control passes.
void check_runs(const Graph& graph, const ReproProgram& program, const Ending& shown) {
    const TempDir folder("whittle-test");
    write_file(folder.path() / "repro.cpp", program.text);
    for (const ReproProgram::File& file : program.files) write_file(folder.path() / file.name, file.text);
    std::vector<std::string> flags = {"-Wall", "-Wextra", "-Werror"};
    if (graph.failure->backend == "halide") flags.clear();  // whose own header has warnings
    const ProcessResult built = build(folder.path(), program, flags);
    INFO(built.err);
    REQUIRE(built.exit_code == 0);
    // A plug-in that is built with a sanitizer loads only into programs that are, too; the repro is not.
    if ((kAddressSanitizer || kThreadSanitizer) && graph.failure->backend.starts_with("relu_")) return;
    const ProcessResult run = run_process({"./repro"}, {.folder = folder.path()});
    INFO(run.out << run.err);
    CHECK(run.exit_code == shown.exit);
    CHECK(run.out.ends_with(shown.last_line + "\n"));
    const ProcessResult control = run_process({"./repro", "control"}, {.folder = folder.path()});
    INFO(control.out);
    CHECK(control.exit_code == 0);
}

/// The text is the golden's, but for what differs between machines.
void check_repro(const std::string& name, const Graph& graph, const Ending& shown, Repro repro = {}) {
    const ReproProgram program = harness_of(graph, fixed_options(), std::move(repro));
    std::string got = replaced(program.text, WHITTLE_TEST_BACKENDS, "$BACKENDS");
    got = replaced(replaced(got, halide::description(), "$HALIDE"), halide::target_code(halide::default_target()),
                   "$TARGET");
    for (const std::string& flag : halide::compile_flags()) got = replaced(got, " " + flag, "");
    test::check_golden("repro/golden/" + name + ".cpp.txt", got);
    check_runs(graph, program, shown);
}

}  // namespace

TEST_CASE("golden: a plug-in that gives wrong values") {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const Graph graph = failing(R"(graph relu {
  %x = placeholder["x"] : f32[6]
  %relu = aten.relu.default(%x) : f32[6]
  return (%relu)
}
)",
                                {Tensor::of<float>({-1.5f, -0.0f, 0.1f, inf, -inf, nan})},
                                "relu_accuracy_error_TESTING_ONLY", {"mismatch", "run", "value"});
    check_repro("plugin_mismatch", graph,
                {1,
                 "4 of 6 values differ in backend, 0 in loops: BUG in the backend relu_accuracy_error_TESTING_ONLY on "
                 "aten.relu.default"});
}

TEST_CASE("golden: a command that fails with words that C++ and printf would misread") {
    const Graph graph =
        failing(R"(graph abs {
  %x = placeholder["x"] : i64[4]
  %abs = aten.abs.default(%x) : i64[4]
  %any = aten.any.default(%abs) : bool[]
  return (%abs, %any)
}
)",
                {Tensor::of<std::int64_t>({std::numeric_limits<std::int64_t>::min(), -1, 0, 7})},
                R"(cmd:sh -c 'echo "error: no \"kernel\" for 100%s, C:\k" >&2; exit 3')",
                {"exception", "run", normalized(R"(exited with 3: error: no "kernel" for 100%s, C:\k)")});
    check_repro("command_exception", graph,
                {1, "BUG in the backend " + graph.failure->backend +
                        " on aten.abs.default, aten.any.default: " + graph.failure->signature.heading()});
}

TEST_CASE("repro: a command that does not come back, built and run") {
    Graph graph = failing(R"(graph add {
  %x = placeholder["x"] : f16[2, 2]
  %add = aten.add.Tensor(%x, %x) : f16[2, 2]
  return (%add)
}
)",
                          {Tensor::of<float>({1, 2, 3, 4}).to(DType::f16).as_strided({2, 2}, {2, 1}, 0)},
                          "cmd:sleep 100 #", {"timeout", "run", ""});
    CHECK(harness_of(graph).text.find("alarm(60)") != std::string::npos);
    graph.failure->backend = "cmd:sh -c 'kill -ALRM $PPID; exec sleep 60'";  // time passes quickly
    const ReproProgram program = harness_of(graph);
    for (const char* line : {"if (signal == SIGALRM) return Ending::hang;", "if (!(ending == Ending::hang)) {",
                             "static const half* const in_x = reinterpret_cast<const half*>(in_x_data);  // f16[2, 2]"})
        CHECK_THAT(program.text, Catch::Contains(line));
    check_runs(graph, program,
               {1, "BUG in the backend " + graph.failure->backend + " on aten.add.Tensor: timeout at run"});
}

TEST_CASE("golden: Halide and the directive that is guilty") {
    Graph graph =
        failing(R"(graph relu {
  %x = placeholder["x"] : f32[4, 32]
  %relu = aten.relu.default(%x) : f32[4, 32]
  return (%relu)
}
)",
                {made_up(Tensor(DType::f32, {4, 32}), Data::random, 0)}, "halide", {"mismatch", "run", "value"});
    const auto backend = find_backend(graph.failure->backend);
    const auto inspection = offered<Switchable>(*backend)->inspect(graph, {});
    REQUIRE(inspection);
    REQUIRE(!inspection->parts().directives.empty());
    graph.failure->culprit = Culprit{.component = "schedule", .directive = inspection->parts().directives.front().text};
    check_repro("halide_directive", graph, {0, "0 of 128 values differ in halide, 0 in loops: ok"},
                {.data = Data::random, .seeds = {{0, 0}}});
}
