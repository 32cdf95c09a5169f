#define WHITTLE_API_IMPLEMENTATION
#include "api/stepping.h"

#include <dlfcn.h>

#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "api/function_executable.h"
#include "base/built_code.h"
#include "base/error.h"
#include "base/log.h"
#include "base/module.h"
#include "base/words.h"
#include "ops/core/memory.h"
#include "passes/functionalize.h"
#include "printers/cpp_source.h"

namespace whittle::api {
namespace fs = std::filesystem;

namespace {

/// The library of the API, as the program has loaded it.
std::string api_library() {
    Dl_info info{};
    return ::dladdr(reinterpret_cast<const void*>(&steps), &info) != 0 && info.dli_fname ? info.dli_fname : "";
}

/// Where whittle/whittle.h is: as the build tree has it, or an installation.
fs::path headers() {
    for (fs::path above = library_folder(); above.has_relative_path(); above = above.parent_path()) {
        std::error_code ignored;
        if (fs::exists(above / "include/whittle/whittle.h", ignored)) return above / "include";
    }
    throw Error({library_folder().string(), {}},
                "found no folder include/whittle in a parent folder, expected the folder with the headers of the API");
}

std::unique_ptr<Executable> built(const Graph& graph) {
    if (const std::vector<std::string> own = printers::ops_without_code(graph); !own.empty())
        throw Error("the API has no function for " + join(own));
    const std::string code = printers::cpp_file(graph, graph.name);
    log_artifact(LogArtifact::step, graph.name, code);
    const std::string file = debug_file(LogArtifact::step, graph.name, code);
    if (file.empty()) return nullptr;  // a child that only tries it, which nobody steps through; or it was said
    auto* const function = BuiltCode(file, {"-I" + headers().string(), api_library()})
                               .function<printers::StepFunction<Tensor>>(printers::kStepSymbol);
    std::map<std::string, Tensor> parameters;
    for (const auto& [name, value] : graph.attributes) parameters.emplace(name, wrap(value));
    return function_executable("of the step " + file, graph,
                               [function, parameters = std::move(parameters)](const TensorList& inputs) {
                                   TensorList outputs;
                                   (*function)(inputs, parameters, outputs);
                                   return outputs;
                               });
}

}  // namespace

bool steps() { return is_debug_file(LogArtifact::step); }

std::unique_ptr<Executable> CodeStepper::step(const Graph& graph) {
    try {
        return built(has_writes(graph) ? functionalize(graph).graph : graph);
    } catch (const Error& error) {
        log_warning(LogChannel::backend, "debuggers cannot step through " + graph.name +
                                             ", which is interpreted, not compiled to C++: " + error.what());
        return nullptr;
    }
}

}  // namespace whittle::api
