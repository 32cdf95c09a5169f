#include "base/log.h"
#include "base/debug_folder.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/log_step.h"
#include "base/subprocess.h"
#include "base/thread_work.h"
#include "base/words.h"

using namespace whittle;

namespace {

/// Configures the log to a file for one test and back to the default afterwards.
class LogToFile {
  public:
    explicit LogToFile(const std::string& spec, bool quiet = false) {
        LogOptions options;
        options.spec = spec;
        options.file = path();
        options.quiet = quiet;
        configure_log(options);
    }
    ~LogToFile() { configure_log({}); }
    std::string path() const { return (folder_.path() / "log").string(); }
    std::string text() const { return read_file(path()); }

  private:
    TempDir folder_;
};

}  // namespace

TEST_CASE("by default warnings are shown and artifacts are not") {
    LogToFile log("");
    log_info(LogChannel::capture, "not shown");
    log_warning(LogChannel::capture, "shown");
    log_artifact(LogArtifact::guards, "frame main", "not shown");
    CHECK(log.text().find("warning: [capture] shown\n") != std::string::npos);
    CHECK(log.text().find("not shown") == std::string::npos);
}

TEST_CASE("a SPEC sets levels as TORCH_LOGS does") {
    LogToFile log("+capture, backend,-run,guards");
    CHECK(log_enabled(LogChannel::capture, LogLevel::debug));
    CHECK(log_enabled(LogChannel::backend, LogLevel::info));
    CHECK_FALSE(log_enabled(LogChannel::backend, LogLevel::debug));
    CHECK(log_enabled(LogChannel::run, LogLevel::error));
    CHECK_FALSE(log_enabled(LogChannel::run, LogLevel::warning));
    CHECK(log_enabled(LogChannel::reduce, LogLevel::warning));
    CHECK_FALSE(log_enabled(LogChannel::reduce, LogLevel::info));
    CHECK(log_enabled(LogArtifact::guards));
    CHECK_FALSE(log_enabled(LogArtifact::graph_code));
}

TEST_CASE("an artifact is a heading and its text as it is") {
    LogToFile log("graph_code");
    log_artifact(LogArtifact::graph_code, "graph_1", "line {1}\n  line %2\n");
    CHECK(log.text().find("[graph_code] graph_1\nline {1}\n  line %2\n") != std::string::npos);
}

TEST_CASE("quiet leaves errors, and what the SPEC names") {
    LogToFile log("backend", true);
    CHECK_FALSE(log_enabled(LogChannel::capture, LogLevel::warning));
    CHECK(log_enabled(LogChannel::capture, LogLevel::error));
    CHECK(log_enabled(LogChannel::backend, LogLevel::info));
}

TEST_CASE("all is every component; a later word overrides it") {
    LogToFile log("+all,-repro");
    for (const LogChannel channel : kAllLogChannels)
        CHECK(log_enabled(channel, LogLevel::debug) == (channel != LogChannel::repro));
    for (const LogArtifact artifact : kAllLogArtifacts) CHECK_FALSE(log_enabled(artifact));
}

TEST_CASE("an artifact is switched off with -") {
    LogToFile log("guards,graph_code,-guards");
    CHECK_FALSE(log_enabled(LogArtifact::guards));
    CHECK(log_enabled(LogArtifact::graph_code));
}

TEST_CASE("every channel goes by its own name, and the page lists it") {
    for (const LogChannel channel : kAllLogChannels) {
        LogToFile log(std::string(name(channel)));
        CHECK(log_enabled(channel, LogLevel::info));
        CHECK(logs_page().find("| `" + std::string(name(channel)) + "` | ") != std::string::npos);
    }
    for (const LogArtifact artifact : kAllLogArtifacts) {
        LogToFile log(std::string(name(artifact)));
        CHECK(log_enabled(artifact));
        CHECK(logs_page().find("| `" + std::string(name(artifact)) + "` | ") != std::string::npos);
    }
}

TEST_CASE("a step is logged when it begins and when it ends, and how") {
    LogToFile log("capture,backend,lowering");
    {
        LogStep backend(LogStep::Kind::backend, "mine: graph g (2 ops)");
        CHECK(log.text().find("[backend] Step 2: compile by backend mine: graph g (2 ops): begin\n") !=
              std::string::npos);
        LogStep lowering(LogStep::Kind::lowering, "graph g (2 ops)");
        lowering.failed();
    }
    try {
        const LogStep capture(LogStep::Kind::capture, "f");
        throw Error("stop");
    } catch (const Error&) {
    }
    const std::string text = log.text();
    CHECK(text.find("[lowering] Step 3: lowering: graph g (2 ops): failed after ") != std::string::npos);
    CHECK(text.find("[backend] Step 2: compile by backend mine: graph g (2 ops): done in ") != std::string::npos);
    CHECK(text.find("[capture] Step 1: capture: f: ended by an exception after ") != std::string::npos);
    CHECK(text.find("lowering: graph g (2 ops): done") == std::string::npos);  // it ended once
}

