// Every channel of the log is written: for each there is a command that shows what it is for. The switches below name
// all of them, so that a new one without a command does not compile.
#include "base/log.h"

#include <catch2/catch.hpp>

#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "base/files.h"
#include "base/subprocess.h"

#ifdef WHITTLE_BIN

namespace {

using namespace whittle;

constexpr const char* kGraph = R"({"format": "whittle.graph", "version": "1.0", "name": "main", "dialect": "aten",
"nodes": [
  {"kind": "placeholder", "name": "x", "target": "x", "results": [{"dtype": "f32", "sizes": [64, 32]}]},
  {"kind": "call", "name": "a", "target": "aten.relu.default", "args": [{"node": "x"}],
   "results": [{"dtype": "f32", "sizes": [64, 32]}]},
  {"kind": "call", "name": "b", "target": "aten.neg.default", "args": [{"node": "a"}],
   "results": [{"dtype": "f32", "sizes": [64, 32]}]},
  {"kind": "output", "name": "output", "args": [{"node": "b"}]}]})";

/// A script for sh, where `$LOG` is the option that names the channel, and a line that its log has to have.
struct LogSample {
    std::string script, line;
};

LogSample sample_of(LogChannel channel) {
    switch (channel) {
        case LogChannel::capture:
            return {"explain g.json $LOG", "graph main [(]2 ops[)] of main, 1 input, 1 output"};
        case LogChannel::frontend:
            return {"trace -o t g.json $LOG", "g.json: graph main [(]2 ops[)], inputs from seed 0"};
        case LogChannel::passes:
            return {"explain g.json $LOG", "decompose: graph main, 2 -> 2 ops"};
        case LogChannel::backend:
            return {"trace -o t g.json $LOG", "Step 2: compile by backend eager: graph g [(]2 ops[)]: begin"};
        case LogChannel::lowering:
            return {"trace -o t g.json --backend halide $LOG", "Step 3: lowering: graph g [(]2 ops[)]: begin"};
        case LogChannel::run:
            return {"trace -o t g.json --backend halide $LOG", "graph g [(]2 ops[)] on halide: ok"};
        case LogChannel::reduce:
            return {"minify g.json --backend relu_compile_error_TESTING_ONLY -o m.json $LOG",
                    "calls: [0-9]+ tried, [0-9]+ accepted, left: 1 op, .*"};
        case LogChannel::repro:
            return {"minify g.json --backend relu_compile_error_TESTING_ONLY -o m.json >m.txt\nrepro m.json $LOG",
                    "it exited with 1: ReluCompileError"};
        case LogChannel::replay:
            return {"trace -o t g.json\nreplay t $LOG", "t/records/g.json on eager: passed"};
        case LogChannel::cli:
            return {"explain g.json $LOG", "g.json: recognized as graph"};
    }
    __builtin_unreachable();
}

