// minify: the fewest operations of a model that still fail in the same way.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/command_words.h"
#include "base/subprocess.h"
#include "cli/minify.h"
#include "cli/programs.h"
#include "cli/search_options.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "judge/launched.h"
#include "reduce/report.h"

namespace {

using namespace whittle;
namespace fs = std::filesystem;

void declare(cli::Tool& tool, cli::MinifyOptions& options) {
    tool.positional("MODEL", options.model,
                    "ONNX model (or a folder with model.onnx), PyTorch export (.pt2), "
                    "graph (JSON), record, or folder written by trace.");
    tool.option(
        "-o,--output", options.output, "FILE",
        "File for the result. The extension, .json or .onnx, also selects the format of the candidates. Default: "
        "MODEL.min.onnx for a .onnx file, else MODEL.min.json.");
    options.judge.declare(tool);
    options.search.declare(tool);
    options.inputs.declare(tool);
    tool.common("--output --backend --accuracy --test --check --input --timeout --time-limit --jobs --resume");
    tool.example("minify model.onnx --backend halide --accuracy -o m.json",
                 "find the ops that Halide computes wrong; next: repro m.json");
    tool.example("minify model.onnx -o small.onnx --check ./compiles.sh {}", "test your own compiler with a script");
    tool.example("minify model.onnx --accuracy --time-limit 10m", "search for ten minutes; minify --resume continues");
    tool.exit_one("the model does not fail or fails too rarely, or the backend does not support the model");
}

cli::UsedFiles files(const cli::MinifyOptions& options) {
    cli::UsedFiles used;
    used.reads(options.model, options.inputs);
    used.reads_words({options.judge.test});
    used.reads_words(options.judge.check);
    used.writes("--output", cli::minimized_file(options.model, options.output));
    return used;
}

int print_passes() {  // "calls" is no reduction, but the deletion that comes first
    std::printf("%-10s %s\n", "calls", "Delete calls; their results become inputs");
    for (const reduce::Reduction& reduction : reduce::reductions())
        std::printf("%-10s %s\n", std::string(reduction.name).c_str(), std::string(reduction.doc).c_str());
    return 0;
}

/// The command that was typed, with --resume: in front, for --check takes all that follows it. Without a limit of no
/// steps at all, with which it would never end.
std::string resume_command(const cli::Tool& tool, const reduce::Strategy& search) {
    const std::vector<std::string>& typed = tool.command_line();
    const auto behind =
        typed.begin() + static_cast<std::ptrdiff_t>(tool.own_words());  // the words of --check's command
    std::vector<std::string> words(typed.begin(), behind);
    words.erase(std::remove(words.begin(), words.end(), "--resume"), words.end());
    const auto limit = std::find_if(words.begin(), words.end(),
                                    [](const std::string& word) { return word.starts_with("--step-limit"); });
    if (search.step_limit == 0 && limit != words.end()) words.erase(limit, limit + (*limit == "--step-limit" ? 2 : 1));
    const auto name = static_cast<std::ptrdiff_t>(program_words(tool.name()).size());
    words.insert(words.begin() + name, "--resume");
    words.insert(words.end(), behind, typed.end());
    return shell_quote(words);
}

int run(const cli::Tool& tool, cli::MinifyOptions& options) {
    options.search.check_usage();
    options.judge.check_usage();
    options.output = cli::minimized_file(options.model, options.output);
    const std::vector<cli::LoadedFrame> frames = cli::frames_of(options);
    reduce::Request request = cli::request_of(options, frames[0]);
    request.go_on = resume_command(tool, options.search.search);
    const reduce::MinimizedModel done = cli::minify(tool, request, frames, std::cout);
    if (tool.shared().json) cli::print_json(to_json(done));
    return done.good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    cli::MinifyOptions options;
    cli::Tool tool(cli::program_named("minify"));
    declare(tool, options);
    tool.files([&] { return files(options); });
    fs::path folder;
    cli::Tool answer(
        "minify answer", "FOLDER",
        "Test the candidate in FOLDER and write the answer to FOLDER; minify --launcher runs this command on "
        "another machine.");
    answer.positional("FOLDER", folder, "Folder that the launcher was given.");
    tool.command(answer, [&] { return answer_query(folder), 0; });
    cli::Tool passes("minify passes", "", "List the reductions that --delta-passes takes.");
    tool.command(passes, print_passes);
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}
