// bisect(): the application of a pass with which a graph begins to fail.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/abilities.h"

namespace whittle::diagnose {

/// Limits of a pass next to each other: with the first it is good, with the second it fails.
struct Bisected {
    int passing = 0, failing = 1;
};

/// `applications`: of the pass when nothing limits it, at least 1 where it was applied; the graph fails then. `fails`:
/// whether it does with at most so many. Nothing where the pass was not applied, or it fails without it too. `stop` is
/// asked before each question but the first; then the limits may be further apart.
std::optional<Bisected> bisect(int applications, const std::function<bool(int most)>& fails,
                               const std::function<bool()>& stop = {});

/// The two limits as options for the backend beside (or instead of) `options`: "pass-limit=fuse=1" and
/// "pass-limit=fuse=2".
std::vector<std::string> as_options(const Bisected& found, const Switchable& switchable, const std::string& pass,
                                    const BackendOptions& options);

}  // namespace whittle::diagnose
