// A reduction's edits on a case that is given as text.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graph/text.h"
#include "reduce/reductions/reduction.h"
#include "tensor/random.h"

namespace whittle::reduce::reductions_test {

using Edits = std::vector<Edit> (*)(const Case&);
using Names = std::vector<std::string>;

/// Inputs are random, whole numbers from 0 to 3 for integers; attributes are as parse() makes them, zeros.
inline Case case_of(const std::string& text) {
    Case result{parse(text)};
    Random random(1);
    for (const NodeId id : result.graph.placeholders()) {
        const ValueMeta& meta = result.graph.node({id}).meta();
        result.inputs.push_back(random_tensor(meta.dtype, meta.sizes, random));
    }
    return result;
}

inline Names names(Edits edits, const Case& from) {
    Names names;
    for (const Edit& edit : edits(from)) names.push_back(edit.what);
    return names;
}

/// The case with the named edits at `level` (default: their simplest), or nothing when that is no case.
inline std::optional<Case> edited(Edits edits, const Case& from, const Names& wanted,
                                  std::optional<std::int64_t> level = {}) {
    Draft draft(from);
    for (const std::string& name : wanted) {
        const std::vector<Edit> all = edits(from);
        const auto found = std::find_if(all.begin(), all.end(), [&](const Edit& edit) { return edit.what == name; });
        INFO(name << " among " << Catch::Detail::stringify(names(edits, from)));
        REQUIRE(found != all.end());
        found->apply(draft, level.value_or(found->simplest));
    }
    return draft.finish();
}

/// The case as text, with every edit at its simplest that fits those before it, round after round as minimize() does.
inline std::string all_at_once(Edits edits, Case from) {
    for (std::string before;;) {
        Draft draft(from);
        for (const Edit& edit : edits(from)) {
            Draft next = draft;
            edit.apply(next, edit.simplest);
            if (next.infers()) draft = next;
        }
        const std::optional<Case> result = draft.finish();
        if (!result) return "no case";
        from = *result;
        if (print(from.graph) == before) return before;
        before = print(from.graph);
    }
}

inline std::string after(Edits edits, const std::string& before, const Names& wanted,
                         std::optional<std::int64_t> level = {}) {
    const std::optional<Case> result = edited(edits, case_of(before), wanted, level);
    return result ? print(result->graph) : "no case";
}

}  // namespace whittle::reduce::reductions_test
