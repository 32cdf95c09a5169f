// Where a test puts a bug into a compilation: every step hands its result to a hook, which may change it. Nothing in
// the library or the programs sets one; tests do, in their own process or in one that preloads them (test/planted).
#pragma once

#include <functional>
#include <vector>

#include "expr/builder.h"
#include "expr/group.h"
#include "passes/cse.h"
#include "passes/decompose.h"
#include "passes/fold_constants.h"
#include "passes/functionalize.h"
#include "passes/partition.h"

namespace whittle::program {

struct Hooks {
    decltype(FunctionalizeOptions::written) written = {};
    decltype(DecomposeOptions::decomposed) decomposed = {};
    decltype(FoldOptions::folded) folded = {};
    decltype(CseOptions::compared) compared = {};
    std::function<void(const Node& call, std::vector<expr::Value>& results)> lowered = {};
    /// The call whose results these are joined the kernel of those before it, as the nth one (from 1).
    std::function<void(int nth, std::vector<expr::Value>& results)> fused = {};
    /// The value is left to substitution, as the nth one.
    std::function<void(int nth, expr::Value& value)> inlined = {};
    std::function<void(const expr::Group& group, expr::Schedule& schedule)> scheduled = {};
    /// A joint graph was cut.
    std::function<void(Partition& parts)> partitioned = {};
};

/// Of this process; not to be set while something is compiled.
const Hooks& hooks();
void set_hooks(Hooks hooks);

}  // namespace whittle::program