LogSample sample_of(LogArtifact artifact) {
    switch (artifact) {
        case LogArtifact::graph_code:
            return {"explain g.json $LOG", "  %b = aten.neg.default[(]%a[)] : f32\\[64, 32\\]"};
        case LogArtifact::graph_sizes:
            return {"explain g.json $LOG", "%b: \\[64, 32\\]"};
        case LogArtifact::graph_cpp:
            return {"explain g.json $LOG", "    const Tensor b = whittle::neg[(]a[)];  // f32\\[64, 32\\]"};
        case LogArtifact::picture:
            return {"explain g.json $LOG", ".*label=\"%b.naten.neg.default\".*"};
        case LogArtifact::aot_graphs:
            return {"trace -o t g.json --backend halide $LOG", "  %b = aten.neg.default[(]%a[)] : f32\\[64, 32\\]"};
        case LogArtifact::graph_breaks:
            return {"trace -o t $EXAMPLES/toy_example $LOG", "print: std::cout << \"woo\""};
        case LogArtifact::guards:
            return {"trace -o t $EXAMPLES/toy_example $LOG", "L\\['a'\\]: f32\\[10\\].*"};
        case LogArtifact::recompiles:
            return {"trace -o t $EXAMPLES/recompiles $LOG", "L\\['step'\\] == 0, now 1"};
        case LogArtifact::ir_unfused:
            return {"trace -o t g.json --backend halide $LOG", "  reads:    %a of kernel_0"};
        case LogArtifact::ir:
            return {"trace -o t g.json --backend halide $LOG", "input x: f32\\[64, 32\\].*"};
        case LogArtifact::schedule:
            return {"trace -o t g.json --backend halide $LOG", "b\\.vectorize[(]j, 8, .*"};
        case LogArtifact::output_code:
            return {"trace -o t g.json --backend halide $LOG", "    Halide::Func b[(]\"b_stage\"[)];"};
        case LogArtifact::loop_nest:
            return {"trace -o t g.json --backend halide $LOG", " *vectorized j.*:"};
        case LogArtifact::lowered:
            return {"trace -o t g.json --backend halide $LOG", " *let .*b_stage.*"};
        case LogArtifact::assembly:
            return {"trace -o t g.json --backend halide $LOG", "\\s+v?(xor|sub)ps\\s.*"};
        case LogArtifact::full_code:
            return {"trace -q -o t $EXAMPLES/toy_example $LOG", "void __resume_at_[0-9]+_1[(]Frame& frame[)] [{]"};
        case LogArtifact::times:
            return {"trace -q -o t $EXAMPLES/toy_example $LOG",
                    "[|] [0-9.]+ [|] [0-9.]+ [|] pass [|] functionalize [|]"};
        case LogArtifact::step:
            return {"trace -q -o t $EXAMPLES/toy_example $LOG",
                    "    const Tensor abs = whittle::abs[(]l_a[)];  // f32\\[10\\].*"};
    }
    __builtin_unreachable();
}

/// What the programs log, one line each.
std::string log_of(const LogSample& sample, const std::string& spec) {
    const TempDir folder("log-test");
    write_file(folder.path() / "g.json", kGraph);
    const std::string bin = WHITTLE_BIN, path = std::getenv("PATH");
    const ProcessResult ran =
        run_process({"sh", "-eu", "-c", sample.script}, {.folder = folder.path(),
                                                         .environment = {{"PATH", bin + ":" + path},
                                                                         {"EXAMPLES", bin + "/../examples"},
                                                                         {"LOG", "--log=" + spec},
                                                                         {"WHITTLE_LOGS", ""}},
                                                         .timeout = std::chrono::minutes(5)});
    INFO(sample.script);
    INFO(ran.err);
    CHECK(ran.good());
    return ran.err;
}

/// The channels of a log's lines; warnings of others are none of its business.
std::set<std::string> channels_in(const std::string& log) {
    static const std::regex heading("^(?:debug|info): \\[([a-z_]+)\\] .*");
    std::set<std::string> found;
    std::istringstream lines(log);
    std::smatch match;
    for (std::string line; std::getline(lines, line);)
        if (std::regex_match(line, match, heading)) found.insert(match[1]);
    return found;
}

bool has_line(const std::string& log, const std::regex& wanted) {
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);)
        if (std::regex_match(line, wanted)) return true;
    return false;
}

}  // namespace

TEST_CASE("every component writes its channel, and --log shows that one alone") {
    for (const LogChannel channel : kAllLogChannels) {
        const std::string spec(name(channel)), log = log_of(sample_of(channel), spec);
        INFO(log);
        CHECK(has_line(log, std::regex("info: \\[" + spec + "\\] " + sample_of(channel).line)));
        CHECK(channels_in(log) == std::set{spec});
    }
}

TEST_CASE("every artifact is written, and --log shows that one alone") {
    for (const LogArtifact artifact : kAllLogArtifacts) {
        const std::string spec(name(artifact)), log = log_of(sample_of(artifact), spec);
        INFO(log);
        CHECK(has_line(log, std::regex(sample_of(artifact).line)));
        CHECK(channels_in(log) == std::set{spec});
    }
}

#endif
