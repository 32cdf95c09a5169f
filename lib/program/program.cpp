#include "program/program.h"

#include <utility>

#include "base/error.h"
#include "graph/verify.h"
#include "ops/core/registry.h"
#include "program/hooks.h"

namespace whittle::program {
namespace {

struct StageInfo {
    std::string_view name, pass;
};
constexpr StageInfo kInfo[] = {
    {"captured", ""}, {"functional", "functionalize"}, {"decomposed", "decompose"}, {"folded", "fold"}, {"core", "cse"},
    {"plan", ""}};
static_assert(std::size(kInfo) == std::size(kStages) + 1);

bool verifies(const Graph& graph, whittle::Stage stage) {
    try {
        verify(graph, stage, Registry::instance());
        return true;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

std::string_view name(Stage stage) { return kInfo[static_cast<std::size_t>(stage)].name; }
std::string_view pass_of(Stage stage) { return kInfo[static_cast<std::size_t>(stage)].pass; }

CompiledProgram::CompiledProgram(Graph captured, const BackendOptions& options)
    : registered_(verifies(captured, whittle::Stage::registered)),
      limits_(options),
      disabled_(disabled_directives(options)) {
    made_.reserve(std::size(kStages));  // what graph() returned stays where it is
    Origins own = own_origins(captured);
    made_.push_back({std::move(captured), std::move(own)});
}

const Graph& CompiledProgram::graph(Stage stage) { return made(stage).graph; }

const std::vector<NodeId>& CompiledProgram::sources(Stage stage, NodeId node) {
    return made(stage).sources.at(static_cast<std::size_t>(node));
}

const std::vector<MemoryUpdate>& CompiledProgram::updates() {
    made(Stage::functional);
    return updates_;
}

const CompiledProgram::Made& CompiledProgram::made(Stage stage) {
    while (made_.size() <= static_cast<std::size_t>(stage)) {
        const Made& before = made_.back();
        const auto next = static_cast<Stage>(made_.size());
        const std::string pass(pass_of(next));
        Origins origins;
        Graph graph = run_pass(next, before.graph, origins);
        try {
            verify(graph, registered_ ? whittle::Stage::functional : whittle::Stage::captured, Registry::instance());
        } catch (const Error& error) {
            WHITTLE_CHECK(false, "the pass " + pass + " gives a wrong graph: " + error.what());
        }
        Origins sources = through(origins, before.sources);
        made_.push_back({std::move(graph), std::move(sources)});
    }
    return made_[static_cast<std::size_t>(stage)];
}

Graph CompiledProgram::run_pass(Stage stage, const Graph& before, Origins& origins) {
    switch (stage) {
        case Stage::captured:
        case Stage::plan:
            break;
        case Stage::functional: {
            Functionalized functional = functionalize(before, {.written = hooks().written}, &origins);
            updates_ = std::move(functional.updates);
            return std::move(functional.graph);
        }
        case Stage::decomposed:
            return decompose(before, {.decomposed = hooks().decomposed}, &origins);
        case Stage::folded:
            return fold_constants(before, {.allow = [this] { return limits_.apply("fold"); }, .folded = hooks().folded},
                                  &origins);
        case Stage::core:
            return cse(before, {.allow = [this] { return limits_.apply("cse"); }, .compared = hooks().compared},
                       &origins);
    }
    WHITTLE_CHECK(false, "no pass makes the " + std::string(name(stage)) + " graph");
    return {};
}

const Plan& CompiledProgram::plan(Scheduler scheduler) {
    if (plan_) return *plan_;
    plan_ = program::plan(graph(Stage::core), limits_, scheduler);
    not_found_ = disabled_;
    for (Kernel& kernel : plan_->kernels)
        for (expr::Directive& directive : kernel.schedule) {
            const std::string text = expr::print(directive);
            if (!disabled_.contains(text)) continue;
            directive.enabled = false;
            not_found_.erase(text);
        }
    return *plan_;
}

}  // namespace whittle::program
