#include "cli/programs.h"

#include <algorithm>

#include "base/error.h"

namespace whittle::cli {

namespace {

constexpr Program kPrograms[] = {
    {"trace", "MODEL…", "Runs a model and captures what it computes, as a folder of graphs and records.",
     "model.onnx -o traces"},
    {"explain", "MODEL", "Says what was captured from a model, where capture or a backend stops, and why.",
     "traces --backend halide"},
    {"minify", "MODEL",
     "Finds the fewest operations of a model that still fail in the same way, and keeps their recorded inputs.",
     "traces --backend halide --accuracy"},
    {"repro", "GRAPH",
     "Writes one standalone C++ file that shows a failure with nothing but the compiler under suspicion, and verifies "
     "it by building and running it.",
     "traces.min.json"},
    {"replay", "RECORD|DIR…",
     "Runs records again and compares their outputs with the recorded ones, each in a process of its own.",
     "traces --backend halide"},
};

}  // namespace

std::span<const Program> programs() { return kPrograms; }

const Program& program_named(std::string_view name) {
    const auto found = std::ranges::find(kPrograms, name, &Program::name);
    WHITTLE_CHECK(found != std::end(kPrograms), "there is no program " + std::string(name));
    return *found;
}

}  // namespace whittle::cli
