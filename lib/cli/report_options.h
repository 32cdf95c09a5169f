// What a report of explain shows, as options; and the C++ sources that it is about.
#pragma once

#include <filesystem>
#include <functional>
#include <iostream>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/subject.h"
#include "frontends/cpp/analysis.h"
#include "report/page/page.h"
#include "report/show.h"

namespace whittle::cli {

class Tool;
struct UsedFiles;

/// Where a report goes: into FILE, else to stdout. A program that is explained keeps its stdout to itself, as under
/// perf stat, strace and valgrind, for somebody may read it: then the report goes to stderr.
class ReportSink {
  public:
    /// Throws Error for a FILE with --json, which is for stdout.
    ReportSink(const Tool& tool, const std::optional<std::filesystem::path>& model,
               const std::optional<std::filesystem::path>& output);
    std::ostream& out() const { return *out_; }
    bool color() const { return color_; }
    std::size_t columns() const { return columns_; }  ///< of the screen; 0: no limit
    /// Writes FILE: until then it is as it was, whatever goes wrong. Throws Error when it cannot be written.
    void close();

  private:
    std::filesystem::path path_ = {};
    std::ostringstream text_ = {};  ///< for the file
    std::ostream* out_ = &std::cout;
    bool color_ = false;
    std::size_t columns_ = 0;
};

/// --output, --ops, --times, --guards and --recompiles.
struct ReportOptions {
    std::optional<std::filesystem::path> output = {}, timeline = {};
    report::TextOptions text = {};  ///< see shown()
    std::optional<std::string> recompiles = {};

    void declare_output(Tool& tool);
    /// All of them; of explain diff the first three.
    void declare(Tool& tool, bool compares = false);
    /// What is written.
    void add_to(UsedFiles& files) const;
    /// What the report shows in that place, with the tool's --verbose.
    report::TextOptions shown(const Tool& tool, const ReportSink& sink) const;
};

/// Reads a C++ source: only the programs that link Clang can.
using Analyze = std::function<cpp::Analysis(const std::string& file, const std::vector<std::string>& flags)>;

/// The file of explain static, and --static-flags.
struct SourceOptions {
    std::optional<std::filesystem::path> file;
    std::string flags;

    void declare(Tool& tool);
    /// What the sources say: the file, else those that MODEL, a program or a folder of trace, was compiled from by
    /// `trace cc`; none when there are neither. `functions`: only in these; `rest`: what follows `--`, flags where
    /// MODEL is no program. Throws Error for a function that the file does not have, and as `analyze` does.
    std::vector<cpp::Analysis> analyses(const std::optional<std::filesystem::path>& model,
                                        const std::vector<std::string>& functions, const std::vector<std::string>& rest,
                                        const Analyze& analyze) const;
};

// --dot, --html and --no-source: what a report is about as pictures, in files of their own.

/// The schedule of a program that uses Halide, as JSON and as text; nothing of others.
struct ScheduleFacts {
    const nlohmann::json* json = nullptr;
    std::string text = {};
};

struct PictureOptions {
    std::optional<std::filesystem::path> dot = {}, html = {};
    bool no_source = false;

    /// --html and --no-source.
    void declare_page(Tool& tool);
    void declare(Tool& tool);
    /// Those that are written.
    void add_to(UsedFiles& files) const;
    /// Throws Error for --no-source alone.
    void check_usage() const;
    /// Writes them, and returns what the page shows, where there is one. Where a backend was run, values that it
    /// computes wrong are compared with the reference's for the page; the failures of `json`, which are the subject's
    /// in its order, get the `first_wrong`. `json` may be null. `schedule`: of a program that uses Halide, kept as long
    /// as the page.
    std::optional<html::PageFacts> write(const Tool& tool, const report::Subject& subject, const report::Report& report,
                                         const SubjectOptions& options, nlohmann::json& json,
                                         const ScheduleFacts& schedule) const;
    /// The page again, with what minify and repro have found since: members `minify` and `repros` of `json`.
    void write_again(html::PageFacts page, const nlohmann::json& json) const;
    /// The page of a comparison, about its second side.
    void write_diff(const Tool& tool, const report::Subject& subject, const report::Report& report,
                    const report::TraceDiff& diff) const;
};

}  // namespace whittle::cli
