#include "report/show.h"

#include "formats/shared_fields.h"
#include "printers/dot.h"

namespace whittle::report {

nlohmann::json to_json(const Report& report) { return report_json(report); }

nlohmann::json to_json(const Profile& profile) { return report_json(profile); }

nlohmann::ordered_json profile_schema() {
    return report_schema<Profile>("Profile",
                                  "The times of compiling and running: member profile of explain --times --json.");
}

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
