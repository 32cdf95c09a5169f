#include "frontends/cpp/analysis.h"

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"

namespace whittle::cpp {

std::string_view name(PredictionKind kind) {
    switch (kind) {
        case PredictionKind::side_effect:
            return "side_effect";
        case PredictionKind::branch:
            return "branch";
        case PredictionKind::item:
            return "item";
        case PredictionKind::data_pointer:
            return "data_pointer";
        case PredictionKind::dynamic_shape:
            return "dynamic_shape";
        case PredictionKind::compare:
            return "compare";
        case PredictionKind::call:
            return "call";
    }
    return "";
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

void keep_functions(Analysis& analysis, const std::vector<std::string>& names) {
    if (names.empty()) return;
    std::vector<bool> kept(analysis.functions.size());
    for (const std::string& wanted : names) {
        std::vector<std::string> known;
        bool found = false;
        for (std::size_t i = 0; i < analysis.functions.size(); ++i) {
            known.push_back(analysis.functions[i].name);
            if (!is_named(known.back(), wanted)) continue;
            kept[i] = found = true;
        }
        if (!found)
            throw Error({"--function", {}}, "found '" + wanted + "', which is no function of " + analysis.file,
                        did_you_mean(wanted, known));
    }
    std::erase_if(analysis.predictions, [&](const Prediction& p) { return !kept[p.function]; });
}

}  // namespace whittle::cpp
