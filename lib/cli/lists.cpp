#include "cli/lists.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "capture/graph_break.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "explain/show.h"

namespace whittle::cli {

void print_backends(const Tool& tool) {
    const std::vector<BackendInfo> backends = list_backends();
    if (tool.shared().json) {
        nlohmann::json all = nlohmann::json::array();
        for (const BackendInfo& b : backends) {
            all.push_back({{"name", b.name}, {"description", b.description}, {"from", b.from}});
            if (!b.missing.empty()) all.back()["missing"] = b.missing;
        }
        print_json({{"backends", all}});
        return;
    }
    std::size_t widest = 0;
    for (const BackendInfo& b : backends) widest = std::max(widest, b.name.size());
    for (const BackendInfo& b : backends)
        std::printf("%-*s  %s%s\n", static_cast<int>(widest), b.name.c_str(), b.description.c_str(),
                    b.missing.empty() ? "" : (" (" + b.missing + ")").c_str());
}

std::string break_page(const std::string& id) {
    if (id == "all") return explain::break_catalogue_page();
    if (const capture::BreakInfo* info = capture::find_break(id)) return explain::break_page(*info);
    const auto catalogue = capture::break_catalogue();
    throw invalid_value(id, "--break",
                        "expected an id from " + std::string(catalogue.front().id) + " to " +
                            std::string(catalogue.back().id) + ", or 'all'");
}

}  // namespace whittle::cli
