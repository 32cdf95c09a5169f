#include "backends/halide/definitions.h"

#include <algorithm>

#include "backends/halide/build_info.h"
#include "backends/halide/rules/draft.h"
#include "backends/halide/translate.h"
#include "base/error.h"
#include "expr/exprmap.h"

namespace whittle::halide {

using expr::Directive;
using expr::LoopVar;
using expr::Op;
using expr::Stage;
using expr::Update;

bool Definition::is_reduction(const std::string& loop) const {
    return std::ranges::find(reduction, loop, &LoopVar::name) != reduction.end();
}

bool Definition::is_pure(std::size_t dimension) const {
    const expr::Expr& index = assigned().where.at(dimension);
    const std::string& own = stage->vars[dimension].name;
    return index->op == Op::variable && index->name == own && !is_reduction(own);
}

namespace {

bool is_empty(const std::vector<LoopVar>& loops) {
    return std::ranges::find(loops, 0, &LoopVar::extent) != loops.end();
}

/// Whether the stage variable occurs in `where` only alone, at its own position.
bool stands_alone(const Stage& stage, const Update& update, const std::string& name) {
    for (std::size_t d = 0; d < update.where.size(); ++d) {
        const expr::Expr& index = update.where[d];
        if (index->op == Op::variable && index->name == name && stage.vars[d].name == name) continue;
        bool occurs = false;
        expr::visit(index, [&](const expr::Expr& e) { occurs = occurs || (e->op == Op::variable && e->name == name); });
        if (occurs) return false;
    }
    return true;
}

std::vector<LoopVar> reduction_loops(const Stage& stage, const Update& update) {
    std::vector<LoopVar> loops(update.domain.rbegin(), update.domain.rend());
    const std::vector<LoopVar> all = loops_of(stage, update);
    for (auto v = all.rbegin(); v != all.rend(); ++v)
        if (std::ranges::find(update.domain, *v) == update.domain.end() && !stands_alone(stage, update, v->name))
            loops.push_back(*v);
    return loops;
}

}  // namespace

Prepared::Prepared(const expr::Group& group) : group_(group) {
    std::set<std::string> loaded;
    const auto note = [&](const expr::Expr& root) {
        if (root)
            expr::visit(root, [&](const expr::Expr& e) {
                if (e->op == Op::load) loaded.insert(e->name);
            });
    };
    for (const Stage& stage : group.stages) {
        if (is_empty(stage.vars)) continue;
        stages_.push_back(&stage);
        std::vector<Definition>& definitions = definitions_[stage.name];
        definitions.push_back({.stage = &stage, .loops = stage.vars});
        note(stage.value);
        int kept = 0;
        for (std::size_t k = 0; k < stage.updates.size(); ++k) {
            const Update& update = stage.updates[k];
            const std::vector<LoopVar> loops = loops_of(stage, update);
            if (is_empty(loops)) continue;
            definitions.push_back({.stage = &stage,
                                   .update = static_cast<int>(k),
                                   .halide_update = kept++,
                                   .loops = loops,
                                   .reduction = reduction_loops(stage, update)});
            note(update.value);
            note(update.condition);
            for (const expr::Expr& index : update.where) note(index);
        }
    }
    for (const expr::Input& input : group.inputs)
        if (loaded.contains(input.name)) inputs_.push_back(&input);
    for (const std::string& name : group.outputs)
        if (definitions_.contains(name)) outputs_.push_back(group.stage(name));
}

std::vector<Definition> Prepared::definitions(const Stage& stage) const { return definitions_.at(stage.name); }

const Definition* Prepared::definition(const Directive& directive) const {
    const Stage* stage = group_.stage(directive.stage);
    if (!stage || directive.update >= static_cast<int>(stage->updates.size()))
        throw Error({"kernel " + group_.name, ""},
                    "found directive " + print(directive) +
                        ", expected the name of a Func and the number of one of its updates");
    if (const int since = halide_since(directive); since > major_version())
        throw Error({"kernel " + group_.name, ""}, "found directive " + print(directive) + " with Halide " +
                                                       std::to_string(major_version()) + ", expected Halide " +
                                                       std::to_string(since) + " or newer");
    const auto found = definitions_.find(directive.stage);
    if (found == definitions_.end()) return nullptr;
    const auto definition = std::ranges::find(found->second, directive.update, &Definition::update);
    return definition == found->second.end() ? nullptr : &*definition;
}

LoopKinds::LoopKinds(const Prepared& prepared) : prepared_(prepared) {
    for (const Stage* stage : prepared.stages())
        for (const Definition& d : prepared.definitions(*stage))
            for (const LoopVar& v : d.loops) kinds_[{stage->name, d.update}][v.name] = d.is_reduction(v.name);
}

bool LoopKinds::is_reduction(const Definition& definition, const std::string& loop) const {
    const auto& loops = kinds_.at({definition.stage->name, definition.update});
    const auto found = loops.find(loop);
    if (found == loops.end())
        throw Error("found loop " + loop + " in a directive of Func " + definition.stage->name +
                    ", expected a loop of this Func");
    return found->second;
}

const Definition& LoopKinds::owner(const Directive& directive) const {
    for (const auto& [key, loops] : kinds_)
        if (key.first == directive.at && loops.contains(directive.args.at(0)))
            return *prepared_.definition({.stage = key.first, .update = key.second});
    throw Error("found directive " + print(directive) + ", expected the name of a loop of Func " + directive.at);
}

void LoopKinds::split(const Definition& definition, const std::string& old, const std::string& outer,
                      const std::string& inner) {
    const bool kind = is_reduction(definition, old);
    auto& loops = kinds_.at({definition.stage->name, definition.update});
    loops[outer] = loops[inner] = kind;
}

std::string version_guard(const expr::Schedule& schedule) {
    const auto newest = std::ranges::max_element(schedule, {}, [](const Directive& d) { return halide_since(d); });
    const int since = newest == schedule.end() ? 0 : halide_since(*newest);
    if (since == 0) return "";
    const std::string version = std::to_string(since);
    return "#if HALIDE_VERSION_MAJOR < " + version + "\n#error \"" + print(*newest) + " needs Halide " + version +
           " or newer\"\n#endif\n";
}

std::string tail_of(const Directive& directive, const Definition& definition, const expr::Group& group) {
    if (!directive.tail.empty()) return directive.tail;
    // Shifting the last step inwards recomputes elements: only for initial definitions, and only where the loop is
    // known to run over the whole extent.
    const auto loop = std::ranges::find(definition.loops, directive.args.at(0), &LoopVar::name);
    const bool whole = std::ranges::find(group.outputs, definition.stage->name) != group.outputs.end();
    if (definition.update < 0 && whole && definition.stage->updates.empty() && loop != definition.loops.end() &&
        loop->extent >= directive.factor)
        return "ShiftInwards";
    return "GuardWithIf";
}

namespace {

/// Whether the elements live in memory that the kernel allocates: neither an input nor an output.
bool is_own_memory(const std::string& name, const expr::Group& group) {
    return group.stage(name) && std::ranges::find(group.outputs, name) == group.outputs.end();
}

/// How often a translated expression uses each load that it contains, by structure.
using LoadCounts = expr::ExprMap<int>;

/// Counts them by translating: what the translation writes twice counts twice.
class LoadCounter final : public Sink<LoadCounts> {
  public:
    LoadCounts variable(const std::string&) override { return {}; }
    LoadCounts literal(DType, const Scalar&) override { return {}; }
    LoadCounts from_bits(DType, std::uint64_t) override { return {}; }
    LoadCounts cast(DType, bool, const LoadCounts& a) override { return a; }
    LoadCounts signed_bits(DType, const LoadCounts& a) override { return a; }
    LoadCounts infix(Op, const LoadCounts& a, const LoadCounts& b) override { return sum({a, b}); }
    LoadCounts prefix(Op, const LoadCounts& a) override { return a; }
    LoadCounts call(const std::string&, const std::vector<LoadCounts>& in) override { return sum(in); }
    LoadCounts to_half(DType, const LoadCounts& a) override { return sum({a, a}); }  // as in kernel_helpers.h
    LoadCounts libm(Op, DType, const std::vector<LoadCounts>& in) override { return sum(in); }
    LoadCounts load(const std::string&, const std::vector<LoadCounts>& indices) override { return sum(indices); }
    LoadCounts share(const expr::Expr& e, LoadCounts translated) override {
        if (e->op == Op::load) ++translated[e];
        return translated;
    }

