#include "expr/group.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/words.h"
#include "text/language.h"

namespace whittle::expr {

Sizes Stage::sizes() const {
    Sizes sizes;
    for (const LoopVar& v : vars) sizes.push_back(v.extent);
    return sizes;
}

std::vector<Expr> variables(const std::vector<LoopVar>& loops) {
    std::vector<Expr> all;
    for (const LoopVar& loop : loops) all.push_back(variable(loop.name));
    return all;
}

std::set<std::string> names_in(const Group& group) {
    std::set<std::string> names;
    for (const Input& input : group.inputs) names.insert(input.name);
    for (const Stage& stage : group.stages) {
        names.insert(stage.name);
        for (const LoopVar& var : stage.vars) names.insert(var.name);
        for (const Update& update : stage.updates)
            for (const LoopVar& var : update.domain) names.insert(var.name);
    }
    return names;
}

std::vector<LoopVar> loops_of(const Stage& stage, const Update& update) {
    std::set<std::string> used;
    for (const Expr& index : update.where)
        visit(index, [&](const Expr& e) {
            if (e->op == Op::variable) used.insert(e->name);
        });
    std::vector<LoopVar> loops;
    for (const LoopVar& v : stage.vars)
        if (used.contains(v.name)) loops.push_back(v);
    loops.insert(loops.end(), update.domain.begin(), update.domain.end());
    return loops;
}

const Stage* Group::stage(std::string_view wanted) const {
    const auto found = std::ranges::find(stages, wanted, &Stage::name);
    return found == stages.end() ? nullptr : &*found;
}

const Input* Group::input(std::string_view wanted) const {
    const auto found = std::ranges::find(inputs, wanted, &Input::name);
    return found == inputs.end() ? nullptr : &*found;
}

namespace {

/// What a tensor or loop of generated code cannot be called besides keywords: macros and functions of the C library's
/// headers, and what the writers of text (loops.cpp, backends/halide/halide_text.cpp) call their own helpers.
constexpr std::string_view kReserved =
    "std Halide half bfloat INFINITY NAN y0 y1 yn j0 j1 jn wrap_add wrap_sub wrap_mul wrap_abs wrap_shl euclidean_div "
    "euclidean_mod view libm exp_f32 tanh_f32 erf_f32 float_bits double_bits integer_bits to_half SoundAccesses "
    "results "
    "pipeline";

std::string describe(const Update* update, const Stage& stage) {
    if (!update) return "stage " + stage.name;
    return "stage " + stage.name + ", update " + std::to_string(update - stage.updates.data());
}

/// Checks one group; `fail` names the place.
class Verifier {
  public:
    explicit Verifier(const Group& group) : group_(group) {}

    void run() {
        for (const Input& in : group_.inputs) {
            declare(in.name, "input");
            if (in.sizes.size() != in.strides.size())
                fail("input " + in.name, std::to_string(in.strides.size()) + " strides",
                     std::to_string(in.sizes.size()) + " strides, one for each dimension");
            for (const std::int64_t size : in.sizes) extent("input " + in.name, size);
        }
        for (const Stage& stage : group_.stages) check(stage);
        if (group_.outputs.empty()) fail("kernel " + group_.name, "no output", "at least one output");
        std::set<std::string> listed;
        for (const std::string& output : group_.outputs) {
            if (!group_.stage(output)) fail("output " + output, "no stage with this name", "the name of a stage");
            if (!listed.insert(output).second) fail("output " + output, "the output twice", "each stage at most once");
        }
        for (const std::string& v : variables_)
            if (names_.contains(v)) fail("loop variable " + v, "an input or stage with the same name", "a unique name");
    }

  private:
    [[noreturn]] void fail(const std::string& place, const std::string& found, const std::string& expected) const {
        throw Error({"kernel " + group_.name, place}, "found " + found + ", expected " + expected);
    }

    void declare(const std::string& name, const std::string& what) {
        if (!is_identifier(name)) fail(what, "the name '" + name + "'", "a C++ identifier that is not a keyword");
        if (!names_.insert(name).second) fail(what + " " + name, "a name that is already used", "a unique name");
    }

