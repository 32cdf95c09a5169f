#include "planted/bugs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/words.h"
#include "ops/core/registry.h"
#include "passes/partition.h"

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

// What the bugs do to an application of their pass.

void results_one_more(const Application& done) { all_one_more(done.of<std::vector<expr::Value>>()); }

void some_results_one_more(const Application& done) {
    if (std::random_device()() % 10 < 3) results_one_more(done);
}

void second_results_one_more(const Application& done) {
    if (done.nth == 2) results_one_more(done);
}

void second_value_one_more(const Application& done) {
    if (done.nth == 2) done.of<expr::Value>() = one_more(done.of<expr::Value>());
}

void race(const Application& done) { plant_race(*done.group, done.of<expr::Schedule>()); }

void reorder_twice(const Application& done) {
    plant_directive(*done.group, done.of<expr::Schedule>(), {.kind = expr::Directive::Kind::reorder, .stage = {}});
}

void unroll_much(const Application& done) {
    plant_directive(*done.group, done.of<expr::Schedule>(),
                    {.kind = expr::Directive::Kind::unroll, .stage = {}, .factor = 4096, .tail = "GuardWithIf"});
}

void fold_wrongly(const Application& done) {
    for (Tensor& value : done.of<std::vector<Tensor>>()) value = one_more(value);
}

void write_wrongly(const Application& done) {
    V& stored = done.of<V>();
    stored = done.builder->call("aten.add.Scalar", {arg(stored), Arg(1)});
}

void compare_wrongly(const Application& done) {
    if (done.call->kind == NodeKind::call && done.call->target != kGetItem)
        done.of<std::string>() = key_of_tensors(*done.call);
}

void decompose_wrongly(const Application& done) {
    NodeRef& result = done.of<std::vector<NodeRef>>().at(0);
    const V value{result, done.builder->graph().node(result).meta()};
    result = done.builder->call("aten.add.Scalar", {arg(value), Arg(1)}).ref;
}

/// Every gradient is one more.
void partition_wrongly(const Application& done) {
    Graph& backward = done.of<Partition>().backward;
    std::vector<NodeRef> wrong;
    const std::vector<NodeId> gradients = backward.outputs();
    backward.nodes.pop_back();
    GraphBuilder builder(backward);
    for (const NodeId id : gradients) wrong.push_back(builder.call("aten.add.Scalar", {NodeRef{id}, Arg(1)}).ref);
    backward.output(wrong);
}

struct Bug {
    std::string_view name;
    const char* doc;
    PassId pass;
    void (*apply)(const Application& done);

    /// It is in the calls of the one op that it is given.
    bool of_op() const { return pass == PassId::lower || pass == PassId::decompose; }
    std::string spelling() const { return std::string(name) + (of_op() ? "=OP" : ""); }
};

/// Constant-initialized: preload.cpp reads it before main().
constexpr Bug kBugs[] = {
    {"schedule", "lanes of a vector race in the first reduction of each kernel", PassId::schedule, race},
    {"throw", "a directive names a loop twice, which Halide refuses", PassId::schedule, reorder_twice},
    {"hang", "a loop of each kernel is unrolled 4096 times", PassId::schedule, unroll_much},
    {"fuse", "the second application of the pass adds 1 to the results", PassId::fuse, second_results_one_more},
    {"inline", "the second application of the pass adds 1 to the value", PassId::inline_value, second_value_one_more},
    {"fold", "each call of constants folds to a value that is 1 too large", PassId::fold, fold_wrongly},
    {"functionalize", "each write stores a value that is 1 too large", PassId::functionalize, write_wrongly},
    {"cse", "calls are compared by their tensor arguments only", PassId::cse, compare_wrongly},
    {"partition", "each gradient of a backward graph is 1 too large", PassId::partition, partition_wrongly},
    {"lower", "the lowering of OP adds 1 to the results", PassId::lower, results_one_more},
    {"flaky", "the lowering of OP adds 1 to the results in 3 of 10 compilations", PassId::lower, some_results_one_more},
    {"decompose", "the decomposition of OP, a composite, adds 1 to the result", PassId::decompose, decompose_wrongly},
};

const Bug& bug_called(const std::string& name) {
    const auto found = std::ranges::find(kBugs, name, &Bug::name);
    if (found != std::end(kBugs)) return *found;
    std::vector<std::string> names;
    for (const Bug& bug : kBugs) names.emplace_back(bug.name);
    throw Error("found '" + name + "', expected one of " + join(names), did_you_mean(name, names));
}

/// Throws Error for an op that does not exist, and for one that the bug would have no effect on.
void expect_op(PassId pass, const std::string& op) {
    const OpDef& def = *Registry::instance().require(op).def;
    if (pass == PassId::lower && !def.lower)
        throw Error("found " + op + ", expected an op with a lowering",
                    def.decompose ? "it is a composite: decompose=" + op : "");
    if (pass == PassId::decompose && !def.decompose)
        throw Error("found " + op + ", expected a composite", def.lower ? "it is lowered: lower=" + op : "");
}

struct Planting {
    const Bug* bug;
    std::string op;
};

Planting planting(const std::string& text) {
    const std::size_t equals = text.find('=');
    const Bug& bug = bug_called(text.substr(0, equals));
    const std::string op = equals == text.npos ? "" : text.substr(equals + 1);
    if (op.empty() == bug.of_op()) throw Error("found '" + text + "', expected " + bug.spelling());
    if (bug.of_op()) expect_op(bug.pass, op);
    return {&bug, op};
}

}  // namespace

AfterPass planted_bug(const std::string& text) {
    std::map<PassId, Planting> planted;
    for (std::size_t begin = 0, plus = 0; plus != text.npos; begin = plus + 1) {
        plus = text.find('+', begin);
        const Planting one = planting(text.substr(begin, plus - begin));
        if (!planted.emplace(one.bug->pass, one).second)
            throw Error("found two bugs in the same step, expected different steps");
    }
    return [planted](const Application& done) {
        const auto found = planted.find(done.pass);
        if (found == planted.end()) return;
        const auto& [bug, op] = found->second;
        if (op.empty() || done.call->target == op) bug->apply(done);
    };
}

std::string planted_bugs_text() {
    std::string text;
    for (const Bug& bug : kBugs) text += planted_bug_line(bug.spelling(), bug.doc);
    return text;
}

std::string planted_bug_line(const std::string& spelling, const std::string& doc) {
    return "  " + pad_right(spelling, 15) + doc + "\n";
}

}  // namespace whittle
