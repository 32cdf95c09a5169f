#include "planted/bugs.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "base/words.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

/// The first update with a loop that is long enough to race in; null stage when there is none.
struct Race {
    const expr::Stage* stage = nullptr;
    int update = 0;
    std::string loop = {};
};
Race find_race(const expr::Group& group) {
    for (const expr::Stage& stage : group.stages)
        for (std::size_t k = 0; k < stage.updates.size(); k++)
            for (const expr::LoopVar& var : stage.updates[k].domain)
                if (var.extent >= 8) return {&stage, static_cast<int>(k), var.name};
    return {};
}

/// Lanes of one vector race to update the same element.
void plant_race(const expr::Group& group, expr::Schedule& schedule) {
    using Kind = expr::Directive::Kind;
    const Race race = find_race(group);
    if (!race.stage) return;
    const std::string& stage = race.stage->name;
    std::vector<int> needs;  // as other directives on loops: a stage that is inlined has none
    for (std::size_t i = 0; i < schedule.size(); i++) {
        expr::Directive& other = schedule[i];
        if (other.stage != stage) continue;
        if (other.kind == Kind::compute_root) needs.push_back(static_cast<int>(i));
        // With the vectors what unrolls the rest of their loops: whole loops would be unrolled, which takes seconds.
        const bool of_vectors = other.kind == Kind::vectorize || other.kind == Kind::unroll;
        if (of_vectors && other.update == race.update) other.enabled = false;
    }
    schedule.push_back({.kind = Kind::allow_race, .stage = stage, .update = race.update, .requires_ = needs});
    needs.push_back(static_cast<int>(schedule.size()) - 1);
    schedule.push_back({.kind = Kind::vectorize,
                        .stage = stage,
                        .update = race.update,
                        .args = {race.loop},
                        .factor = 8,
                        .tail = "GuardWithIf",
                        .requires_ = needs});
}

/// A directive on the innermost loop of the last stage that has loops.
void plant_directive(const expr::Group& group, expr::Schedule& schedule, expr::Directive directive) {
    for (auto stage = group.stages.rbegin(); stage != group.stages.rend(); ++stage) {
        if (stage->vars.empty()) continue;
        const std::string& loop = stage->vars.back().name;
        for (std::size_t i = 0; i < schedule.size(); i++) {
            if (schedule[i].stage != stage->name || schedule[i].update >= 0) continue;
            if (schedule[i].kind == expr::Directive::Kind::compute_root)
                directive.requires_.push_back(static_cast<int>(i));
            else
                schedule[i].enabled = false;
        }
        directive.stage = stage->name;
        directive.args.push_back(loop);
        if (directive.kind == expr::Directive::Kind::reorder) directive.args.push_back(loop);
        schedule.push_back(std::move(directive));
        return;
    }
}

expr::Value one_more(const expr::Value& value) {
    return expr::Value(value.dtype(), value.sizes(), [value](const expr::Index& index) {
        return expr::cast(value.dtype(),
                          expr::cast(DType::f32, value(index)) + expr::constant(DType::f32, Scalar(1.0)));
    });
}

void all_one_more(std::vector<expr::Value>& values) {
    for (expr::Value& value : values) value = one_more(value);
}

Tensor one_more(const Tensor& tensor) {
    std::vector<double> values = tensor.to(DType::f64).values<double>();
    for (double& value : values) value += 1;
    return Tensor::of(values, tensor.sizes()).to(tensor.dtype());
}

/// The call without what sets it apart from others on the same tensors.
std::string key_of_tensors(const Node& call) {
    std::string key = call.target;
    for_each_input(call, [&](NodeRef ref) { key += " " + std::to_string(ref.id); });
    return key;
}

void decompose_wrongly(GraphBuilder& builder, std::vector<NodeRef>& results) {
    const V value{results.at(0), builder.graph().node(results[0]).meta()};
    results[0] = builder.call("aten.add.Scalar", {arg(value), Arg(1)}).ref;
}

/// Every gradient is one more.
void partition_wrongly(Partition& parts) {
    Graph& backward = parts.backward;
    std::vector<NodeRef> wrong;
    const std::vector<NodeId> gradients = backward.outputs();
    backward.nodes.pop_back();
    GraphBuilder builder(backward);
    for (const NodeId id : gradients) wrong.push_back(builder.call("aten.add.Scalar", {NodeRef{id}, Arg(1)}).ref);
    backward.output(wrong);
}

program::Hooks both(program::Hooks first, const program::Hooks& second) {
    const auto take = [&](auto member) {
        if (!(second.*member)) return;
        if (first.*member) throw Error("found two bugs in the same step, expected different steps");
        first.*member = second.*member;
    };
    using program::Hooks;
    take(&Hooks::written), take(&Hooks::decomposed), take(&Hooks::folded), take(&Hooks::compared);
    take(&Hooks::lowered), take(&Hooks::fused), take(&Hooks::inlined), take(&Hooks::scheduled);
    take(&Hooks::partitioned);
    return first;
}

/// What a bug is for.
enum class Of { all, lowered_op, composite };

struct Kind {
    std::string_view name;
    Of of;
    const char* doc;
    program::Hooks (*hooks)(const std::string& op);

    std::string spelling() const { return std::string(name) + (of == Of::all ? "" : "=OP"); }
};

