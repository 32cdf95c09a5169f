// replay: run records again and compare their outputs with the recorded ones.
#include "cli/replay.h"
#include "cli/programs.h"
#include "cli/tool.h"

int main(int argc, char** argv) {
    using namespace whittle;
    cli::ReplayChoice options;
    cli::Tool tool(cli::program_named("replay"));
    options.declare(tool);
    return cli::run_tool(tool, argc, argv, [&] { return cli::replay(tool, options); });
}
