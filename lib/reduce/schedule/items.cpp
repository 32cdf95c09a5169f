#include "reduce/schedule/items.h"

#include <algorithm>
#include <map>
#include <string>

namespace whittle::reduce {

using halide_program::Directive;

namespace {

/// Of each item, the items that make the loops that it uses.
std::vector<Set> needs_of(const std::vector<Directive>& items) {
    std::map<int, int> item_of;  // by the directive's number
    for (std::size_t i = 0; i < items.size(); ++i) item_of.emplace(items[i].number, static_cast<int>(i));
    std::vector<Set> needs(items.size());
    for (std::size_t i = 0; i < items.size(); ++i)
        for (const int number : items[i].needs)
            if (const auto found = item_of.find(number); found != item_of.end()) needs[i].push_back(found->second);
    return needs;
}

/// Directives of one Func, and those that make loops for each other.
std::vector<std::vector<int>> neighbours_of(const std::vector<Directive>& items, const std::vector<Set>& needs) {
    std::vector<std::vector<int>> all(items.size());
    const auto join = [&](std::size_t a, std::size_t b) {
        all[a].push_back(static_cast<int>(b));
        all[b].push_back(static_cast<int>(a));
    };
    std::map<std::string, std::size_t> last;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (const auto before = last.find(items[i].func()); before != last.end()) join(i, before->second);
        last[items[i].func()] = i;
        for (const int needed : needs[i]) join(i, static_cast<std::size_t>(needed));
    }
    return all;
}

}  // namespace

Problem problem_of(const std::vector<Directive>& items) {
    Problem problem;
    problem.count = static_cast<int>(items.size());
    problem.needs = needs_of(items);
    problem.neighbours = neighbours_of(items, problem.needs);
    problem.legal = [needs = problem.needs](const Set& wish) {
        Set kept;
        for (const int item : wish)  // a loop is made before it is used
            if (std::ranges::all_of(needs[static_cast<std::size_t>(item)],
                                    [&](int needed) { return std::ranges::binary_search(kept, needed); }))
                kept.push_back(item);
        return kept;
    };
    problem.ask_empty = true;
    return problem;
}

}  // namespace whittle::reduce
