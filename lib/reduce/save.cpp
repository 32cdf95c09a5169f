#include "reduce/save.h"

#include "base/error.h"
#include "frontends/onnx/save.h"
#include "graph/failure_file.h"
#include "graph/json.h"

namespace whittle::reduce {

void save_minimized(const Graph& graph, const std::filesystem::path& path) {
    if (path.extension() != ".onnx") return save_graph(graph, path);
    save_failure(graph, path);
    save_onnx(graph, path);
}

Mode mode_from_name(std::string_view name) {
    if (name == "auto") return Mode::automatic;
    if (name == "bisect") return Mode::bisect;
    if (name == "linear") return Mode::linear;
    if (name == "ddmin") return Mode::ddmin;
    throw Error("found '" + std::string(name) + "', expected auto, bisect, linear or ddmin");
}

}  // namespace whittle::reduce
