#include "reduce/culprit.h"

#include <algorithm>
#include <map>

#include "backends/halide/plan.h"
#include "expr/interpret.h"
#include "ops/recorder.h"
#include "passes/subgraph.h"
#include "reduce/oracle.h"
#include "reduce/search.h"

namespace whittle::reduce {
namespace {

using halide::Plan;
using Values = std::map<std::pair<NodeId, int>, Tensor>;

constexpr double kMostWork = 2e8;  // expression nodes that the interpreter of groups may evaluate: about ten seconds

/// Expression nodes that interpreting the plan evaluates.
double work(const Plan& plan) {
    double total = 0;
    for (const halide::Kernel& kernel : plan.kernels)
        for (const expr::Stage& stage : kernel.group.stages) {
            total +=
                static_cast<double>(element_count(stage.sizes())) * static_cast<double>(expr::node_count(stage.value));
            for (const expr::Update& update : stage.updates) {
                double points = static_cast<double>(expr::node_count(update.value));
                for (const expr::LoopVar& var : expr::loops_of(stage, update))
                    points *= static_cast<double>(var.extent);
                total += points;
            }
        }
    return total;
}

/// Whether the plan, read by the interpreter of groups instead of Halide, gives the expected outputs.
bool lowers_well(const Plan& plan, std::span<const Tensor> inputs, std::span<const Tensor> expected,
                 const Accuracy& accuracy) {
    Values values;
    std::size_t next = 0;
    for (NodeId id = 0; id < static_cast<NodeId>(plan.graph.nodes.size()); id++) {
        const Node& node = plan.graph.nodes[static_cast<std::size_t>(id)];
        if (node.kind == NodeKind::placeholder) values[{id, 0}] = inputs[next++];
        if (node.kind == NodeKind::get_attr) values[{id, 0}] = plan.graph.attributes.at(node.target);
    }
    for (const halide::Kernel& kernel : plan.kernels) {
        std::vector<Tensor> operands;
        for (const halide::ValueKey& key : kernel.inputs) operands.push_back(values.at({key.node, key.result}));
        const std::vector<Tensor> results = expr::interpret(kernel.group, operands);
        for (std::size_t i = 0; i < results.size(); i++)
            values[{kernel.outputs[i].node, kernel.outputs[i].result}] = results[i];
    }
    for (std::size_t i = 0; i < plan.outputs.size(); i++) {
        const auto value =
            values.find({plan.outputs[i].node, plan.outputs[i].result});  // an empty tensor is computed by no kernel
        if (value != values.end() && compare(value->second, expected[i], accuracy)) return false;
    }
    return true;
}

class CulpritFinder {
  public:
    CulpritFinder(const Graph& graph, Backend& backend, const CulpritOptions& options)
        : graph_(graph), failure_(*graph.failure), backend_(backend), options_(options) {}

    std::optional<Culprit> run() {
        auto planned = halide::plan(graph_, failure_.options);
        if (!std::holds_alternative<Plan>(planned)) return std::nullopt;
        plan_ = std::move(std::get<Plan>(planned));
        expected_ = evaluate(graph_, failure_.inputs);
        directives_ = halide::directives(plan_);
        Set all;
        for (std::size_t i = 0; i < directives_.size(); i++) all.push_back(static_cast<int>(i));
        if (!fails(all)) return std::nullopt;
        if (!directives_.empty() && !fails(Set{})) return directive(all);
        if (options_.stop && options_.stop()) return std::nullopt;
        const Culprit found = failure_.signature.kind == "mismatch" ? lowering() : Culprit{"compiler", {}, {}, {}};
        if (found.component == "lowering" || found.op == "decompose") return found;
        for (const halide::Pass& pass : halide::passes()) {
            const std::string name(pass.name);
            if (std::vector<std::string> limits = first_failing(name); !limits.empty())
                return Culprit{found.component, {}, std::move(limits), name};
        }
        return found;
    }

  private:
    /// The last good and the first bad limit of the pass, as backend options; none when it fails without the pass too.
    std::vector<std::string> first_failing(const std::string& pass) {
        const auto limited = [&](int most) {
            BackendOptions options = failure_.options;
            std::string& limits = options["pass-limit"];
            limits += (limits.empty() ? "" : ";") + pass + "=" + std::to_string(most);
            return options;
        };
        int passing = 0, failing = applications(pass);
        if (failing <= 0 || fails(limited(0))) return {};
        while (failing - passing > 1 && !(options_.stop && options_.stop())) {
            const int middle = passing + (failing - passing) / 2;
            (fails(limited(middle)) ? failing : passing) = middle;
        }
        const auto option = [&](int most) { return "pass-limit=" + pass + "=" + std::to_string(most); };
        return {option(passing), option(failing)};
    }

