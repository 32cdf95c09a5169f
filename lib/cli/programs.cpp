#include "cli/programs.h"

#include <algorithm>
#include <utility>

#include "base/command_words.h"
#include "base/error.h"
#include "base/words.h"

namespace whittle::cli {

namespace {

constexpr Program kPrograms[] = {
    {"trace", "MODEL…", "Run a model or program and capture its tensor operations as graphs and records.",
     "model.onnx -o traces"},
    {"explain", "MODEL",
     "Report the graphs and graph breaks of a model, and the operations that a backend does not support or computes "
     "wrong.",
     "traces --backend halide"},
    {"minify", "MODEL",
     "Reduce a failing model to the fewest operations that still fail in the same way. Save these operations with "
     "their inputs.",
     "traces --backend halide --accuracy"},
    {"repro", "GRAPH",
     "Write a program that reproduces a failure and needs only the compiler, not Whittle. Build and run this program, "
     "to verify that the program fails.",
     "traces.min.json"},
    {"replay", "RECORD|DIR…",
     "Run records again, each in a separate process, and compare the outputs with the recorded outputs.",
     "traces --backend halide"},
};

}  // namespace

std::span<const Program> programs() { return kPrograms; }

const Program& program_named(std::string_view name) {
    const auto found = std::ranges::find(kPrograms, name, &Program::name);
    WHITTLE_CHECK(found != std::end(kPrograms), "there is no program " + std::string(name));
    return *found;
}

std::string with_called_programs(std::string text) {
    for (const Program& program : programs())
        for (const auto& [quote, gap] : {std::pair("'", " "), std::pair("\"", ";")}) {
            const std::string name(program.name), own = quote + name + gap;
            const std::string called = quote + join(program_words(name), gap) + gap;
            text = replaced(std::move(text), own, called);
        }
    return text;
}

}  // namespace whittle::cli
