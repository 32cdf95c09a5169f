#include "compile/program.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/timeline.h"
#include "compile/hooks.h"
#include "compile/observer.h"
#include "graph/backend_options.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "ops/core/registry.h"
#include "passes/cse.h"
#include "passes/decompose.h"
#include "passes/fold_constants.h"
#include "printers/log.h"

namespace whittle::program {
namespace {

struct StageInfo {
    std::string_view name;
    std::optional<PassId> pass;
    Stage before;  ///< whose graph the pass is given
};
constexpr StageInfo kInfo[] = {{"captured", {}, Stage::captured},
                               {"functional", PassId::functionalize, Stage::captured},
                               {"decomposed", PassId::decompose, Stage::functional},
                               {"folded", PassId::fold, Stage::decomposed},
                               {"core", PassId::cse, Stage::folded},
                               {"plan", PassId::plan, Stage::core},
                               {"joint", PassId::joint, Stage::functional},
                               {"forward", PassId::partition, Stage::joint},
                               {"backward", PassId::partition, Stage::joint}};
static_assert(std::size(kInfo) == std::size(kStages) + 1 + std::size(kGradientStages));

const StageInfo& info_of(Stage stage) { return kInfo[static_cast<std::size_t>(stage)]; }

/// For each node whether it is a call of a composite that is one of these.
std::vector<bool> composites_among(const Graph& graph, const std::vector<std::string>& targets) {
    std::vector<bool> chosen;
    for (const Node& node : graph.nodes) {
        const RegisteredOp* op = is_op_call(node) ? Registry::instance().op(node.target) : nullptr;
        chosen.push_back(op && op->def->decompose && std::ranges::count(targets, node.target) != 0);
    }
    return chosen;
}

bool verifies(const Graph& graph, whittle::Stage stage) {
    try {
        verify(graph, stage, Registry::instance());
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// Those that are as they were are not said again; the first of them is, for who looks for it.
void log_stage(Stage stage, const Graph& before, const Graph& graph) {
    constexpr LogArtifact kShown[] = {LogArtifact::aot_graphs, LogArtifact::graph_cpp, LogArtifact::picture};
    if (std::ranges::none_of(kShown, [](LogArtifact artifact) { return log_enabled(artifact); })) return;
    const std::string text = print(graph), title = graph.name + "." + std::string(name(stage));
    if (stage != Stage::functional && text == print(before)) return;
    log_artifact(LogArtifact::aot_graphs, title, text);
    printers::log_graph(graph, title);
}

SourceNames names_of(const Origins& sources, const Graph& captured) {
    SourceNames names;
    for (const std::vector<NodeId>& of : sources) {
        names.emplace_back();
        for (const NodeId id : of) names.back().push_back(captured.node({id}).name);
    }
    return names;
}

}  // namespace

std::string_view name(Stage stage) { return info_of(stage).name; }
std::optional<PassId> pass_of(Stage stage) { return info_of(stage).pass; }

JointOptions joint_options(const BackendOptions& options) {
    JointOptions result{.partitioner = option_choice(options, "partition", {"min_cut", "default"}) == 0
                                           ? Partitioner::min_cut
                                           : Partitioner::all,
                        .decomposed = static_cast<JointOptions::Decomposed>(
                            option_choice(options, "decompositions", {"none", "core", "backend"})),
                        .memory_budget = option_fraction(options, "memory-budget", 1)};
    if (result.partitioner == Partitioner::all && result.memory_budget < 1)
        throw wrong_option("memory-budget", options.at("memory-budget"), "1, unless partition is 'min_cut'");
    return result;
}

CompiledProgram::CompiledProgram(Graph captured, const BackendOptions& options, NotTaken not_taken)
    : options_(options),
      joint_options_(joint_options(options)),
      not_taken_(std::move(not_taken)),
      registered_(verifies(captured, whittle::Stage::registered)),
      limits_(options),
      disabled_(disabled_directives(options)) {
    Origins own = own_origins(captured);
    made_[Stage::captured] = {std::move(captured), std::move(own)};
}

const Graph& CompiledProgram::graph(Stage stage) { return made(stage).graph; }

const std::vector<NodeId>& CompiledProgram::sources(Stage stage, NodeId node) {
    return made(stage).sources.at(static_cast<std::size_t>(node));
}

const std::vector<MemoryUpdate>& CompiledProgram::updates() {
    made(Stage::functional);
    return updates_;
}

const Joint& CompiledProgram::joint() {
    made(Stage::joint);
    return *joint_;
}

const Partition& CompiledProgram::partition() {
    if (partition_) return *partition_;
    Joint whole = joint();
    Origins origins = own_origins(whole.graph);
    whole.graph = decomposed_joint(origins);
    Partition parts = whittle::partition(whole, {.partitioner = joint_options_.partitioner,
                                                 .memory_budget = joint_options_.memory_budget,
                                                 .known = known_cut_ ? &*known_cut_ : nullptr});
    parts.forward_origins = through(parts.forward_origins, origins);
    parts.backward_origins = through(parts.backward_origins, origins);
    if (after_pass()) after_pass()({.pass = PassId::partition, .made = &parts});
    return partition_.emplace(std::move(parts));
}

Graph CompiledProgram::decomposed_joint(Origins& origins) {
    using Decomposed = JointOptions::Decomposed;
    const Graph& whole = joint().graph;
    if (joint_options_.decomposed == Decomposed::none) return whole;
    DecomposeOptions options{.after = after_pass()};
    if (joint_options_.decomposed == Decomposed::backend) {
        WHITTLE_CHECK(not_taken_ != nullptr, "the backend does not report which ops are unsupported");
        options.chosen = [this](const Graph& graph) { return composites_among(graph, not_taken_(graph)); };
    }
    return decompose(whole, options, &origins);
}

const CompiledProgram::Made& CompiledProgram::made(Stage stage) {
    if (const auto found = made_.find(stage); found != made_.end()) return found->second;
    const Made& from = made(info_of(stage).before);
    const std::string pass(name(pass_of(stage).value()));
    Origins origins;
    TimedSpan span(SpanKind::pass, pass, from.graph.name);
    Graph graph = run_pass(stage, from.graph, origins);
    span.end();
    try {
        verify(graph, registered_ ? whittle::Stage::functional : whittle::Stage::captured, Registry::instance());
    } catch (const Error& error) {
        WHITTLE_CHECK(false, "the pass " + pass + " gives a wrong graph: " + error.what());
    }
    log_stage(stage, from.graph, graph);
    if (observer()) observer()->made(stage, graph);
    Origins sources = through(origins, from.sources);
    return made_[stage] = {std::move(graph), std::move(sources)};
}

Graph CompiledProgram::run_pass(Stage stage, const Graph& before, Origins& origins) {
    const auto allow = [this, stage] { return limits_.apply(pass_of(stage).value()); };
    const AfterPass& after = after_pass();
    switch (stage) {
        case Stage::captured:
        case Stage::plan:
            break;
        case Stage::functional: {
            Functionalized functional = functionalize(before, {.after = after}, &origins);
            updates_ = std::move(functional.updates);
            return std::move(functional.graph);
        }
        case Stage::decomposed:
            return decompose(before, {.after = after}, &origins);
        case Stage::folded:
            return fold_constants(before, {.allow = allow, .after = after}, &origins);
        case Stage::core:
            return cse(before, {.allow = allow, .after = after}, &origins);
        case Stage::joint:
            joint_ = whittle::joint(before, {.outputs = before.outputs().size() - updates_.size()}, &origins);
            return joint_->graph;
        case Stage::forward:
            origins = partition().forward_origins;
            return partition().forward;
        case Stage::backward:
            origins = partition().backward_origins;
            return partition().backward;
    }
    WHITTLE_CHECK(false, "no pass makes the " + std::string(name(stage)) + " graph");
    return {};
}

const Plan& CompiledProgram::plan(Scheduler scheduler) {
    WHITTLE_CHECK(!plan_ || scheduler == scheduler_, "the program was planned by another scheduler");
    if (plan_) return *plan_;
    scheduler_ = scheduler;
    const Graph& core = graph(Stage::core);
    TimedSpan span(SpanKind::pass, std::string(whittle::name(PassId::plan)), core.name);
    plan_ = program::plan(core, limits_, scheduler);
    span.end();
    not_found_ = disabled_;
    for (Kernel& kernel : plan_->kernels)
        for (expr::Directive& directive : kernel.schedule) {
            const std::string text = expr::print(directive);
            if (!disabled_.contains(text)) continue;
            directive.enabled = false;
            not_found_.erase(text);
        }
    if (observer()) observer()->planned(*plan_, names_of(made(Stage::core).sources, graph(Stage::captured)));
    return *plan_;
}

}  // namespace whittle::program
