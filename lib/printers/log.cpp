#include "printers/log.h"

#include "base/log.h"
#include "printers/cpp_source.h"
#include "printers/dot.h"

namespace whittle::printers {

void log_graph(const Graph& graph, const std::string& title) {
    if (log_enabled(LogArtifact::graph_cpp) && graph.dialect == "aten")
        log_artifact(LogArtifact::graph_cpp, title, cpp_file(graph, title));
    if (log_enabled(LogArtifact::picture))
        log_artifact(LogArtifact::picture, title, dot_file({dot_cluster(graph, {title})}));
}

}  // namespace whittle::printers
