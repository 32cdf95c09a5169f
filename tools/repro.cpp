// repro: one standalone C++ file that shows the failure of a minimized graph, verified by building and running it.
#include "cli/repro.h"
#include "cli/environment.h"
#include "cli/programs.h"
#include "cli/tool.h"

int main(int argc, char** argv) {
    using namespace whittle;
    cli::ReproOptions options, reported;
    reported.reports = true;
    cli::Tool tool(cli::program_named("repro"));
    options.declare(tool);
    tool.example("repro m.json", "write and verify repro.cpp for m.json, which minify wrote");
    tool.example("repro report m.json --bundle bug && tar cz bug", "pack everything for a bug report");
    tool.example("repro m.json -o repro.py", "write the same operations as PyTorch calls");
    tool.example("repro env", "print the software versions and the hardware, for a bug report");

    cli::Tool report("repro report", "GRAPH",
                     "Write a repro and the text of a bug report. With --bundle, write a folder with everything that "
                     "another machine needs to reproduce the failure.");
    reported.declare(report);
    tool.command(report, [&] { return cli::write_repro(report, reported); });

    cli::Tool env("repro env", "[-- COMMAND]", "Print the software versions and the hardware, for a bug report.");
    cli::EnvironmentOptions environment;
    environment.declare(env);
    tool.command(env, [&] { return cli::print_environment(env, environment), 0; });
    return cli::run_tool(tool, argc, argv, [&] { return cli::write_repro(tool, options); });
}
