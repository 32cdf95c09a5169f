// Groups of options as the programs share them: what they accept, what they refuse, what they are worth.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "cli/explain.h"
#include "cli/minify.h"
#include "cli/program.h"
#include "cli/replay.h"
#include "cli/report_options.h"
#include "cli/run_options.h"
#include "cli/subject.h"
#include "cli/tool.h"
#include "cli/trace.h"
#include "formats/json.h"
#include "graph/text.h"
#include "trace/folder.h"

using namespace whittle;
using namespace whittle::cli;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// The group after a command line was parsed into it.
template <class Group, class... Words>
Group parsed(Words... words) {
    Tool tool("sample", "", "Has the options of one group.");
    Group group;
    group.declare(tool);
    REQUIRE_FALSE(tool.parse(std::vector<std::string>{words...}));
    return group;
}

BackendChoice backend(std::vector<std::string> words) {
    Tool tool("sample", "", "");
    BackendChoice choice;
    choice.declare(tool, "eager");
    REQUIRE_FALSE(tool.parse(words));
    return choice;
}

AccuracyChoice accuracy(std::vector<std::string> words) {
    Tool tool("sample", "", "");
    AccuracyChoice choice;
    choice.declare(tool, "What differs.");
    REQUIRE_FALSE(tool.parse(words));
    return choice;
}

Graph relu(const std::string& name) {
    return parse("graph " + name +
                 " {\n  %x = placeholder[\"x\"] : f32[2]\n  %a = aten.relu.default(%x) : f32[2]\n  return (%a)\n}\n");
}

/// A trace of the graphs, each with two records.
void write_trace(const fs::path& folder, const std::vector<std::string>& names) {
    TraceWriter writer(folder, {.model = "m"});
    for (const std::string& name : names) {
        const std::size_t entry = writer.add_graph(relu(name), name);
        const std::vector<Tensor> values = {Tensor::of(std::vector<float>{1, 2}, {2})};
        for (int run = 0; run < 2; ++run) {
            Record record{.name = {}, .frame = name, .backend = "eager", .inputs = values, .expected = values};
            writer.add_record(entry, relu(name), record);
        }
    }
    writer.save();
}

std::vector<std::string> names_of(const std::vector<fs::path>& files) {
    std::vector<std::string> names;
    for (const fs::path& file : files) names.push_back(file.stem().string());
    return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a backend is typed as it was chosen", "[options]") {
    const Names words = {"--backend", "halide", "--backend-option", "a=1", "--backend-option", "b=2"};
    const BackendChoice choice = backend(words);
    CHECK(choice.words() == words);
    CHECK(choice.options() == BackendOptions{{"a", "1"}, {"b", "2"}});
    CHECK(choice.spec("eager").text() == "halide");
    CHECK(backend({}).spec("eager").text() == "eager");
    CHECK(backend({}).words().empty());
    CHECK_THROWS_WITH(backend({"--backend-option", "a"}).options(), Contains("expected KEY=VALUE"));
    CHECK_THROWS_WITH(backend({"--backend-option", "a=1", "--backend-option", "a=2"}).options(),
                      Contains("given twice"));
    CHECK(backend({"--backend-option", "disable=a", "--backend-option", "disable=b"}).options() ==
          BackendOptions{{"disable", "a;b"}});
}

TEST_CASE("an accuracy is typed as it was chosen", "[options]") {
    const Names words = {"--accuracy=fp64", "--rtol", "f16=0.1", "--rtol", "3ulp", "--atol", "2"};
    const AccuracyChoice choice = accuracy(words);
    CHECK(choice.given());
    CHECK(choice.words() == words);
    CHECK(choice.accuracy().tolerance(DType::f32).ulp == 3);
    CHECK(choice.accuracy().tolerance(DType::f16).rtol == 0.1);
    AccuracyChoice again;
    again.default_to(choice.accuracy());
    CHECK(again.accuracy().tolerance(DType::f32).ulp == 3);
    CHECK_THROWS_WITH(accuracy({"--rtol", "0.5ulp"}).accuracy(), Contains("expected a whole number before ulp"));
    CHECK_FALSE(accuracy({}).given());
    CHECK(accuracy({}).words() == Names{"--accuracy"});
}

