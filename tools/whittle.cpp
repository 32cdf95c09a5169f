// whittle: one name for all programs: `whittle minify …` runs minify.
#include "base/words.h"
#include "cli/pages.h"
#include "cli/tool.h"
#include "umbrella/umbrella.h"

int main(int argc, char** argv) {
    using namespace whittle;
    cli::Tool tool(
        "whittle", "COMMAND …",
        "Capture, explain, minimize, reproduce and replay failures of tensor compilers. MODEL is an ONNX model, a "
        "PyTorch export (.pt2), a TorchScript module (.pt), a program to run, or a folder written by trace.");
    tool.exit_one("the command found a failure or a difference; see COMMAND --help");
    umbrella::list_programs(tool);
    tool.example("whittle explain list backends", "list the compilers that --backend accepts");
    tool.example("whittle explain diagnose model.onnx --backend halide",
                 "find the pass or scheduling directive that causes a failure");
    tool.example("whittle explain diff before after", "show what changed between two traces");
    tool.example("whittle replay traces --backend halide --report junit=replay.xml", "write a report for a CI job");

    umbrella::FuzzOptions fuzz;
    cli::Tool fuzz_tool(
        "whittle fuzz", "",
        "Run random models on a backend, and compare the results with the results of the reference. Minimize "
        "each failure, sort the failures by kind, and write a repro for each kind.");
    fuzz.declare(fuzz_tool);
    tool.command(
        fuzz_tool, [&] { return umbrella::fuzz(fuzz_tool, fuzz); },
        "whittle fuzz --backend ./mine.so --time-limit 10m");

    umbrella::CacheCommand cache;
    tool.command(
        cache.tool, [&] { return cache.list(cache.tool); }, "whittle cache clear");

    std::string shell, completed = "whittle";
    cli::Tool completion("whittle completion", "SHELL [NAME]",
                         "Print the script that completes the command lines of whittle, or of the program NAME, in the "
                         "shell SHELL: bash, "
                         "zsh or fish. The Debian packages install these scripts for all programs.");
    completion.positional("SHELL", shell, "One of " + join(cli::completed_shells()) + ".");
    completion.offers(cli::completed_shells);
    completion.positional("NAME", completed, "Program to complete. Default: whittle.", false);
    completion.example("source <(whittle completion bash)", "complete the command lines of whittle in this bash");
    completion.example("whittle completion zsh minify > ~/.zfunc/_minify",
                       "write the script to a folder of zsh's fpath");
    completion.example("whittle completion fish > ~/.config/fish/completions/whittle.fish",
                       "install the script for fish");
    tool.command(
        completion, [&] { return umbrella::print_completion(tool, shell, completed); },
        "source <(whittle completion bash)");

    std::string name = "whittle";
    cli::Tool help_tool("whittle help", "[NAME]",
                        "Open the manual page of a command. If there is no terminal or no manual page, print the "
                        "--help text of the command.");
    help_tool.positional("NAME", name, "Command to describe.", false);
    help_tool.offers([&] { return umbrella::described_names(tool); });
    tool.command(
        help_tool, [&] { return umbrella::help(tool, name); }, "whittle help minify");
    return umbrella::run(tool, argc, argv);
}