TEST_CASE("what a copy of this process logs arrives, also when it crashes") {
    LogToFile log("backend");
    for (int query = 0; query < 2; ++query) {
        const ProcessResult ended = run_forked([] {
            const LogStep step(LogStep::Kind::backend, "mine: graph g (2 ops)");
            log_warning(LogChannel::run, "the same again");
            std::signal(SIGSEGV, SIG_DFL);
            std::raise(SIGSEGV);
            return 0;
        });
        CHECK(ended.signal == SIGSEGV);
    }
    const std::string text = log.text(), begin = "Step 2: compile by backend mine: graph g (2 ops): begin\n";
    const std::size_t first = text.find(begin);
    REQUIRE(first != std::string::npos);
    CHECK(text.find(begin, first + 1) != std::string::npos);
    CHECK(text.find("done in") == std::string::npos);
    const std::size_t warning = text.find("the same again");
    REQUIRE(warning != std::string::npos);
    CHECK(text.find("the same again", warning + 1) == std::string::npos);  // once
}

TEST_CASE("another process is told what to log") {
    LogOptions options;
    options.variable = "capture";
    options.spec = "+run,guards";
    configure_log(options);
    CHECK(log_spec() == "capture,+run,guards");
    configure_log({});
    CHECK(log_spec().empty());
}

TEST_CASE("an unknown name is an Error with a close spelling, and changes nothing") {
    LogToFile log("backend");
    LogOptions wrong;
    wrong.spec = "+capture,gaurds";
    CHECK_THROWS_WITH(configure_log(wrong), Catch::Contains("'gaurds'") && Catch::Contains("did you mean 'guards'?"));
    CHECK_FALSE(log_enabled(LogChannel::capture, LogLevel::info));
    CHECK(log_enabled(LogChannel::backend, LogLevel::info));
}

TEST_CASE("a log file that cannot be written is an Error") {
    LogOptions options;
    options.file = "/proc/no/such/log";
    CHECK_THROWS_WITH(configure_log(options), Catch::Contains("/proc/no/such/log"));
}

TEST_CASE("a log file that is full ends neither the program nor the log") {
    const ProcessResult ran = run_forked([] {
        send_log_to(-1);  // what would be relayed is not what is tested
        configure_log({.file = "/dev/full"});
        log_warning(LogChannel::run, "first");
        log_warning(LogChannel::run, "second");
        return 0;
    });
    CHECK(ran.good());
    CHECK(ran.err.find("cannot write the log, continuing on stderr: ") == 0);
    CHECK(ran.err.find("warning: [run] first\nwarning: [run] second\n") != std::string::npos);
}

TEST_CASE("edit distance counts insertions, deletions, substitutions and swaps") {
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("halide", "halide") == 0);
    CHECK(edit_distance("haldie", "halide") == 1);
    CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("suggestions are close, or there is none") {
    const std::vector<std::string> known = {"eager", "halide", "relu_compile_error_TESTING_ONLY"};
    CHECK(did_you_mean("halid", known) == "did you mean 'halide'?");
    CHECK(did_you_mean("relu_compile_error", known) == "did you mean 'relu_compile_error_TESTING_ONLY'?");
    CHECK(did_you_mean("inductor", known).empty());
    CHECK(did_you_mean("", known).empty());
    const std::vector<std::string> options = {"-o", "--output"};
    CHECK(did_you_mean("-c", options).empty());  // another letter is another option
}

namespace {

/// What the log says with a debug folder, which ends with the object.
class LogToFolder {
  public:
    explicit LogToFolder(const std::string& parts = {}) {
        configure_log({.file = (folder_.path() / "log").string(), .debug_dir = dir().string(), .debug_parts = parts});
    }
    ~LogToFolder() { configure_log({}); }
    std::filesystem::path dir() const { return folder_.path() / "debug"; }
    std::string log() const { return read_file(folder_.path() / "log"); }
    std::string file(const std::string& name) const { return read_file(dir() / "run_1" / name); }
    std::set<std::string> files() const {
        std::set<std::string> names;
        if (!std::filesystem::exists(dir() / "run_1")) return names;
        for (const auto& entry : std::filesystem::directory_iterator(dir() / "run_1"))
            names.insert(entry.path().filename().string());
        return names;
    }

  private:
    TempDir folder_;
};

}  // namespace

TEST_CASE("a debug folder holds each artifact as a file, once, and an index of them") {
    const LogToFolder debug;
    CHECK(debug.files().empty());
    log_artifact(LogArtifact::graph_code, "main", "graph main {}\n");
    log_artifact(LogArtifact::graph_code, "main", "graph main {}\n");
    {
        const ArtifactPause pause;
        log_artifact(LogArtifact::graph_code, "other", "graph other {}\n");
    }
    log_artifact(LogArtifact::output_code, "a/b c", "int main() {}");
    CHECK(debug.files() == std::set<std::string>{"0001_main.graph_code.txt", "0002_a_b_c.output_code.cpp", "index.md"});
    CHECK(debug.file("0001_main.graph_code.txt") == "graph main {}\n");
    CHECK(debug.file("0002_a_b_c.output_code.cpp") == "int main() {}\n");
    const std::string index = debug.file("index.md");
    CHECK(index.find("0001_main.graph_code.txt") < index.find("0002_a_b_c.output_code.cpp"));
    CHECK_THAT(debug.log(), Catch::Contains("debug files are in " + (debug.dir() / "run_1").string()) &&
                                !Catch::Contains("graph main {}"));
}

