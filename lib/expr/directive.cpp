#include "expr/directive.h"

#include <algorithm>

#include "base/error.h"
#include "base/words.h"

namespace whittle::expr {
namespace {

using Kind = Directive::Kind;
using Scope = DirectiveKind::Scope;

constexpr DirectiveKind kKinds[] = {
    {Kind::compute_root, "compute_root", Scope::func},
    {Kind::compute_at, "compute_at", Scope::func},
    {Kind::hoist_storage, "hoist_storage", Scope::func, 17},
    {Kind::split, "split"},
    {Kind::reorder, "reorder"},
    {Kind::vectorize, "vectorize"},
    {Kind::unroll, "unroll"},
    {Kind::parallel, "parallel"},
    {Kind::always_partition, "always_partition", Scope::definition, 17},
    {Kind::never_partition, "never_partition", Scope::definition, 17},
    {Kind::vector_math, "vector_math", Scope::expression},
    {Kind::contract, "contract", Scope::expression},
    {Kind::allow_race, "allow_race_conditions"},
};

constexpr TailKind kTails[] = {
    {kAutoTail},
    {"GuardWithIf"},
    {"RoundUp"},
    {"ShiftInwards"},
    {"Predicate"},
    {"PredicateLoads"},
    {"PredicateStores"},
    {"ShiftInwardsAndBlend", 17},
    {"RoundUpAndBlend", 17},
};

std::string names(std::span<const TailKind> tails) {
    std::string text;
    for (const TailKind& tail : tails)
        text += (text.empty() ? "" : &tail == &tails.back() ? " or " : ", ") + std::string(tail.name);
    return text;
}

}  // namespace

std::span<const DirectiveKind> directive_kinds() { return kKinds; }
std::span<const TailKind> tail_kinds() { return kTails; }

const DirectiveKind& info(Kind kind) {
    const DirectiveKind& found = kKinds[static_cast<std::size_t>(kind)];
    WHITTLE_CHECK(found.kind == kind, "the table of directives is not in the order of their kinds");
    return found;
}

int halide_since(const Directive& directive) {
    const int since = info(directive.kind).since;
    if (directive.factor == 0 || directive.tail.empty()) return since;
    const auto tail = std::ranges::find(kTails, directive.tail, &TailKind::name);
    if (tail == std::end(kTails))
        throw Error("found tail strategy " + directive.tail + " in directive " + print(directive) + ", expected " +
                    names(kTails));
    return std::max(since, tail->since);
}

std::string call_text(const Directive& directive, const std::string& of, std::vector<std::string> args,
                      const std::string& tail) {
    if (!directive.at.empty()) args.insert(args.begin(), directive.at);
    if (directive.factor > 0) args.push_back(std::to_string(directive.factor));
    if (!tail.empty()) args.push_back(tail);
    return of + "." + std::string(info(directive.kind).name) + "(" + join(args) + ")";
}

std::string print(const Directive& d) {
    const std::string update = d.update >= 0 ? ".update(" + std::to_string(d.update) + ")" : "";
    return call_text(d, d.stage + update, d.args, d.tail);
}

std::vector<const Directive*> active(const Schedule& schedule) {
    std::vector<const Directive*> on;
    std::vector<bool> is_on(schedule.size());
    for (std::size_t i = 0; i < schedule.size(); ++i) {
        const Directive& d = schedule[i];
        is_on[i] =
            d.enabled && std::ranges::all_of(d.requires_, [&](int r) {
                WHITTLE_CHECK(r >= 0 && static_cast<std::size_t>(r) < i, "requires a later directive: " + print(d));
                return is_on[static_cast<std::size_t>(r)];
            });
        if (is_on[i]) on.push_back(&d);
    }
    return on;
}

}  // namespace whittle::expr
