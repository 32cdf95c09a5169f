// trace: capture what a model computes, as a folder of graphs and records.
#include "cli/trace.h"
#include "cli/programs.h"
#include "cli/tool.h"
#include "frontends/clang/launcher.h"

namespace {

using namespace whittle;

void show_examples(cli::Tool& trace, cli::Tool& cc) {
    trace.example("trace nets/*/model.onnx -o traces",
                  "trace several models, each on the inputs in its folder test_data_set_0; the outputs in this folder "
                  "become the expected outputs of the record");
    trace.example("trace model.onnx --input tokens=tokens.npy --seed 7",
                  "read the input tokens from a file; the other inputs are random numbers");
    trace.example("trace net.pt --input 'x=f32[1, 3, 224, 224]'", "trace a TorchScript module on random numbers");
    trace.example("trace -o traces ./app -- --steps 3",
                  "trace a LibTorch program; trace exits with the exit status of the program");
    trace.example("trace cc -- g++ -c model.cpp", "compile a C++ file with probes (see trace cc --help)");
    cc.example("trace cc -- g++ -g -c model.cpp", "compile one file");
    cc.example("cmake -B build -DCMAKE_CXX_COMPILER_LAUNCHER=\"trace;cc;--\"", "compile a whole build");
}

}  // namespace

int main(int argc, char** argv) {
    cli::TraceOptions options;
    cli::Tool tool(cli::program_named("trace"));
    options.declare(tool);
    std::vector<std::string> compiler;
    cli::Tool cc("trace cc", "-- COMPILER ARGS…",
                 "Compile one C++ file with probes: small calls that report functions, statements, variables and "
                 "branches to trace and explain. If Clang cannot insert the probes, the file is compiled without "
                 "probes, and a message gives the reason.");
    cc.after_dashes(compiler, "Compiler command, with or without a launcher such as ccache.");
    cc.exit_one("the compiler exited with 1. trace cc always exits with the exit status of the compiler");
    tool.command(cc, [&] { return cpp::compile_with_probes(compiler); });
    show_examples(tool, cc);
    return cli::run_tool(tool, argc, argv, [&] { return cli::trace(tool, options); });
}
