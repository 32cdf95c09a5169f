#include "compile/planned.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/words.h"
#include "compile/kernel_text.h"
#include "graph/value_ref.h"
#include "ops/core/registry.h"
#include "passes/dce.h"

namespace whittle::program {

namespace {

/// Sizes that indices of 32 bits cannot address.
std::optional<BackendFailure> too_large(const Graph& graph) {
    for (const Node& node : graph.nodes)
        for (const ValueMeta& meta : node.results)
            if (meta.numel() > std::numeric_limits<std::int32_t>::max())
                return BackendFailure{.stage = "compile",
                                      .op = node.target,
                                      .message = "%" + node.name + " has sizes " + to_string(meta.sizes) +
                                                 ", too large for the 32-bit indices of kernels",
                                      .unsupported = true};
    return std::nullopt;
}

/// A dtype that no kernel computes with, of the call's results or operands.
std::optional<DType> foreign_dtype(const Graph& graph, const Node& call) {
    std::optional<DType> found;
    const auto look = [&](const ValueMeta& meta) {
        const DTypeInfo& info = info_of(meta.dtype);
        if (is_complex(meta.dtype) || info.use == DTypeInfo::Use::stored) found = meta.dtype;
    };
    for (const ValueMeta& meta : call.results) look(meta);
    for_each_input(call, [&](NodeRef ref) {
        for (const ValueMeta& meta : graph.node(ref).results) look(meta);
    });
    return found;
}

std::optional<BackendFailure> foreign_dtype(const Graph& graph, const std::string& backend) {
    for (const Node& node : graph.nodes)
        if (const std::string lacks = lacking(graph, node); !lacks.empty())
            return BackendFailure{
                .stage = "compile",
                .op = node.target,
                .message = backend + " has no " + lacks + ", which %" + node.name + " computes or reads",
                .unsupported = true};
    return std::nullopt;
}

/// Adds the calls that write, where what they write is not the graph's own or has no functional form; `why`: the
/// latter's reason.
bool add_writes(CompiledProgram& program, std::vector<std::string>& targets, std::string& why) {
    const Graph& captured = program.graph(Stage::captured);
    if (!has_writes(captured)) return false;
    try {
        if (program.updates().empty()) return false;
    } catch (const FunctionalizeError& error) {
        why = error.what();
    }
    for (const Node& node : captured.nodes)
        if (writes(node)) add_once(targets, node.target);
    for (const auto& [name, nested] : captured.subgraphs)
        for (const Node& node : nested->nodes)
            if (writes(node)) add_once(targets, node.target);
    return true;
}

void add_not_lowered(CompiledProgram& program, std::vector<std::string>& targets, std::string& why) {
    if (add_writes(program, targets, why)) return;
    // A call is named as it was captured where its own values say it, whatever it decomposes into, or nothing.
    const Graph& captured = program.graph(Stage::captured);
    for (const Node& node : captured.nodes)
        if (is_op_call(node) && foreign_dtype(captured, node)) add_once(targets, node.target);
    // Before constants are folded: what is supported does not depend on a pass that can be switched off.
    const Graph& graph = program.graph(Stage::decomposed);
    const std::vector<bool> live = live_nodes(graph);  // PyTorch exports draws that only training uses
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        if (!is_op_call(node) || !live[i]) continue;
        const RegisteredOp* op = Registry::instance().op(node.target);
        if (op && (op->def->lower || runs_nested_graphs(node)) && !foreign_dtype(graph, node)) continue;
        add_once(targets, node.target);
    }
    if (!has_control_flow(captured)) return;
    for (const auto& [name, nested] : captured.subgraphs) {
        CompiledProgram inner(*nested);
        add_not_lowered(inner, targets, why);
    }
}

}  // namespace

std::string lacking(const Graph& graph, const Node& call) {
    const std::optional<DType> dtype = foreign_dtype(graph, call);
    if (!dtype) return {};
    const std::string type(name(*dtype));
    return is_complex(*dtype) ? "complex numbers (" + type + ")" : "element type " + type;
}

bool runs_nested_graphs(const Node& node) {
    const RegisteredOp* op = is_op_call(node) ? Registry::instance().op(node.target) : nullptr;
    return op && op->def->eval &&
           std::ranges::any_of(op->schema.params, [](const Param& param) { return param.type == ParamType::graph; });
}

bool has_control_flow(const Graph& graph) { return std::ranges::any_of(graph.nodes, runs_nested_graphs); }

std::vector<std::string> not_lowered(CompiledProgram& program) {
    std::vector<std::string> targets;
    std::string why;
    add_not_lowered(program, targets, why);
    return targets;
}

std::vector<std::string> not_lowered(const Graph& graph) {
    CompiledProgram program(graph);
    return not_lowered(program);
}

std::variant<const Plan*, BackendFailure> planned(CompiledProgram& program, Scheduler scheduler,
                                                  const std::string& backend) {
    const Graph& captured = program.graph(Stage::captured);
    if (auto failure = foreign_dtype(captured, backend)) return std::move(*failure);
    std::vector<std::string> missing;
    std::string why;
    add_not_lowered(program, missing, why);
    for (const Node& node : captured.nodes)
        if (runs_nested_graphs(node)) missing.push_back(node.target);
    if (!missing.empty()) {
        const std::string list = join(op_names(captured, missing));
        return BackendFailure{.stage = "compile",
                              .op = missing.front(),
                              .message = backend + " does not implement " + list + (why.empty() ? "" : ": " + why),
                              .unsupported = true,
                              .missing = std::move(missing)};
    }
    if (auto failure = too_large(program.graph(Stage::core))) return std::move(*failure);
    try {
        const Plan& plan = program.plan(scheduler);
        for (const std::string& text : program.not_found())
            log_warning(LogChannel::backend,
                        backend + ": the option disable has no effect, because no kernel has " + text);
        return &plan;
    } catch (const LoweringError& error) {
        return BackendFailure{.stage = "compile", .op = {}, .message = error.what(), .unsupported = true};
    }
}

LoopsCode loops_code(const Plan& plan, const std::vector<std::string>& outputs, const std::string& driver) {
    const Names names(plan.graph, outputs);
    const KernelFunctions kernels(plan, names);
    std::vector<const expr::Group*> groups;
    for (const Kernel& kernel : plan.kernels) groups.push_back(&kernel.group);
    return {plan.graph, expr::support_cpp(groups),
            kernels.functions("loops", [](const Kernel& kernel, const std::string& name) {
                return expr::to_loops_cpp(kernel.group, name);
            }) + kernels.driver(driver, "loops")};
}

std::optional<LoopsCode> loops_code(const Graph& graph, const std::vector<std::string>& outputs,
                                    const std::string& driver) {
    CompiledProgram program(graph);
    const auto result = planned(
        program, [](expr::Group&) { return expr::Schedule(); }, "a repro");
    const auto* plan = std::get_if<const Plan*>(&result);
    return plan ? std::optional(loops_code(**plan, outputs, driver)) : std::nullopt;
}

}  // namespace whittle::program
