#include "cli/lists.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/log.h"
#include "base/variables.h"
#include "capture/graph_break.h"
#include "cli/old_spellings.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "report/show.h"

namespace whittle::cli {

namespace {

/// Name and description of each, as text or JSON.
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

}  // namespace

std::vector<std::string> break_ids() {
    std::vector<std::string> ids = {"all"};
    for (const capture::BreakInfo& info : capture::break_catalogue()) ids.emplace_back(info.id);
    return ids;
}

std::string break_page(const std::string& id) {
    if (id == "all") return report::break_catalogue_page();
    if (const capture::BreakInfo* info = capture::find_break(id)) return report::break_page(*info);
    const auto catalogue = capture::break_catalogue();
    throw invalid_value(id, "ID",
                        "expected an id from " + std::string(catalogue.front().id) + " to " +
                            std::string(catalogue.back().id) + ", or 'all'");
}

const std::vector<std::string>& lists() {
    static const std::vector<std::string> all = {"backends", "variables", "logs", "spellings"};
    return all;
}

void print_list(const Tool& tool, const std::string& what) {
    check_choice("WHAT", what, lists());
    if (what == "backends") return print_backends(tool);
    std::cout << (what == "variables" ? variables_page() : what == "logs" ? logs_page() : old_spellings_page());
}

}  // namespace whittle::cli
