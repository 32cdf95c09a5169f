#include "reduce/save.h"

#include "frontends/onnx/save.h"
#include "graph/failure_file.h"
#include "graph/json.h"

namespace whittle::reduce {

void save_minimized(const Graph& graph, const std::filesystem::path& path) {
    if (path.extension() != ".onnx") return save_graph(graph, path);
    save_failing_model(graph, path, to_onnx(graph));
}

}  // namespace whittle::reduce
