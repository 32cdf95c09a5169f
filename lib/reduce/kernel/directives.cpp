// The schedule: what the failure does not need of it.
#include <set>

#include "reduce/kernel/edits.h"
#include "reduce/kernel/search.h"

namespace whittle::reduce::kernel {
namespace {

void default_tails(Search& search) {
    for (std::size_t i = 0; i < search.best().schedule.size(); i++) {
        const expr::Directive& directive = search.best().schedule[i];
        if (directive.factor == 0 || directive.tail == expr::kAutoTail) continue;
        search.attempt_with([&](KernelCase& kernel) { kernel.schedule[i].tail = expr::kAutoTail; });
    }
}

/// All but the culprit one and what it needs at once, then one after the other, the last first: none requires a later
/// one.
void fewer(Search& search) {
    KernelCase alone = search.best();
    std::set<std::string> needed;
    if (alone.culprit >= 0) {
        const expr::Directive& culprit = alone.schedule[static_cast<std::size_t>(alone.culprit)];
        needed.insert(expr::print(culprit));
        for (const int required : culprit.requires_)
            needed.insert(expr::print(alone.schedule[static_cast<std::size_t>(required)]));
    }
    if (drop_directives(alone, [&](const expr::Directive& other) { return !needed.contains(expr::print(other)); }) &&
        alone.schedule.size() < search.best().schedule.size() && search.attempt(std::move(alone)))
        return;
    for (std::size_t i = search.best().schedule.size(); i-- > 0;) {
        if (i >= search.best().schedule.size()) continue;  // others went with the last
        const std::string text = expr::print(search.best().schedule[i]);
        search.attempt_with([&](KernelCase& kernel) {
            return drop_directives(kernel, [&](const expr::Directive& other) { return expr::print(other) == text; });
        });
    }
}

void smaller_factors(Search& search) {
    const auto attempt = [&](std::size_t i, int factor) {
        return search.attempt_with([&](KernelCase& kernel) { kernel.schedule[i].factor = factor; });
    };
    for (std::size_t i = 0; i < search.best().schedule.size(); i++) {
        if (search.best().schedule[i].factor <= 2 || attempt(i, 2)) continue;
        while (search.best().schedule[i].factor > 3 && attempt(i, search.best().schedule[i].factor / 2)) continue;
    }
}

}  // namespace

void fewer_directives(Search& search) {
    fewer(search);
    default_tails(search);
    smaller_factors(search);
}

}  // namespace whittle::reduce::kernel
