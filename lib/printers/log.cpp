#include "printers/log.h"

#include "base/log.h"
#include "printers/cpp_source.h"
#include "printers/dot.h"
#include "text/language.h"

namespace whittle::printers {
namespace {

std::string cpp_or_why_not(const Graph& graph, const std::string& title) {
    if (graph.dialect == "aten") return cpp_file(graph, title);
    return "// " + Language::remark(title) +
           " is not printed as C++: the API has ATen's functions, and its ops are of the dialect " + graph.dialect +
           ". The graphs after decomposition are printed.\n";
}

}  // namespace

void log_graph(const Graph& graph, const std::string& title) {
    if (log_enabled(LogArtifact::graph_cpp)) log_artifact(LogArtifact::graph_cpp, title, cpp_or_why_not(graph, title));
    if (log_enabled(LogArtifact::picture))
        log_artifact(LogArtifact::picture, title, dot_file({dot_cluster(graph, {title})}));
}

}  // namespace whittle::printers
