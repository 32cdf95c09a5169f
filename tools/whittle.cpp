// whittle: one name for all programs: `whittle minify …` runs minify.
#include "cli/tool.h"
#include "umbrella/cache.h"
#include "umbrella/fuzz.h"
#include "umbrella/umbrella.h"

int main(int argc, char** argv) {
    using namespace whittle;
    cli::Tool tool(
        "whittle", "COMMAND …",
        "Captures, explains, minimizes, reproduces and replays failures of tensor compilers. MODEL is an ONNX "
        "file, a PyTorch export (.pt2), what trace wrote, or a program, which is run.");
    tool.exit_one("the command's answer is no; its --help says when.");
    umbrella::list_programs(tool);

    umbrella::FuzzOptions fuzz;
    cli::Tool fuzz_tool("whittle fuzz", "",
                        "Runs random models on a backend, compares it with the reference, and minimizes, sorts and "
                        "reproduces what fails.");
    fuzz.declare(fuzz_tool);
    tool.command(
        fuzz_tool, [&] { return umbrella::fuzz(fuzz_tool, fuzz); }, "whittle fuzz --backend ./mine.so --seconds 600");

    umbrella::CacheCommand cache;
    tool.command(
        cache.tool, [&] { return cache.list(cache.tool); }, "whittle cache clear");

    std::string name = "whittle";
    cli::Tool help_tool("whittle help", "[NAME]", "Opens the manual page of a command, or prints its --help.");
    help_tool.positional("NAME", name, "The command.", false);
    tool.command(
        help_tool, [&] { return umbrella::help(tool, name); }, "whittle help minify");
    return umbrella::run(tool, argc, argv);
}