    /// How often it is applied; of kernels that are shared, the most that could be.
    int applications(const std::string& pass) const {
        return pass == "share" ? static_cast<int>(plan_.kernels.size()) - 1 : plan_.limits.applications(pass);
    }

    /// Whether it fails as recorded with these directives alone.
    bool fails(const Set& on) {
        BackendOptions options = failure_.options;
        std::string& off = options["disable"];
        for (std::size_t i = 0; i < directives_.size(); i++)
            if (!std::binary_search(on.begin(), on.end(), static_cast<int>(i))) off += ";" + directives_[i].text;
        if (off.empty()) options.erase("disable");
        return fails(options);
    }

    bool fails(const BackendOptions& options) {
        const auto oracle = backend_oracle(backend_, {.backend = failure_.backend,
                                                      .options = options,
                                                      .accuracy = failure_.signature.kind == "mismatch",
                                                      .how = failure_.accuracy,
                                                      .limits = options_.limits});
        const Observation seen = oracle->observe({graph_, failure_.inputs, expected_});
        return seen.failed && !seen.unresolved && seen.signature == failure_.signature;
    }

    /// Directives whose prerequisites are there too.
    Set legal(const Set& wish) const {
        Set set;
        for (const int item : wish) {
            const std::vector<int>& needs = directives_[static_cast<std::size_t>(item)].needs;
            if (std::all_of(needs.begin(), needs.end(),
                            [&](int other) { return std::binary_search(set.begin(), set.end(), other); }))
                set.push_back(item);
        }
        return set;
    }

    std::optional<Culprit> directive(const Set& all) {
        Problem problem;
        problem.count = static_cast<int>(directives_.size());
        problem.legal = [this](const Set& wish) { return legal(wish); };
        problem.test = [&](const Set& set) {
            return set == all || fails(set) ? Verdict::fails : Verdict::passes;  // `all` is known to
        };
        const Result found = search(problem, {.stop = options_.stop});
        if (!found.finished || found.kept.empty()) return std::nullopt;
        // The one that is enough to switch off; the last of the fewest builds on the others.
        int guilty = found.kept.back();
        for (std::size_t i = found.kept.size(); i-- > 0;) {
            Set others = all;
            std::erase(others, found.kept[i]);
            if (fails(legal(others))) continue;
            guilty = found.kept[i];
            break;
        }
        Culprit culprit{"schedule", directives_[static_cast<std::size_t>(guilty)].text, {}, {}};
        for (const int item : found.kept)
            if (item != guilty) culprit.together.push_back(directives_[static_cast<std::size_t>(item)].text);
        return culprit;
    }

    /// The schedule is innocent: does what it schedules compute the right thing?
    Culprit lowering() {
        const Graph& core = plan_.graph;
        Recorder reference(core);
        const std::vector<Tensor> outputs = reference.run(core, failure_.inputs);
        for (std::size_t i = 0; i < outputs.size(); i++)
            if (compare(outputs[i], expected_[i], failure_.accuracy)) return {"pass", {}, {}, "decompose"};
        if (work(plan_) > kMostWork) return {"compiler", {}, {}, {}};
        for (const NodeId id : core.calls()) {
            const Node& node = core.nodes[static_cast<std::size_t>(id)];
            if (node.target != kGetItem && !lowers_alone(id, reference.values))
                return {"lowering", {}, {}, node.target};
        }
        if (!lowers_well(plan_, failure_.inputs, expected_, failure_.accuracy)) return {"pass", {}, {}, "fusion"};
        return {"compiler", {}, {}, {}};
    }

    bool lowers_alone(NodeId id, const Values& values) const {
        const Subgraph part = subgraph(plan_.graph, std::vector<NodeId>{id});
        BackendOptions options = failure_.options;
        options.erase("disable");
        const auto planned = halide::plan(part.graph, options);
        const Plan* plan = std::get_if<Plan>(&planned);
        if (!plan) return true;  // nobody can say
        const auto tensors = [&](const std::vector<SubgraphValue>& keys) {
            std::vector<Tensor> result;
            for (const SubgraphValue& key : keys) result.push_back(values.at({key.node, key.result}));
            return result;
        };
        return lowers_well(*plan, tensors(part.inputs), tensors(part.outputs), failure_.accuracy);
    }

    const Graph& graph_;
    const Failure& failure_;
    Backend& backend_;
    const CulpritOptions& options_;
    Plan plan_;
    std::vector<Tensor> expected_;
    std::vector<halide::DirectiveText> directives_;
};

}  // namespace

std::optional<Culprit> find_culprit(const Graph& graph, Backend& backend, const CulpritOptions& options) {
    if (!graph.failure || graph.failure->backend != "halide") return std::nullopt;
    return CulpritFinder(graph, backend, options).run();
}

}  // namespace whittle::reduce
