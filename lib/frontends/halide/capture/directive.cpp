#include "frontends/halide/capture/directive.h"

#include <algorithm>

#include "frontends/halide/capture/neutral.h"
#include "frontends/halide/capture/where.h"

namespace whittle::halide_capture {
namespace {

/// in() and clone_in() make Funcs that the program may call.
bool is_of_reference(std::string_view name) { return is_neutral(name) || name == "in" || name == "clone_in"; }

std::string quoted_list(const std::vector<VarOrRVar>& variables) {
    std::string text;
    for (const VarOrRVar& variable : variables) text += (text.empty() ? "" : ", ") + quote(variable.name());
    return "[" + text + "]";
}

/// The last argument, where it is what the call has without it.
bool is_default(std::string_view name, std::string_view argument) {
    constexpr std::pair<std::string_view, std::string_view> kOfOne[] = {
        {"align_bounds", "0"}, {"atomic", "false"}, {"fold_storage", "true"}};
    constexpr std::string_view kOfAny[] = {"TailStrategy::Auto", "DeviceAPI::Default_GPU", "LoopAlignStrategy::Auto",
                                           "PrefetchBoundStrategy::GuardWithIf"};
    return std::find(std::begin(kOfAny), std::end(kOfAny), argument) != std::end(kOfAny) ||
           std::find(std::begin(kOfOne), std::end(kOfOne), std::pair(name, argument)) != std::end(kOfOne);
}

std::string json_of(const Level& level) {
    if (!level.target) return {};
    return ", \"at\": " + quote(level.target->name()) +
           (level.variable ? ", \"at_loop\": " + quote(level.variable->name()) : "");
}

}  // namespace

std::vector<Halide::Stage> stages_of(const Halide::Func& func) {
    std::vector<Halide::Stage> stages;
    if (!func.defined() || func.is_extern()) return stages;
    Halide::Func same = func;
    stages.emplace_back(same);
    for (int i = 0; i < same.num_update_definitions(); ++i) stages.push_back(same.update(i));
    return stages;
}

bool has_loop(const Halide::Stage& stage, const std::string& name) {
    const std::string end = "." + name;
    for (const Halide::Internal::Dim& dim : stage.get_schedule().dims())
        if (dim.var == name ||
            (dim.var.size() > end.size() && dim.var.compare(dim.var.size() - end.size(), std::string::npos, end) == 0))
            return true;
    return false;
}

std::optional<Halide::Stage> stage_of(const Halide::Func& func) {
    if (!func.defined() || func.is_extern()) return std::nullopt;
    Halide::Func same = func;
    return Halide::Stage(same);
}

Loops loops_of(std::string_view name, const Variables& variables) {
    const std::vector<VarOrRVar>& all = variables.all;
    const auto starts = [&](std::size_t count) {
        return std::vector<VarOrRVar>(all.begin(),
                                      all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size())));
    };
    Loops loops;
    const auto makes_from = [&](std::size_t used) {
        loops.used = starts(used);
        for (std::size_t i = used; i < all.size(); ++i) loops.made.emplace_back(all[i], all[i % used]);
    };
    if (name == "split" || name == "rename")
        makes_from(1);
    else if (name == "tile")
        makes_from(variables.first_list ? variables.first_list : 2);
    else if (name == "fuse") {
        loops.used = starts(2);
        if (all.size() > 2) loops.made.emplace_back(all[2], all[1]);
    } else if (name == "vectorize" || name == "unroll" || name == "parallel" || name == "serial" || name == "hexagon" ||
               name == "reorder")
        loops.used = all;
    return loops;
}

Directive::Directive(std::string_view name, std::string owner, std::vector<std::string> arguments, Loops loops,
                     Level level, void* address, const std::string& more)
    : number_(++state().directives), name_(name), owner_(std::move(owner)), loops_(std::move(loops)) {
    State& s = state();
    const Where place = where(address);
    const std::string site = place.key + " " + owner_ + "." + name_;
    const int count = s.seen[site]++;
    const std::string key = site + (count ? " " + std::to_string(count) : "");
    left_out_ = s.left_out.count(key) > 0 || (s.reference && !is_of_reference(name));
    std::string text = name_ + "(";
    while (!arguments.empty() && is_default(name_, arguments.back())) arguments.pop_back();
    for (std::size_t i = 0; i < arguments.size(); ++i) text += (i ? ", " : "") + arguments[i];
    std::vector<VarOrRVar> made;
    for (const auto& entry : loops_.made) made.push_back(entry.first);
    write_line("{\"directive\": " + std::to_string(number_) + ", \"key\": " + quote(key) +
               ", \"owner\": " + quote(owner_) + ", \"name\": " + quote(name_) + ", \"text\": " + quote(text + ")") +
               ", \"uses\": " + quoted_list(loops_.used) + ", \"makes\": " + quoted_list(made) + json_of(level) + more +
               ", " + place.json + "}");
}

void Directive::misses(const VarOrRVar& variable) {
    broken_ = true;
    why_ = "no loop " + variable.name();
    const auto unmade = state().unmade.find(func_of(owner_) + "." + variable.name());
    if (unmade != state().unmade.end()) needs_ = unmade->second.by;
}

void Directive::check_variables(const std::optional<Halide::Stage>& stage) {
    if (left_out_ || !stage || !state().leaves_out()) return;
    for (const VarOrRVar& variable : loops_.used)
        if (!has_loop(*stage, variable.name())) misses(variable);
}

std::vector<VarOrRVar> Directive::known(const std::optional<Halide::Stage>& stage) {
    if (left_out_ || !stage || !state().leaves_out()) return loops_.used;
    std::vector<VarOrRVar> there;
    for (const VarOrRVar& variable : loops_.used)
        if (has_loop(*stage, variable.name()))
            there.push_back(variable);
        else
            misses(variable);
    broken_ = there.size() < 2 && loops_.used.size() >= 2;
    return there;
}

void Directive::drop() {
    State& s = state();
    if (name_ == "compute_at") s.rooted[owner_] = number_;
    if (!left_out_) write_event("dependent", number_, needs_, why_);
    for (const auto& [made, from] : loops_.made)
        if (made.name() != from.name())
            s.unmade.insert({func_of(owner_) + "." + made.name(), {from, left_out_ ? number_ : needs_}});
}

void Directive::refused(const std::exception& error) const {
    write_event(state().leaves_out() ? "refused" : "error", number_, 0, error.what());
}

UndoScope::UndoScope(const std::optional<Halide::Stage>& stage) {
    if (!stage || !state().leaves_out()) return;
    schedule_ = const_cast<Halide::Internal::StageSchedule*>(&stage->get_schedule());
    dims_ = schedule_->dims();
    splits_ = schedule_->splits();
}

void UndoScope::undo() {
    if (!schedule_) return;
    schedule_->dims() = dims_;
    schedule_->splits() = splits_;
}

Halide::Func stand_in() {
    const InsideScope inside;
    Halide::Func func("left_out");
    const std::vector<Halide::Var> variables{Halide::Var("w"), Halide::Var("x"), Halide::Var("y"), Halide::Var("z")};
    func(variables) = 0;
    func(variables) += 1;
    return func;
}

}  // namespace whittle::halide_capture
