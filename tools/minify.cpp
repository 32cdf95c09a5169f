// minify: the fewest operations of a model that still fail in the same way.
#include <iostream>

#include "cli/minify.h"
#include "cli/programs.h"
#include "cli/tool.h"
#include "judge/suspect.h"

int main(int argc, char** argv) {
    using namespace whittle;
    cli::MinifyOptions options;
    cli::Tool tool(cli::program_named("minify"));
    options.declare(tool);
    tool.example("minify model.onnx --backend halide --accuracy -o m.json",
                 "find the ops that Halide computes wrong; next: repro m.json");
    tool.example("minify model.onnx -o small.onnx --check ./compiles.sh {}", "test your own compiler with a script");
    tool.example("minify model.onnx --accuracy --time-limit 10m", "search for at most ten minutes");
    tool.example("minify m.onnx --backend onnxruntime --slower 1.5 --than-option release=1.16.3",
                 "find the operations that take 1.5 times as long as with release 1.16.3");
    tool.example("minify nets -j 16 --launcher 'srun -n1' --backend halide --html bugs.html",
                 "minimize all failing models of a folder on a cluster, and list the distinct bugs");

    std::filesystem::path folder;
    cli::Tool answer("minify answer", "FOLDER",
                     "Test the candidate in FOLDER, and write the answer to FOLDER. Users need not run this command: "
                     "minify --launcher runs minify answer on another machine.");
    answer.positional("FOLDER", folder, "Folder that minify passed to the launcher.");
    tool.command(answer, [&] { return answer_query(folder), 0; });

    cli::Tool passes("minify passes", "", "List the reductions that --delta-passes accepts.");
    tool.command(passes, [] { return std::cout << cli::passes_text(), 0; });
    return cli::run_tool(tool, argc, argv, [&] { return cli::minify(tool, options); });
}