TEST_CASE("records are chosen by filter, shard and events", "[options]") {
    const TempDir folder("whittle-options");
    const std::string all = (folder.path() / "t").string();
    write_trace(all, {"a", "b"});
    const Tool tool("replay", "", "");
    const auto chosen = [&](auto... words) { return names_of(parsed<ReplayChoice>(all, words...).records(tool, {})); };
    CHECK(chosen() == Names{"a", "a_run1", "b", "b_run1"});
    CHECK(chosen("--filter", "run1") == Names{"a_run1", "b_run1"});
    CHECK(chosen("--to-event", "3") == Names{"a", "a_run1", "b"});
    CHECK(chosen("--shard", "2/2") == Names{"a_run1", "b_run1"});
    CHECK_THROWS_WITH(chosen("--filter", "none"),
                      Contains("for --filter: the regular expression matches none of 4 records"));

    CHECK_NOTHROW(parsed<ReplayChoice>(all).check_usage());
    for (const char* wrong : {"2", "0/2", "3/2", "a/b", "1/"})
        CHECK_THROWS_WITH(parsed<ReplayChoice>(all, "--shard", wrong).check_usage(), Contains("expected I/N"));
    CHECK_THROWS_WITH(parsed<ReplayChoice>(all, "--to-event", "0").check_usage(),
                      Contains("invalid value '0' for --to-event"));
    // The events of a folder are its records: only those of frame records alone are cut inside.
    CHECK_FALSE(parsed<ReplayChoice>(all, "--to-event", "1").events());

    const fs::path graph = folder.path() / "g.json";
    save_graph(relu("g"), graph);
    CHECK_THROWS_WITH(parsed<ReplayChoice>(graph.string()).check_usage(), Contains("found a graph, expected a record"));
}

TEST_CASE("settings of capture are read from pairs", "[options]") {
    CHECK(parsed<ProgramOptions>().capture().check == CheckPolicy::budget);
    CHECK(parsed<ProgramOptions>("--capture", "check=always").capture().check == CheckPolicy::always);
    const CaptureSettings given = parsed<ProgramOptions>("--capture", "check=never", "--capture", "limit=7").capture();
    CHECK(given.check == CheckPolicy::never);
    CHECK(given.limit_mb == 7);
    for (const char* wrong : {"check=maybe", "level=", "limit=x", "sceonds=3"})
        CHECK_THROWS_AS(parsed<ProgramOptions>("--capture", wrong).capture(), Error);
    CHECK_THROWS_WITH(parsed<ProgramOptions>("--capture", "limit=1", "--capture", "limit=2").capture(),
                      Contains("--capture limit is given twice"));
}

TEST_CASE("a graph with a break is whole only for who does not ask", "[options]") {
    const Tool tool("trace", "", "");
    const report::Frame good{.graph = relu("g")};
    report::Frame broken = good;
    broken.graph.nodes.at(1).target = "example.unknown";
    CHECK(is_whole(tool, parsed<TraceOptions>("m"), "m", {broken}));
    CHECK(is_whole(tool, parsed<TraceOptions>("m", "--fullgraph"), "m", {good}));
    CHECK_FALSE(is_whole(tool, parsed<TraceOptions>("m", "--fullgraph"), "m", {broken}));
    CHECK_FALSE(is_whole(tool, parsed<TraceOptions>("m", "--fullgraph=export"), "m", {broken}));
}

TEST_CASE("models that are traced together are called by their names", "[options]") {
    const TempDir folder("whittle-options");
    const fs::path first = folder.path() / "first.json", second = folder.path() / "second.json";
    save_graph(relu("torch_jit"), first);
    save_graph(relu("torch_jit"), second);
    TraceOptions both{{}, {first, second}, folder.path() / "t"}, one = both, other = both;
    const std::vector<LoadedFrame> frames = models_to_trace(both).frames;
    REQUIRE(frames.size() == 2);
    CHECK(frames[0].graph.name == "first");
    CHECK(frames[1].name == "second");
    one.models = {first};
    CHECK(models_to_trace(one).frames.at(0).name == "main");

    CHECK_NOTHROW(both.check_usage());
    other.output = folder.path();
    CHECK_THROWS_WITH(other.check_usage(), Contains("holds the input"));
    other = both;
    other.inputs.inputs = {"x=x.npy"};
    CHECK_THROWS_WITH(other.check_usage(), Contains("with several models"));
    other = both;
    other.models = {first, "/bin/true"};
    CHECK_THROWS_WITH(other.check_usage(), Contains("cannot be traced together"));
}