    static LoadCounts sum(const std::vector<LoadCounts>& parts) {
        LoadCounts result;
        for (const LoadCounts& part : parts)
            for (const auto& [load, uses] : part) result[load] = std::min(2, result[load] + uses);
        return result;
    }
};

}  // namespace

bool may_lose_tail(const Definition& definition, const expr::Group& group) {
    const Stage& stage = *definition.stage;
    LoadCounter counter;
    Translator<LoadCounts> count(counter, group, definition.loops);
    std::vector<LoadCounts> uses;
    if (definition.update < 0) {
        uses.push_back(count(stage.value));
    } else {
        const Update& update = definition.assigned();
        uses.push_back(count(update.value));
        for (const expr::Expr& where : update.where) uses.insert(uses.end(), 2, count(where));  // written, and read
        if (update.condition) {
            uses.push_back(count(update.condition));
            uses.push_back(count(expr::load(stage.name, stage.dtype, update.where)));  // select(condition, value, it)
        }
    }
    const LoadCounts loads = LoadCounter::sum(uses);
    return std::ranges::any_of(loads, [&](const auto& load) {
        if (!is_own_memory(load.first->name, group)) return false;
        if (load.second > 1) return true;
        // It may be inlined, and use what it loads more than once.
        const Stage* source = group.stage(load.first->name);
        bool loads_more = false;
        expr::visit(source->value, [&](const expr::Expr& e) {
            loads_more = loads_more || (e->op == Op::load && is_own_memory(e->name, group));
        });
        return source->updates.empty() && loads_more;
    });
}

bool vectorizes(const expr::Schedule& schedule) {
    return std::ranges::find(schedule, Directive::Kind::vectorize, &Directive::kind) != schedule.end();
}

namespace {

bool is_on(const expr::Schedule& schedule, Directive::Kind kind, const Definition& definition) {
    return std::ranges::any_of(expr::active(schedule), [&](const Directive* d) {
        return d->kind == kind && d->stage == definition.stage->name && d->update == definition.update;
    });
}

}  // namespace

bool contracts(const expr::Schedule& schedule) {
    return std::ranges::any_of(expr::active(schedule),
                               [](const Directive* d) { return d->kind == Directive::Kind::contract; });
}

bool is_strict_apart(const expr::Schedule& schedule, const Definition& definition) {
    return contracts(schedule) && is_floating(definition.stage->dtype) &&
           !is_on(schedule, Directive::Kind::contract, definition);
}

/// What Directive::tail says of Kind::vector_math.
static constexpr const char* kHalide = "halide";

Functions functions_of(const expr::Schedule& schedule, const Definition& definition) {
    for (const Directive* d : expr::active(schedule))
        if (d->kind == Directive::Kind::vector_math && d->stage == definition.stage->name &&
            d->update == definition.update)
            return d->tail == kHalide ? Functions::halide : Functions::vectors;
    return Functions::libm;
}

Functions plain_functions(const expr::Schedule& schedule, const Definition& definition) {
    const Functions functions = functions_of(schedule, definition);
    return functions == Functions::vectors ? Functions::libm : functions;
}

bool has_halide_function(Op op, DType dtype) {  // others are the C library's, there, too
    return dtype == DType::f32 && (op == Op::exp || op == Op::log || op == Op::pow || op == Op::erf);
}

expr::Schedule with_halide_functions(const expr::Group& group, expr::Schedule schedule) {
    const auto visit = [&](const expr::Stage& stage, int update, const expr::Expr& value) {
        bool has = false;
        expr::visit(value, [&](const expr::Expr& e) { has = has || has_halide_function(e->op, e->dtype); });
        if (!has) return;
        for (Directive& d : schedule)
            if (d.kind == Directive::Kind::vector_math && d.stage == stage.name && d.update == update)
                return void(d.tail = kHalide);
        schedule.push_back(
            {.kind = Directive::Kind::vector_math, .stage = stage.name, .update = update, .tail = kHalide});
    };
    for (const expr::Stage& stage : group.stages) {
        visit(stage, -1, stage.value);
        for (std::size_t k = 0; k < stage.updates.size(); k++)
            visit(stage, static_cast<int>(k), stage.updates[k].value);
    }
    return schedule;
}

bool has_vector_function(Op op, DType dtype) {
    return dtype == DType::f32 && std::ranges::count(kVectorFunctions, op) > 0;
}

std::string target_for(const expr::Schedule& schedule, const std::string& target) {
    constexpr std::string_view kStrict = "-strict_float";
    std::string result = target.empty() ? default_target() : target;
    if (!contracts(schedule)) return result;
    if (const auto at = result.find(kStrict); at != std::string::npos) result.erase(at, kStrict.size());
    return result;
}

std::string func_name(const Stage& stage) { return stage.name + "_stage"; }

}  // namespace whittle::halide
