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

std::string break_page(const std::string& id) {
    if (id == "all") return report::break_catalogue_page();
    if (const capture::BreakInfo* info = capture::find_break(id)) return report::break_page(*info);
    const auto catalogue = capture::break_catalogue();
    throw invalid_value(id, "--break",
                        "expected an id from " + std::string(catalogue.front().id) + " to " +
                            std::string(catalogue.back().id) + ", or 'all'");
}

void ListOptions::declare_break(Tool& tool) {
    tool.option("--break", break_id, "ID",
                "Say what the break ID (WB0001 …) means and how to avoid it, or 'all' of them, and stop.");
    tool.offers([] {
        std::vector<std::string> ids = {"all"};
        for (const capture::BreakInfo& info : capture::break_catalogue()) ids.emplace_back(info.id);
        return ids;
    });
}

void ListOptions::declare(Tool& tool) {
    tool.flag("--list-backends", backends, "List the backends that exist, and stop.");
    tool.flag("--list-variables", variables,
              "List the environment variables that switch things without the programs, as Markdown, and stop.");
    tool.flag("--list-logs", logs, "List what --log can show, as Markdown, and stop.");
}

bool ListOptions::print(const Tool& tool) const {
    if (backends)
        print_backends(tool);
    else if (variables)
        std::cout << variables_page();
    else if (logs)
        std::cout << logs_page();
    else if (break_id)
        std::cout << break_page(*break_id);
    else
        return false;
    return true;
}

}  // namespace whittle::cli
