#include "frontends/cpp/analysis.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace whittle::cpp {

std::string_view name(PredictedKind kind) {
    const auto known = std::ranges::find(kPredictedKinds, kind, &NamedKind::kind);
    WHITTLE_CHECK(known != std::end(kPredictedKinds), "found a kind of break that is never predicted");
    return known->name;
}

namespace {

bool is_named(const std::string& qualified, const std::string& name) {
    for (std::size_t at = 0; (at = qualified.find(name, at)) != std::string::npos; ++at) {
        const std::size_t end = at + name.size();
        const bool begins = at == 0 || (at >= 2 && qualified.compare(at - 2, 2, "::") == 0);
        if (begins && (end == qualified.size() || qualified.compare(end, 8, "::lambda") == 0)) return true;
    }
    return false;
}

}  // namespace

std::vector<std::string> keep_functions(Analysis& analysis, const std::vector<std::string>& names) {
    std::vector<std::string> unknown;
    if (names.empty()) return unknown;
    std::vector<bool> kept(analysis.functions.size());
    for (const std::string& wanted : names) {
        bool found = false;
        for (std::size_t i = 0; i < analysis.functions.size(); ++i)
            if (is_named(analysis.functions[i].name, wanted)) kept[i] = found = true;
        if (!found) unknown.push_back(wanted);
    }
    std::erase_if(analysis.predictions, [&](const Prediction& p) { return !kept[p.function]; });
    return unknown;
}

}  // namespace whittle::cpp
