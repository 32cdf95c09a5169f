#include "printers/dot.h"
#include "report/show.h"

namespace whittle::report {

std::string to_dot(const std::vector<Frame>& frames, const Report& report) {
    std::vector<std::string> clusters;
    for (std::size_t i = 0; i < frames.size(); ++i)
        clusters.push_back(
            printers::dot_cluster(frames[i].graph, {.title = frames[i].graph.name + " (" + frames[i].name + ")",
                                                    .red = report.break_nodes.at(i),
                                                    .number = i}));
    return printers::dot_file(clusters);
}

}  // namespace whittle::report
