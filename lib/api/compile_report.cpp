#define WHITTLE_API_IMPLEMENTATION
#include "api/compile_report.h"

#include <algorithm>
#include <map>
#include <utility>

#include "expr/group.h"
#include "formats/json.h"
#include "formats/json_io.h"
#include "graph/text.h"
#include "trace/guard_json.h"

namespace whittle::api {
namespace {

/// As in a file, but for the elements of tensors.
std::string json_of(const Graph& graph) {
    std::map<std::string, whittle::Tensor> beside;
    return graph_to_json(graph, beside);
}

GuardInfo told(const capture::Guard& guard) {
    JsonWriter json;
    Form<capture::Guard>::write(json, guard, {});
    return {
        .kind = std::string(guard.kind()), .source = guard.source().text(), .text = guard.text(), .json = json.take()};
}

}  // namespace

void CompileReport::add(std::string stage, std::string part, const Graph& graph) {
    info_.stages.push_back(
        {.stage = std::move(stage), .part = std::move(part), .text = print(graph), .json = json_of(graph)});
}

void CompileReport::made(program::Stage stage, const Graph& graph) {
    add(std::string(program::name(stage)), part_, graph);
}

void CompileReport::planned(const program::Plan& plan, const program::SourceNames&) {
    add("plan", part_, plan.graph);
    for (const program::Kernel& kernel : plan.kernels) {
        KernelInfo told{.part = part_, .name = kernel.group.name, .expressions = expr::print(kernel.group)};
        for (const NodeId id : kernel.nodes) told.calls.push_back(plan.graph.node({id}).name);
        for (const expr::Directive* directive : expr::active(kernel.schedule))
            told.schedule.push_back(expr::print(*directive));
        info_.kernels.push_back(std::move(told));
    }
}

void CompileReport::generated(const program::Kernel& kernel, const std::string& source) {
    const auto of = std::ranges::find_if(
        info_.kernels, [&](const KernelInfo& known) { return known.part == part_ && known.name == kernel.group.name; });
    if (of != info_.kernels.end()) of->source = source;
}

CompiledGraphInfo CompileReport::finish(const Graph& captured, const CompiledGraph& compiled,
                                        const std::vector<capture::Guard>& guards) {
    CompiledGraphInfo info = std::exchange(info_, {});
    info.name = captured.name;
    info.captured = print(captured);
    info.functional = print(compiled.functional);
    info.seconds = compiled.seconds;
    info.ops = op_count(captured);
    info.nodes = static_cast<std::int64_t>(captured.nodes.size());
    info.inputs = static_cast<std::int64_t>(captured.placeholders().size());
    std::vector<StageGraph> made = std::exchange(info.stages, {});
    add("captured", "", captured);
    add("functional", "", compiled.functional);
    if (const CompiledGradient* gradient = compiled.gradient.get(); gradient && gradient->error.empty()) {
        info.joint = print(gradient->joint);
        info.forward = print(gradient->parts.forward);
        info.backward = print(gradient->parts.backward);
        add("joint", "", gradient->joint);
        add("forward", "", gradient->parts.forward);
        add("backward", "", gradient->parts.backward);
    }
    info.stages = std::exchange(info_.stages, {});
    std::ranges::move(made, std::back_inserter(info.stages));
    for (const capture::Guard& guard : guards) {
        info.guards.push_back(guard.text());
        info.conditions.push_back(told(guard));
    }
    return info;
}

}  // namespace whittle::api