TEST_CASE("the parts of a debug folder are named, or changed") {
    {
        const LogToFolder debug("guards,ir");
        CHECK(log_enabled(LogArtifact::guards));
        CHECK_FALSE(log_enabled(LogArtifact::graph_code));
    }
    {
        const LogToFolder debug("+assembly,-ir");
        CHECK(log_enabled(LogArtifact::assembly));
        CHECK(log_enabled(LogArtifact::graph_code));
        CHECK_FALSE(log_enabled(LogArtifact::ir));
        CHECK_FALSE(log_enabled(LogArtifact::lowered));
    }
    CHECK_THROWS_WITH(LogToFolder("gaurds"), Catch::Contains("'gaurds'") && Catch::Contains("did you mean 'guards'?"));
}

TEST_CASE("what a copy of the process makes before it crashes is in the debug folder") {
    const LogToFolder debug;
    log_artifact(LogArtifact::ir, "k0", "before");
    const ProcessResult ran = run_forked([] {
        log_artifact(LogArtifact::ir, "k1", "in the copy");
        std::raise(SIGKILL);
        return 0;
    });
    CHECK(ran.signal == SIGKILL);
    log_artifact(LogArtifact::ir, "k2", "behind");
    CHECK(debug.files() == std::set<std::string>{"0001_k0.ir.txt", "0002_k1.ir.txt", "0003_k2.ir.txt", "index.md"});
    CHECK(debug.file("0002_k1.ir.txt") == "in the copy\n");
}

TEST_CASE("a section's files, those of threads that work for it too, are in a folder of their own") {
    const LogToFolder debug;
    {
        const DebugSection section("f_0 [0/1]");
        log_artifact(LogArtifact::ir, "k0", "text");
        std::thread([mine = thread_work()] {
            const WorksFor section_of(mine);
            log_artifact(LogArtifact::ir, "k1", "text");
        }).join();
        std::thread([] { log_artifact(LogArtifact::ir, "k2", "text"); }).join();
    }
    {
        const DebugSection other("f_0 [0/2]");
        log_artifact(LogArtifact::ir, "k0", "text");  // the same once more: each section has all of its own
    }
    log_artifact(LogArtifact::ir, "k3", "text");
    CHECK(debug.files() == std::set<std::string>{"f_0.0-1", "f_0.0-2", "0003_k2.ir.txt", "0005_k3.ir.txt", "index.md"});
    CHECK(debug.file("f_0.0-1/0001_k0.ir.txt") == "text\n");
    CHECK(debug.file("f_0.0-1/0002_k1.ir.txt") == "text\n");
    CHECK(debug.file("f_0.0-2/0004_k0.ir.txt") == "text\n");
    CHECK_THAT(debug.file("index.md"), Catch::Contains("(f_0.0-1/0001_k0.ir.txt)"));
}

TEST_CASE("a section's folder is told once, however often its work is done") {
    const TempDir folder;
    DebugFolder debug(folder.path());
    CHECK(debug.untold_folder_of("f_0 [0/1]").empty());  // it has no file
    debug.write(LogArtifact::ir, "k0", "text", "f_0 [0/1]");
    CHECK(debug.untold_folder_of("f_0 [0/1]") == debug.run() / "f_0.0-1");
    CHECK(debug.untold_folder_of("f_0 [0/1]").empty());
}

TEST_CASE("parts of a program that write files may end in any order") {
    const LogToFolder debug("guards");
    const TempDir a, b;
    auto first = std::make_unique<DebugFiles>(a.path().string(), "ir");
    auto second = std::make_unique<DebugFiles>(b.path().string(), "+step");
    first.reset();
    CHECK(is_debug_file(LogArtifact::step));
    CHECK(debug_variables().dir == b.path().string());
    second.reset();
    CHECK_FALSE(is_debug_file(LogArtifact::step));
    CHECK_FALSE(is_debug_file(LogArtifact::ir));
    CHECK(is_debug_file(LogArtifact::guards));
}

TEST_CASE("each run has a debug folder of its own, and one that cannot be made is refused") {
    const TempDir folder;
    for (int run = 0; run < 2; ++run) {
        configure_log({.debug_dir = folder.path().string(), .quiet = true});
        log_artifact(LogArtifact::ir, "k", "text");
    }
    configure_log({});
    CHECK(std::filesystem::exists(folder.path() / "run_1" / "0001_k.ir.txt"));
    CHECK(std::filesystem::exists(folder.path() / "run_2" / "0001_k.ir.txt"));
    CHECK_THROWS_WITH(configure_log({.debug_dir = "/proc/no/such"}),
                      Catch::Contains("/proc/no/such") && Catch::Contains("cannot create the debug folder"));
}