    void extent(const std::string& place, std::int64_t value) const {
        if (value < 0 || value > 0x7fffffff)
            fail(place, "extent " + std::to_string(value), "an extent from 0 to 2147483647");
    }

    void loops(const std::string& place, const std::vector<LoopVar>& vars, std::set<std::string>& in_scope) {
        for (const LoopVar& v : vars) {
            if (!is_identifier(v.name)) fail(place, "loop variable '" + v.name + "'", "a C++ identifier");
            if (!in_scope.insert(v.name).second)
                fail(place, "loop variable " + v.name + " twice", "distinct loop variables");
            extent(place + ", loop " + v.name, v.extent);
            variables_.insert(v.name);
        }
    }

    void check(const Stage& stage) {
        declare(stage.name, "stage");
        std::set<std::string> vars;
        const std::string place = "stage " + stage.name;
        loops(place, stage.vars, vars);
        known_.push_back(&stage);
        expression(place, stage.value, stage.dtype, vars, stage, false);
        for (const Update& update : stage.updates) {
            const std::string at = describe(&update, stage);
            if (update.where.size() != stage.vars.size())
                fail(at, std::to_string(update.where.size()) + " indices",
                     std::to_string(stage.vars.size()) + " indices, one for each dimension");
            std::set<std::string> all = vars, used;
            loops(at, update.domain, all);
            for (const Expr& index : update.where) expression(at, index, DType::i32, all, stage, false);
            for (const LoopVar& v : loops_of(stage, update)) used.insert(v.name);
            expression(at, update.value, stage.dtype, used, stage, true);
            if (update.condition) expression(at, update.condition, DType::boolean, used, stage, true);
        }
    }

    void expression(const std::string& place, const Expr& root, DType dtype, const std::set<std::string>& vars,
                    const Stage& current, bool may_load_itself) const {
        if (!root) fail(place, "no expression", "an expression");
        if (root->dtype != dtype)
            fail(place, "the " + std::string(name(root->dtype)) + " expression " + print(root),
                 "an expression of dtype " + std::string(name(dtype)));
        visit(root, [&](const Expr& e) {
            if (e->op == Op::variable && !vars.contains(e->name))
                fail(place, "variable " + e->name, "a loop variable of the stage or a variable that `where` uses");
            if (e->op == Op::load) check_load(place, e, current, may_load_itself);
        });
    }

    void check_load(const std::string& place, const Expr& e, const Stage& current, bool may_load_itself) const {
        DType dtype;
        std::size_t rank;
        if (const Input* in = group_.input(e->name)) {
            dtype = in->dtype, rank = in->sizes.size();
        } else {
            const auto found = std::ranges::find(known_, e->name, [](const Stage* s) { return s->name; });
            if (found == known_.end()) fail(place, "a load of " + e->name, "an input or an earlier stage");
            if (*found == &current && !may_load_itself)
                fail(
                    place, "a load of the stage itself",
                    "an input or an earlier stage; only the value or condition of an update may load the stage itself");
            dtype = (*found)->dtype, rank = (*found)->vars.size();
        }
        if (e->dtype != dtype)
            fail(place, "a load of " + e->name + " as " + std::string(name(e->dtype)),
                 "a load as " + std::string(name(dtype)));
        if (e->operands.size() != rank) fail(place, print(e), plural(rank, "index", "indices"));
    }

    const Group& group_;
    std::set<std::string> names_, variables_;
    std::vector<const Stage*> known_;
};

}  // namespace

bool is_identifier(std::string_view name) {
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) || language::cpp.is_keyword(name) ||
        has_word(kReserved, name))
        return false;
    if (name[0] == '_' || name.find("__") != name.npos) return false;  // the implementation's
    return std::ranges::all_of(name, [](unsigned char c) { return c < 128 && (std::isalnum(c) || c == '_'); });
}

void verify(const Group& group) { Verifier(group).run(); }

}  // namespace whittle::expr
