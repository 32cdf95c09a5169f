// explain: what was captured from a model, where capture or a backend stops, and why.
#include <iostream>

#include "base/words.h"
#include "cli/diagnose.h"
#include "cli/diff.h"
#include "cli/explain.h"
#include "cli/programs.h"
#include "cli/tool.h"
#include "frontends/clang/unit.h"
#include "frontends/cpp/command.h"

namespace {

using namespace whittle;

void show_examples(cli::Tool& explain, cli::Tool& of_source) {
    explain.example("explain ./app -- --steps 3",
                    "run a LibTorch program, and report where the graphs of the program break");
    explain.example("explain python3 train.py",
                    "run a Python program that uses PyTorch, and report where the graphs of the program break");
    explain.example("explain model.onnx --ops",
                    "list the operations of a model, and mark those that halide cannot compile");
    explain.example("explain model.onnx --dot m.dot && dot -Tsvg m.dot > m.svg", "draw the graphs of a model");
    explain.example("explain ./app --html app.html", "write an interactive report for the browser");
    explain.example("explain model.onnx --times=model.trace",
                    "measure the times of passes and kernels, and the use of memory");
    explain.example("explain model.onnx --backend ./mine.so --fullgraph",
                    "check that your own backend supports the whole model");
    explain.example("explain model.onnx --backend ./mine.so --minify",
                    "turn a failing compilation into a verified repro");
    explain.example("explain diff yesterday/ today/", "show what changed between two traces");
    explain.example("explain -- diff", "report on a model in the file 'diff', which has the name of a command");
    of_source.example("explain static model.cpp -- -std=c++17 -Iinclude", "predict the graph breaks of a program");
}

int run(const cli::Tool& tool, const cli::ExplainOptions& options) {
    return cli::explain(tool, options, [](const auto& file, const auto& flags) {
        return cpp::analyze({file, cpp::clang_flags(flags)});
    });
}

}  // namespace

int main(int argc, char** argv) {
    cli::ExplainOptions options, of_source;
    cli::Tool tool(cli::program_named("explain"));
    options.declare(tool, false);

    cli::DiffOptions compared;
    cli::Tool diff("explain diff", "BEFORE AFTER",
                   "Show what changed between two traces, models or programs: graphs (node names are ignored), breaks, "
                   "guards, recompiles and recorded values. -v: show every difference.");
    compared.declare(diff);
    tool.command(diff, [&] { return cli::diff(diff, compared); });

    cli::CulpritOptions diverging, diagnosed;
    cli::Tool diagnose(
        "explain diagnose", "MODEL",
        "Find the cause of a failure: run the model on the backend, and then on one debug backend after another. "
        "Report the component that fails; the culprit in this component, for example a pass; the evidence; commands "
        "that switch the culprit off and on; and a verified repro. If several releases of the compiler are installed "
        "('explain list releases'), also report the first release that fails. -v: also print the report of minify.");
    diagnosed.declare(diagnose, true);
    tool.command(diagnose, [&] { return cli::diagnose(diagnose, diagnosed); });
    cli::Tool divergence(
        "explain divergence", "MODEL",
        "Report the first kernel or value that differs from the reference. If the backend can run a "
        "kernel alone, as halide can, each kernel runs alone, on operands that the reference "
        "computed. With any other backend, the model runs with every intermediate value as an output. "
        "The report also has the size of the difference, and the places where NaN and infinities first appear. The "
        "word noise marks a difference that rounding explains. -v: list all kernels or values.");
    diverging.declare(divergence, false);
    tool.command(divergence, [&] { return cli::diverge(divergence, diverging); });

    cli::Tool source("explain static", "FILE.cpp [MODEL]",
                     "Predict the graph breaks of a C++ program from the source file FILE.cpp. With MODEL (the "
                     "program, or a trace of the program): also report which of the predicted breaks occurred.");
    of_source.declare(source, true);
    tool.command(source, [&] { return run(source, of_source); });

    std::string id, what;
    cli::Tool of_break("explain break", "ID", "Explain a kind of graph break, and how to avoid such a break.");
    of_break.positional("ID", id, "Id of a kind of break, such as WB0001, or 'all'.");
    of_break.offers(cli::break_ids);
    tool.command(of_break, [&] { return std::cout << cli::break_page(id), 0; });
    cli::Tool list(
        "explain list", "[WHAT]",
        "Print a list. Without WHAT: print the names of the lists. WHAT is one of: " + cli::lists_text() + ".");
    list.positional("WHAT", what,
                    "One of " + join(cli::lists()) + ". The lists ops, variables, logs and spellings are Markdown.",
                    false);
    list.offers(cli::lists);
    tool.command(list, [&] { return cli::print_list(list, what), 0; });

    show_examples(tool, source);
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}