TEST_CASE("sources are read with the flags that are theirs", "[options]") {
    Names got;
    const auto analyze = [&](const std::string& file, const Names& flags) {
        got = flags;
        return cpp::Analysis{.file = file, .functions = {{.name = "step"}, {.name = "main"}}};
    };
    const SourceOptions options = parsed<SourceOptions>("toy.cpp", "--static-flags", "-DA 'x y'");
    REQUIRE(options.analyses({}, {}, {"-std=c++17"}, analyze).size() == 1);
    CHECK(got == Names{"-DA", "x y", "-std=c++17"});
    // What follows -- is the program's own where there is one.
    options.analyses("/bin/true", {"main"}, {"--steps"}, analyze);
    CHECK(got == Names{"-DA", "x y"});
    CHECK_THROWS_WITH(options.analyses({}, {"stepp"}, {}, analyze),
                      Contains("found no function of this name in toy.cpp") && Contains("'step'"));
    CHECK(SourceOptions().analyses({}, {}, {}, analyze).empty());
}

TEST_CASE("a suspect is the default one until a backend is named", "[options]") {
    SubjectOptions options;
    CHECK_FALSE(options.runs_backend());
    CHECK(options.suspect().spec.text() == kDefaultSuspect);
    options.minify = true;
    CHECK(options.runs_backend());
    options = {{.backend = backend({"--backend", "eager"})}};
    CHECK(options.runs_backend());

    const TempDir folder("whittle-options");
    const fs::path graph = folder.path() / "g.json";
    save_graph(relu("g"), graph);
    const Tool tool("explain", "", "");
    const report::Subject of_reference = subject_of(tool, graph, options, folder.path() / "t");
    REQUIRE(of_reference.judged.size() == 1);
    CHECK(of_reference.judged[0].compared.empty());
    options.backend.name = "relu_compile_error_TESTING_ONLY";
    const report::Subject subject = subject_of(tool, graph, options, folder.path() / "t");
    CHECK(subject.runnable == graph);
    REQUIRE(subject.failing().size() == 1);
    CHECK(subject.failing()[0].reason == "exception at compile: ReluCompileError");
}

TEST_CASE("the next command is the one that was typed, with --minify", "[options]") {
    Tool tool("trace", "MODEL", "");
    std::vector<std::string> rest;
    bool minify = false;
    fs::path model;
    tool.positional("MODEL", model, "");
    tool.flag("--minify", minify, "");
    tool.after_dashes(rest, "");
    REQUIRE_FALSE(tool.parse(std::vector<std::string>{"a b", "--", "--steps"}));
    std::ostringstream report;
    nlohmann::json json;
    follow_up(tool, {}, report, json);
    CHECK(report.str() == "next: trace 'a b' --minify -- --steps\n");
    CHECK(json.is_null());
    report.str("");
    follow_up(tool, {.next = minify_command("a b", true, {.backend = {.name = "halide"}, .inputs = {.seed = 7}})},
              report, json);
    CHECK(report.str() == "next: minify 'a b' --backend halide --accuracy --seed 7\n");
}

TEST_CASE("a report goes to a file, or leaves a program its stdout", "[options]") {
    const TempDir folder("whittle-options");
    const Tool tool("explain", "", "");
    CHECK(&ReportSink(tool, {}, {}).out() == &std::cout);
    CHECK(&ReportSink(tool, fs::path("/bin/true"), {}).out() == &std::cerr);
    ReportSink sink(tool, fs::path("/bin/true"), folder.path() / "report");
    sink.out() << "found";
    sink.close();
    CHECK(read_file(folder.path() / "report") == "found");
    CHECK(sink.columns() == 0);
}

TEST_CASE("a page says what an id means", "[options]") {
    CHECK(break_page("WB0001").starts_with("## WB0001: "));
    CHECK(break_page("all").find(break_page("WB0001")) != std::string::npos);
    CHECK_THROWS_WITH(break_page("WB9999"), Contains("invalid value 'WB9999' for ID: expected an id from WB0001"));
}

TEST_CASE("results are named after the model, and those of a Python program after its script") {
    CHECK(stem_of("models/net.onnx", {}) == "net");
    CHECK(stem_of("./app", {"train.py"}) == "app");
    CHECK(stem_of("/usr/bin/python3", {"examples/train.py", "--epochs", "2"}) == "train");
    CHECK(stem_of("/usr/bin/python3.11", {"-u", "-W", "ignore", "train.py"}) == "train");
    CHECK(stem_of("/usr/bin/python3", {"-m", "package.part"}) == "package.part");
    CHECK(stem_of("/usr/bin/python3", {"-c", "print()"}) == "python3");
    CHECK(stem_of("/usr/bin/python3", {}) == "python3");
}
