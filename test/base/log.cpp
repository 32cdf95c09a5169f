#include "base/log.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"

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
    log_info("capture", "not shown");
    log_warning("capture", "shown");
    log_artifact("guards", "frame main", "not shown");
    CHECK(log.text().find("warning: [capture] shown\n") != std::string::npos);
    CHECK(log.text().find("not shown") == std::string::npos);
}

TEST_CASE("a SPEC sets levels as TORCH_LOGS does") {
    LogToFile log("+capture, backend,-run,guards");
    CHECK(log_enabled("capture", LogLevel::debug));
    CHECK(log_enabled("backend", LogLevel::info));
    CHECK_FALSE(log_enabled("backend", LogLevel::debug));
    CHECK(log_enabled("run", LogLevel::error));
    CHECK_FALSE(log_enabled("run", LogLevel::warning));
    CHECK(log_enabled("reduce", LogLevel::warning));
    CHECK_FALSE(log_enabled("reduce", LogLevel::info));
    CHECK(log_enabled("guards"));
    CHECK_FALSE(log_enabled("graph_code"));
}

TEST_CASE("an artifact is a heading and its text as it is") {
    LogToFile log("graph_code");
    log_artifact("graph_code", "graph_1", "line {1}\n  line %2\n");
    CHECK(log.text().find("[graph_code] graph_1\nline {1}\n  line %2\n") != std::string::npos);
}

TEST_CASE("quiet leaves errors, and what the SPEC names") {
    LogToFile log("backend", true);
    CHECK_FALSE(log_enabled("capture", LogLevel::warning));
    CHECK(log_enabled("capture", LogLevel::error));
    CHECK(log_enabled("backend", LogLevel::info));
}

TEST_CASE("all is every component; a later word overrides it") {
    LogToFile log("+all,-repro");
    for (const LogChannel& channel : log_channels()) {
        if (channel.artifact)
            CHECK_FALSE(log_enabled(channel.name));
        else
            CHECK(log_enabled(channel.name, LogLevel::debug) == (channel.name != "repro"));
    }
}

TEST_CASE("an unknown name is an Error with a close spelling, and changes nothing") {
    LogToFile log("backend");
    LogOptions wrong;
    wrong.spec = "+capture,gaurds";
    CHECK_THROWS_WITH(configure_log(wrong), Catch::Contains("'gaurds'") && Catch::Contains("did you mean 'guards'?"));
    CHECK_FALSE(log_enabled("capture", LogLevel::info));
    CHECK(log_enabled("backend", LogLevel::info));
}

TEST_CASE("a log file that cannot be written is an Error") {
    LogOptions options;
    options.file = "/proc/no/such/log";
    CHECK_THROWS_WITH(configure_log(options), Catch::Contains("/proc/no/such/log"));
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
}
