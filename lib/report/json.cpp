#include "graph/shared_fields.h"
#include "report/show.h"

namespace whittle::report {

std::vector<std::string> BreakReason::nodes() const {
    std::vector<std::string> names;
    for (const BreakPlace& place : places)
        if (!place.node.empty()) names.push_back(place.node);
    return names;
}

nlohmann::json stack_json(const std::vector<StackFrame>& stack) { return report_json(shown(stack)); }

nlohmann::json to_json(const Report& report) { return report_json(report); }

nlohmann::json to_json(const Profile& profile) { return report_json(profile); }

nlohmann::ordered_json profile_schema() {
    return report_schema<Profile>("Profile", "What compiling and running took: profile of explain --times --json.");
}

}  // namespace whittle::report