/// Constant-initialized: preload.cpp reads it before main().
constexpr Kind kKinds[] = {
    {"schedule", Of::all, "lanes of a vector race in the first reduction of each kernel",
     [](const std::string&) -> program::Hooks { return {.scheduled = plant_race}; }},
    {"throw", Of::all, "a directive names a loop twice, which Halide refuses",
     [](const std::string&) -> program::Hooks {
         return {.scheduled = [](const expr::Group& group, expr::Schedule& schedule) {
             plant_directive(group, schedule, {.kind = expr::Directive::Kind::reorder, .stage = {}});
         }};
     }},
    {"hang", Of::all, "a loop of each kernel is unrolled 4096 times",
     [](const std::string&) -> program::Hooks {
         return {.scheduled = [](const expr::Group& group, expr::Schedule& schedule) {
             plant_directive(
                 group, schedule,
                 {.kind = expr::Directive::Kind::unroll, .stage = {}, .factor = 4096, .tail = "GuardWithIf"});
         }};
     }},
    {"fuse", Of::all, "the second application of the pass adds 1 to the results",
     [](const std::string&) -> program::Hooks {
         return {.fused = [](int nth, std::vector<expr::Value>& results) {
             if (nth == 2) all_one_more(results);
         }};
     }},
    {"inline", Of::all, "the second application of the pass adds 1 to the value",
     [](const std::string&) -> program::Hooks {
         return {.inlined = [](int nth, expr::Value& value) {
             if (nth == 2) value = one_more(value);
         }};
     }},
    {"fold", Of::all, "each call of constants folds to a value that is 1 too large",
     [](const std::string&) -> program::Hooks {
         return {.folded = [](const Node&, std::vector<Tensor>& values) {
             for (Tensor& value : values) value = one_more(value);
         }};
     }},
    {"functionalize", Of::all, "each write stores a value that is 1 too large",
     [](const std::string&) -> program::Hooks {
         return {.written = [](GraphBuilder& builder, const Node&, V& result) {
             result = builder.call("aten.add.Scalar", {arg(result), Arg(1)});
         }};
     }},
    {"cse", Of::all, "calls are compared without their arguments that are no tensors",
     [](const std::string&) -> program::Hooks {
         return {.compared = [](const Node& call, std::string& key) {
             if (call.kind == NodeKind::call && call.target != kGetItem) key = key_of_tensors(call);
         }};
     }},
    {"partition", Of::all, "each gradient of a backward graph is 1 too large",
     [](const std::string&) -> program::Hooks { return {.partitioned = partition_wrongly}; }},
    {"lower", Of::lowered_op, "the lowering of OP adds 1 to the results",
     [](const std::string& op) -> program::Hooks {
         return {.lowered = [op](const Node& call, std::vector<expr::Value>& results) {
             if (call.target == op) all_one_more(results);
         }};
     }},
    {"flaky", Of::lowered_op, "the same, in 3 of 10 compilations",
     [](const std::string& op) -> program::Hooks {
         return {.lowered = [op](const Node& call, std::vector<expr::Value>& results) {
             if (call.target == op && std::random_device()() % 10 < 3) all_one_more(results);
         }};
     }},
    {"decompose", Of::composite, "the decomposition of OP, a composite, adds 1 to the result",
     [](const std::string& op) -> program::Hooks {
         return {.decomposed = [op](GraphBuilder& builder, const Node& call, std::vector<NodeRef>& results) {
             if (call.target == op) decompose_wrongly(builder, results);
         }};
     }},
};

const Kind& kind_called(const std::string& name) {
    const auto found = std::ranges::find(kKinds, name, &Kind::name);
    if (found != std::end(kKinds)) return *found;
    std::vector<std::string> names;
    for (const Kind& kind : kKinds) names.emplace_back(kind.name);
    throw Error("found '" + name + "', expected one of " + join(names), did_you_mean(name, names));
}

/// Throws Error for an op that does not exist, and for one that the bug would have no effect on.
void expect_op(Of of, const std::string& op) {
    const OpDef& def = *Registry::instance().require(op).def;
    if (of == Of::lowered_op && !def.lower)
        throw Error("found " + op + ", expected an op with a lowering",
                    def.decompose ? "it is a composite: decompose=" + op : "");
    if (of == Of::composite && !def.decompose)
        throw Error("found " + op + ", expected a composite", def.lower ? "it is lowered: lower=" + op : "");
}

}  // namespace

program::Hooks planted_bug(const std::string& text) {
    if (const std::size_t plus = text.find('+'); plus != text.npos)
        return both(planted_bug(text.substr(0, plus)), planted_bug(text.substr(plus + 1)));
    const std::size_t equals = text.find('=');
    const Kind& kind = kind_called(text.substr(0, equals));
    const std::string op = equals == text.npos ? "" : text.substr(equals + 1);
    if (op.empty() != (kind.of == Of::all)) throw Error("found '" + text + "', expected " + kind.spelling());
    if (!op.empty()) expect_op(kind.of, op);
    return kind.hooks(op);
}

std::string planted_bugs_text() {
    std::string text;
    for (const Kind& kind : kKinds) text += planted_bug_line(kind.spelling(), kind.doc);
    return text;
}

std::string planted_bug_line(const std::string& spelling, const std::string& doc) {
    return "  " + pad_right(spelling, 15) + doc + "\n";
}

}  // namespace whittle
