#include "repro/repro.h"

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "ops/interpreter.h"
#include "repro/emit.h"
#include "tensor/random.h"

namespace whittle::repro {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kBuildLimit{300};

/// The graph with the inputs that `data` asks for.
Graph with_data(Graph graph, Data data) {
    if (data == Data::real) return graph;
    Random random(0);
    for (Tensor& input : graph.failure->inputs)
        input = data == Data::random ? random_tensor(input.dtype(), input.sizes(), random)
                                     : Tensor(input.dtype(), input.sizes());
    return graph;
}

std::vector<std::string> compile_command(const Emission& emission, const fs::path& source) {
    std::vector<std::string> argv = {"g++", "-std=c++17",          "-O1", source.filename().string(),
                                     "-o",  source.stem().string()};
    argv.insert(argv.end(), emission.compile_flags.begin(), emission.compile_flags.end());
    return argv;
}

void write(const Emission& emission, const fs::path& file) {
    for (const Sidecar& sidecar : emission.sidecars) write_file(file.parent_path() / sidecar.file, sidecar.bytes);
    write_file(file, emission.text);
}

std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const std::size_t newline = text.rfind('\n');
    return newline == std::string::npos ? text : text.substr(newline + 1);
}

/// Builds the repro in an empty folder and runs it; fills in `report`.
void verify(const Emission& emission, const Options& options, Report& report) {
    const TempDir folder("whittle-repro");
    const fs::path source = folder.path() / options.output.filename();
    write(emission, source);
    ProcessOptions build;
    build.folder = folder.path();
    build.timeout = kBuildLimit;
    const ProcessResult built = run_process(compile_command(emission, source), build);
    if (built.exit_code != 0 || built.timed_out) {
        report.message = "it does not build: " +
                         (built.timed_out ? std::string("the compiler took too long") : last_line(built.err));
        return;
    }
    ProcessOptions run;
    run.folder = folder.path();
    run.timeout = 10 * options.alarm;  // its own alarm comes first
    for (int i = 0; i < options.runs; i++) {
        const ProcessResult result = run_process({(folder.path() / source.stem()).string()}, run);
        report.message = last_line(result.out);
        if (result.exit_code != 1 || result.signal || result.timed_out) {
            report.message = "run " + std::to_string(i + 1) + " of " + std::to_string(options.runs) + " ended with " +
                             (result.timed_out ? "a timeout"
                              : result.signal  ? "signal " + std::to_string(result.signal)
                                               : "exit " + std::to_string(result.exit_code)) +
                             ", expected exit 1: " + report.message;
            return;
        }
        report.runs++;
    }
    report.verified = true;
}

}  // namespace

Report write_repro(const Graph& original, const Options& options) {
    if (!original.failure)
        throw Error("found a graph without a failure, expected one that minify wrote",
                    "name the backend with --backend to look for a failure first");
    if (original.failure->backend.empty())
        throw Error(
            "found a failure that a command judged, expected one of a backend: a repro needs to know what to compile "
            "with",
            "minify with --backend, or hand the candidate itself to the command's owner");
    const Graph graph = with_data(original, options.data);
    const std::vector<Tensor> expected = evaluate(graph, graph.failure->inputs);
    const bool halide = graph.failure->backend == "halide";
    const auto emit = [&](const std::string& claim) {
        return halide ? emit_halide(graph, expected, options, claim) : emit_plugin(graph, expected, options, claim);
    };

    Report report;
    report.output = options.output;
    report.data = options.data == Data::real ? "real" : options.data == Data::random ? "random" : "zeros";
    Emission emission = emit("not verified");
    if (options.verify) {
        verify(emission, options, report);
        if (report.verified)
            emission =
                emit("verified: " + std::to_string(report.runs) + " of " + std::to_string(options.runs) + " runs fail");
    }
    report.compile_command = shell_quote(compile_command(emission, options.output));
    write(emission, options.output);
    for (const Sidecar& sidecar : emission.sidecars)
        report.sidecars.push_back(options.output.parent_path() / sidecar.file);
    return report;
}

}  // namespace whittle::repro
